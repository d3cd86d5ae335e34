import type { SessionProgress } from '../../domain/sessions/detail-schema.ts';
import type { Snapshot } from '../../domain/sessions/schema.ts';
import { duration } from '../output/times.ts';
import { oneLine } from '../terminal/neutralise.ts';

/** What the display knows of a session: its progress, and what the progress does not say. */
export interface Followed {
  progress?: SessionProgress;
  /** Selected layers; absent until they were read. */
  layers?: Snapshot['layers'];
  /** Place among the waiting sessions, 1 is next; null when it does not wait. */
  queuePlace?: number | null;
}

/** What the session does, in a few words: the live line's beginning, and a message of its own where there is no terminal. */
export function stepOf({ progress, layers, queuePlace }: Followed): string {
  if (progress === undefined) return 'connecting';
  if (progress.phase === 'queued' && queuePlace) return `place ${queuePlace} in the queue: ${progress.message}`;
  if (progress.phase !== 'layer' || progress.layer === null) return progress.message || progress.phase;
  const at = layers?.findIndex((layer) => layer.index === progress.layer) ?? -1;
  const layer = layers?.[at];
  const name = layer ? `${at + 1}/${progress.layers_total} ${layer.name ?? layer.playbook}` : String(progress.layer);
  return progress.attempt > 1 ? `layer ${name}, attempt ${progress.attempt}` : `layer ${name}`;
}

/** One line about a session: step, hosts done, counts and time, cut to the width of the terminal. */
export function liveLine(followed: Followed, elapsed: number, width: number): string {
  const words = [stepOf(followed)];
  const { progress } = followed;
  if (progress && (progress.phase === 'layer' || progress.hosts.seen > 0)) {
    const { hosts, counts } = progress;
    words.push(`hosts ${hosts.done}/${hosts.seen}`, `ok ${counts.ok}`, `changed ${counts.changed}`);
    words.push(`failed ${counts.failed}`, `unreachable ${counts.unreachable}`);
  }
  return cut(oneLine([...words, duration(elapsed)].join('  ')), width);
}

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length < width ? text : `${characters.slice(0, Math.max(0, width - 2)).join('')}…`;
}
