/** A file that says which processes have imported Ansible here, for `status`; it is a figure and decides nothing. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type WarmNote, WarmNoteSchema, type WarmView } from '../../domain/runs/warm-schema.ts';
import { isAlive, readBootId, readStat } from '../machine/process-table.ts';
import { writePrivate } from './run-files.ts';
import type { WarmProcess } from './warm-ansible.ts';

const fileIn = (folder: string): string => join(folder, 'warm-ansible.json');

/** Writes the note, each time whole. A note that cannot be written is none. */
export async function writeWarmNote(folder: string, processes: readonly WarmProcess[]): Promise<void> {
  const boot_id = await readBootId();
  const note = processes.map(({ pid, state, why }) => {
    const start_time = pid === null ? '' : (readStat(pid)?.startTime ?? '');
    return { pid, start_time, boot_id, state, why };
  });
  await writePrivate(fileIn(folder), JSON.stringify(note)).catch(() => undefined);
}

/** Returns the processes that are there, and each Ansible that cannot be kept; none where no worker has written of any. */
export async function readWarmNote(folder: string): Promise<WarmView[]> {
  const text = await readFile(fileIn(folder), 'utf8').catch(() => '[]');
  const found: WarmView[] = [];
  for (const { pid, start_time, boot_id, state, why } of parse(text)) {
    const lives = pid !== null && (await isAlive({ pid, start_time, boot_id }));
    if (lives || (state === 'refused' && boot_id === (await readBootId()))) found.push({ pid, state, why });
  }
  return found;
}

function parse(text: string): WarmNote {
  try {
    return WarmNoteSchema.parse(JSON.parse(text));
  } catch {
    return [];
  }
}
