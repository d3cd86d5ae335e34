/** Workflow ids of AppContexts. */
import type { Phase } from './context-state.ts';

/** Longest id, characters: Temporal's tables on Postgres have no room for more. */
const MOST = 255;
/** Hexadecimal digits of the number that stands for the end of a name that is cut. */
const DIGITS = 16;

export function contextWorkflowId(context: string): string {
  return `appcontext/${context}`;
}

/**
 * Returns the id of the work of one phase on one cluster, which is written `<provider>+<cluster>`. A name that is too long is cut, and a number made
 * of all of it follows behind `~`, which no name has. Two clusters with one number would work after each other.
 */
export function clusterWorkflowId(context: string, phase: Phase, cluster: string): string {
  const base = `${contextWorkflowId(context)}/${phase}/`;
  if (base.length + cluster.length <= MOST) return base + cluster;
  const shown = cluster.slice(0, MOST - base.length - DIGITS - 1);
  return `${base}${shown}~${numberOf(cluster)}`;
}

/** FNV-1a of 64 bits: workflows have no hash of Node. */
function numberOf(text: string): string {
  let number = 0xcbf29ce484222325n;
  for (const character of text) {
    number ^= BigInt(character.codePointAt(0) ?? 0);
    number = BigInt.asUintN(64, number * 0x100000001b3n);
  }
  return number.toString(16).padStart(DIGITS, '0');
}
