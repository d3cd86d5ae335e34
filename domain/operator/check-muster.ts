import { secondsOf } from './duration.ts';
import { DEFAULT_BACKOFF, type EntryInFile, ON_DELETE, RESYNCS } from './watch-entry.ts';
import type { Say } from './watch-errors.ts';

const SHORTEST_BACKOFF = 0.1;
const LONGEST_BACKOFF = 86_400;
const LARGEST_FACTOR = 10;

/** Says which values of the map `muster` are outside of what is allowed. */
export function checkMuster(keys: NonNullable<EntryInFile['muster']>, say: Say): void {
  const wrong = (key: string, allowed: string): void =>
    say({ code: 'W13', field: `muster.${key}`, message: `muster: ${key}: ${allowed}`, fix: `set it to ${allowed}` });
  const { run_timeout: timeout, backoff = {}, on_delete: onDelete, resync_on_start: resync } = keys;
  if (timeout !== undefined && secondsOf(timeout) <= 0) wrong('run_timeout', 'a duration above 0');

  const { factor } = backoff;
  const initial = secondsOf(backoff.initial ?? DEFAULT_BACKOFF.initial);
  const max = secondsOf(backoff.max ?? DEFAULT_BACKOFF.max);
  if (initial < SHORTEST_BACKOFF) wrong('backoff.initial', 'a duration of at least 100ms');
  if (factor !== undefined && (factor < 1 || factor > LARGEST_FACTOR)) wrong('backoff.factor', 'a number from 1 to 10');
  if (backoff.max !== undefined && (max < initial || max > LONGEST_BACKOFF)) {
    wrong('backoff.max', 'a duration from backoff.initial to 24h');
  } else if (initial > max) {
    wrong('backoff.initial', `a duration of at most ${DEFAULT_BACKOFF.max}, or a backoff.max that is longer`);
  }

  if (onDelete !== undefined && !ON_DELETE.some((word) => word === onDelete)) wrong('on_delete', 'finish or cancel');
  if (resync !== undefined && !RESYNCS.some((word) => word === resync)) wrong('resync_on_start', 'stale or always');
}
