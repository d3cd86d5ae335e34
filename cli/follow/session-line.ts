import type { SessionProgress } from '../../domain/sessions/detail-schema.ts';
import type { Snapshot } from '../../domain/sessions/schema.ts';
import { cutTo } from '../output/display-width.ts';
import { layerWords } from '../output/layers.ts';
import { oneLine } from '../terminal/neutralise.ts';

/** What the display knows of a session: its progress, and what the progress does not say. */
export interface Followed {
  progress?: SessionProgress;
  /** Selected layers; absent until they were read. */
  layers?: Snapshot['layers'];
  /** Place among the waiting sessions, 1 is next; null when it does not wait. */
  queuePlace?: number | null;
  /** Why it waits, as it was when the place was read. */
  waits?: string | undefined;
}

/** What the session does, in a few words: the live line's beginning, and a message of its own where there is no terminal. */
export function stepOf({ progress, layers, queuePlace, waits }: Followed): string {
  if (progress === undefined) return 'connecting';
  if (progress.phase === 'queued' && queuePlace) {
    return `place ${queuePlace} in the queue: ${waits ?? progress.message}`;
  }
  if (progress.phase !== 'layer' || progress.layer === null) return progress.message || progress.phase;
  const layer = layers?.find(({ index }) => index === progress.layer);
  const name = layerWords(progress.layer, layers, layer?.name ?? layer?.playbook);
  return progress.attempt > 1 ? `${name}, attempt ${progress.attempt}` : name;
}

/** One line about a session: step, hosts done, failed hosts, task and time, cut to the width of the terminal. */
export function liveLine(followed: Followed, elapsed: number, width: number): string {
  const words = [stepOf(followed)];
  const { progress } = followed;
  if (progress && (progress.phase === 'layer' || progress.hosts.seen > 0)) {
    const { hosts, task } = progress;
    words.push(`${hosts.done}/${hosts.seen} hosts`);
    if (hosts.failed > 0) words.push(`${hosts.failed} failed`);
    if (progress.phase === 'layer' && task) words.push(`task "${task}"`);
  }
  // A line of the terminal's whole width would wrap.
  return cutTo(oneLine([...words, clock(elapsed)].join('  ')), width - 1);
}

/** A length of time as a clock shows it: `00:41`, `1:02:03`. */
function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const rest = `${two(Math.floor((seconds % 3_600) / 60))}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}
