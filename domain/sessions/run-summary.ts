import { type LayerCount, layerName, layerNumber } from './layer-name.ts';
import type { RetryHosts } from './schema.ts';

/** What Temporal's web UI shows of a layer's run in one line: its playbook and its hosts. */

/** Bytes that Temporal surely takes for the summary of an activity. */
const SUMMARY_MAX = 200;
/** Bytes of a playbook's name, and of the hosts, in it. */
const PLAYBOOK_MAX = 70;
const HOSTS_MAX = 90;

/** Which hosts a session works on, as far as its inventory tells. */
export interface Aim {
  /** The names of its limit, where each is a host; else null. */
  hosts: readonly string[] | null;
  /** Its limit as Ansible gets it; empty: none. */
  limit: string;
  /** How many hosts its inventory has; null where nobody counts them. */
  inHand: number | null;
}

/** The hosts of a session in a few words. */
export function describeAim({ hosts, limit, inHand }: Aim): string {
  if (hosts !== null && hosts.length > 0) return `${firstOf(hosts)} (${counted(hosts.length)})`;
  if (limit !== '') return `limit ${cut(limit, HOSTS_MAX)}`;
  return inHand === null ? 'all of the inventory' : `all of the inventory (${counted(inHand)})`;
}

export interface RunInWords {
  /** Undefined where a plan of an older release does not name it. */
  playbook: string | undefined;
  layer: number;
  /** Which of the session's layers it is; undefined for a debugging playbook. */
  place: LayerCount | undefined;
  attempt: number;
  /** In words of `describeAim`; undefined where an inventory of an older release does not tell. */
  aim: string | undefined;
  hosts: RetryHosts;
}

/** The summary of one attempt of one layer. */
export function summarizeRun({ playbook, layer, place, attempt, aim, hosts }: RunInWords): string {
  const name = playbook === undefined ? '' : cut(playbook, PLAYBOOK_MAX);
  const what = place === undefined ? name || layerNumber(layer) : layerName(layer, place, name).trim();
  const which = hosts === 'failed' ? ' on what failed' : '';
  const where = aim === undefined ? which : `${which ? `${which} of ` : ' on '}${aim}`;
  return cut(`${what}${where}${attempt === 1 ? '' : `, attempt ${attempt}`}`, SUMMARY_MAX);
}

/** As many names as have room, and dots for the others. */
function firstOf(names: readonly string[]): string {
  let text = cut(names[0] ?? '', HOSTS_MAX - 4);
  for (const name of names.slice(1)) {
    const longer = `${text},${name}`;
    if (bytesOf(longer) > HOSTS_MAX - 4) return `${text},...`;
    text = longer;
  }
  return text;
}

const counted = (count: number): string => `${count} ${count === 1 ? 'host' : 'hosts'}`;

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** The text as one line; of a longer one its beginning in at most `max` bytes, with dots for the rest. */
function cut(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ');
  if (bytesOf(line) <= max) return line;
  let kept = '';
  let size = 3;
  for (const character of line) {
    size += bytesOf(character);
    if (size > max) break;
    kept += character;
  }
  return `${kept}...`;
}
