import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import { checkMachine } from './check-machine.ts';
import { diskUsage, freeBytes } from './disk-usage.ts';
import { type JobFolder, jobFolder } from './job-folder.ts';
import { environmentState, openEnvironment, removeMarkers } from './open-environment.ts';
import { packImage } from './pack-image.ts';
import { takeOut } from './placed-files.ts';
import { removeTree } from './remove-tree.ts';
import { endRoom, PROGRAM_PATH } from './room.ts';
import { requireOwnRoot } from './root-paths.ts';
import { createTurns } from './turns.ts';
import { unpackImage } from './unpack-image.ts';

const run = promisify(execFile);

/**
 * Builder of this machine, as root. `jobsDir` holds a folder for each job; it and the way to it belong to root alone.
 */
export function createImageBuilder({ jobsDir }: { jobsDir: string }): ImageBuilder {
  const folderOf = (jobId: string) => jobFolder(jobsDir, jobId);
  const inTurn = createTurns();
  const makeJobsDir = async () => {
    await mkdir(jobsDir, { recursive: true, mode: 0o700 });
    // The root of a volume is often made for everybody.
    await chmod(jobsDir, 0o700);
  };
  return {
    check: checkMachine,
    rootOf: (jobId) => folderOf(jobId).root,
    unpack: (request, signal, progress) =>
      inTurn(request.jobId, signal, async () => {
        await makeJobsDir();
        return unpackImage(folderOf(request.jobId), request, signal, progress);
      }),
    open: (request, signal) =>
      inTurn(request.jobId, signal, () => openEnvironment(folderOf(request.jobId), request, signal)),
    state: (jobId) => environmentState(folderOf(jobId)),
    size: (jobId) => diskUsage(folderOf(jobId).path),
    close: (jobId, signal) => inTurn(jobId, signal, () => closeEnvironment(folderOf(jobId))),
    pack: (request, signal, progress) =>
      inTurn(request.jobId, signal, async () => {
        await makeJobsDir();
        return packImage(folderOf(request.jobId), request, signal, progress);
      }),
    remove: async (jobId) => {
      const folder = folderOf(jobId);
      // What still works for the job breaks off.
      await endRoom(folder);
      await inTurn(jobId, undefined, async () => {
        await endRoom(folder);
        await removeTree(folder.path);
      });
    },
    free: async () => {
      await makeJobsDir();
      return freeBytes(jobsDir);
    },
    list: () => readdir(jobsDir).catch(() => []),
  };
}

/** Leaves the root as it came, with what the user did in it. */
async function closeEnvironment(folder: JobFolder): Promise<void> {
  await endRoom(folder);
  if ((await stat(folder.path).catch(() => null)) === null) return;
  await rm(folder.open, { force: true });
  if ((await stat(folder.opened).catch(() => null)) === null) return;
  await requireOwnRoot(folder);
  // A folder that was made for the user goes when it is empty, as /tmp is without its marker.
  await removeMarkers(folder);
  await takeOut(folder);
  await removeSockets(folder);
  await rm(folder.opened);
}

/** Sockets that were made since the opening lead to nobody any more. */
async function removeSockets(folder: JobFolder): Promise<void> {
  const found = [folder.root, '-xdev', '-type', 's', '-cnewer', folder.opened, '-delete'];
  await run('find', found, { env: { PATH: PROGRAM_PATH, LC_ALL: 'C' } });
}
