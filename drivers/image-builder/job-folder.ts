/** Where everything of an image job lies. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { folderName } from '../../domain/runs/folder-name.ts';

export interface JobFolder {
  jobId: string;
  path: string;
  /** Becomes /mnt/image of the environment: holds the root, and the markers of a login beside it. */
  image: string;
  root: string;
  /** Becomes /etc of the environment. */
  etc: string;
  /** Where the environment's own root is made; empty for everybody else. */
  room: string;
  /** Where a step writes its new file. */
  output: string;
  /** What was in the image at the places of things that were put there. */
  saved: string;
  changes: string;
  /** Held by whatever works for the job, for as long as it lives. */
  lock: string;
  /** Process 1 of the environment. */
  claim: string;
  log: string;
  /** There once the image was unpacked to its end. */
  unpacked: string;
  /** The environment that is open. */
  open: string;
  /** There from the first opening until the job is closed. */
  opened: string;
  hostKey: string;
}

export function jobFolder(jobsDir: string, jobId: string): JobFolder {
  const path = join(jobsDir, folderName(jobId));
  return {
    jobId,
    path,
    image: join(path, 'image'),
    root: join(path, 'image', 'image-root'),
    etc: join(path, 'etc'),
    room: join(path, 'room'),
    output: join(path, 'output'),
    saved: join(path, 'saved'),
    changes: join(path, 'changes.json'),
    lock: join(path, 'lock'),
    claim: join(path, 'claim'),
    log: join(path, 'log'),
    unpacked: join(path, 'unpacked'),
    open: join(path, 'open.json'),
    opened: join(path, 'opened'),
    hostKey: join(path, 'host_key'),
  };
}

/** Makes the folders that are not there. Only we may enter the job's; who works in the image comes from another side. */
export async function makeJobFolder(folder: JobFolder): Promise<void> {
  await mkdir(folder.path, { recursive: true, mode: 0o700 });
  for (const dir of [folder.image, folder.etc, folder.room, folder.output, folder.saved]) {
    await mkdir(dir, { recursive: true, mode: 0o755 });
  }
}
