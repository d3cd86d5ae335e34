import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createMask } from '../../domain/runs/mask.ts';
import type { RunBatch } from '../../domain/runs/runner.ts';
import { eventOfRunner } from '../../domain/runs/runner-event.ts';
import type { ReadEvents } from './journal-events.ts';
import { type RunPaths, readMasks } from './run-files.ts';

/** Events of one batch at most. */
const BATCH = 200;

/** `<counter>-<uuid>.json`; what is being written has other names. */
const EVENT_FILE = /^(\d+)-[0-9a-f-]+\.json$/i;

/** Folder of the events that ansible-runner writes, whose artifacts have the id of the run as their name. */
export const jobEventsFolder = (paths: Pick<RunPaths, 'dir'>): string =>
  join(paths.dir, 'runner', 'artifacts', basename(paths.dir), 'job_events');

/**
 * Reads the events that ansible-runner writes, a file for each, in the order of their counters. A missing counter is waited for while the
 * run lives.
 */
export async function jobEvents(paths: RunPaths): Promise<ReadEvents> {
  const folder = jobEventsFolder(paths);
  const mask = createMask(await readMasks(paths));
  return async ({ lines }, atEnd) => {
    const events: RunBatch['events'] = [];
    for (const [counter, name] of await filesAfter(folder, lines)) {
      const isNext = counter === (events.at(-1)?.line ?? lines) + 1;
      if (events.length === BATCH || (!isNext && !atEnd)) break;
      const text = await readFile(join(folder, name), 'utf8').catch(() => '');
      events.push({ line: counter, event: eventOfRunner(text, mask, new Date()) });
    }
    return { events, bytes: 0 };
  };
}

async function filesAfter(folder: string, last: number): Promise<[counter: number, name: string][]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .map((name): [number, string] => [Number(EVENT_FILE.exec(name)?.[1] ?? 0), name])
    .filter(([counter]) => counter > last)
    .sort(([one], [other]) => one - other);
}
