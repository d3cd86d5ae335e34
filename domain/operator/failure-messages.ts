/** What a resource is told of a run that failed. */
import { utf8Bytes } from '../json-size.ts';
import { countsOf, type HostCounts, hostOf, isIgnored, messageIn, type RunnerEvent } from './runner-events.ts';

/** How a run ended, beside its events. */
export interface RunEnd {
  exitCode: number;
  /** Last lines of its output; null: there is no file of its output. */
  lastLines: readonly string[] | null;
}

const NO_OUTPUT = 'Failed to get ansible-runner stdout';
const UNKNOWN = 'unknown playbook failure';
const LAST_LINES = 20;
/** A status must stay far below the limit of an object (1.5 MiB). */
const LONGEST_MESSAGES = 32 * 1024;
const TRUNCATED = '... (truncated)';

/** Returns what the end of the output says of a run without a stats event. */
export function withoutStats({ exitCode, lastLines }: RunEnd): string[] {
  if (lastLines === null) return [NO_OUTPUT];
  const lines = lastLines
    .flatMap((line) => line.split('\n'))
    .map((line) => withoutColours(line).trimEnd())
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) return [`ansible-runner exited with ${exitCode} before the playbook finished`];
  return [lines.slice(-LAST_LINES).join('\n')];
}

/** Returns why a run with a stats event has failed, in the order of events; empty for a run that was ok. `failed`: its sum of failures. */
export function failuresOf(
  events: readonly RunnerEvent[],
  stats: RunnerEvent,
  failed: number,
  { exitCode }: RunEnd,
): string[] {
  if (failed === 0) return exitCode === 0 ? [] : [`ansible-runner exited with ${exitCode}`];
  const rescued = new Map(countsOf(stats, 'rescued'));
  const dark: HostCounts = countsOf(stats, 'dark');
  const messages = events.flatMap((event) => {
    const host = hostOf(event);
    const message = messageIn(event) ?? UNKNOWN;
    if (event.event === 'runner_on_unreachable') return dark.has(host) ? [`${host}: ${message}`] : [];
    if (event.event !== 'runner_on_failed' || isIgnored(event)) return [];
    const left = rescued.get(host) ?? 0;
    // Events do not say which failure was rescued; a rescued failure comes before the one that ended the host.
    if (left > 0) rescued.set(host, left - 1);
    return left > 0 ? [] : [message];
  });
  return messages.length === 0 ? [UNKNOWN] : messages;
}

/** Returns each message once, all of them together within the limit. */
export function shortened(messages: readonly string[]): string[] {
  const kept: string[] = [];
  let room = LONGEST_MESSAGES - TRUNCATED.length;
  for (const message of new Set(messages)) {
    const size = utf8Bytes(message) + 1;
    if (size <= room) {
      kept.push(message);
      room -= size;
      continue;
    }
    kept.push(`${beginning(message, room - 1)}${TRUNCATED}`);
    break;
  }
  return kept;
}

/** As many whole characters as have room in so many bytes. */
function beginning(text: string, bytes: number): string {
  let [begin, room] = ['', bytes];
  for (const character of text.slice(0, Math.max(0, bytes))) {
    room -= utf8Bytes(character);
    if (room < 0) break;
    begin += character;
  }
  return begin;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape character.
const withoutColours = (line: string): string => line.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '');
