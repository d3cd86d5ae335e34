import type { ChildProcess } from 'node:child_process';
import { lstat, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import type { ImageState, OpenImage, OpenRequest } from '../../domain/images/image-builder.ts';
import { writePrivate } from '../local-runner/run-files.ts';
import { isAlive, isEnding } from '../machine/process-table.ts';
import type { JobFolder } from './job-folder.ts';
import { makeJobFolder } from './job-folder.ts';
import { writeLoginFiles } from './login-files.ts';
import { lookIntoImage } from './look-into-image.ts';
import { putIn, takeOut } from './placed-files.ts';
import { removeTree } from './remove-tree.ts';
import { endRoom, findRoom, lastWords, type RoomProcess, startRoom } from './room.ts';
import { requireMountPlaces, requireOwnRoot, requireSafeRoot, requireSafeWay, resolveInRoot } from './root-paths.ts';

interface OpenFile extends OpenImage {
  room: RoomProcess;
  jail: boolean;
}

/** Time in which sshd has to listen, ms; it takes some hundredths of a second. */
const LISTEN_PATIENCE_MS = 20_000;
const PAUSE_MS = 10;
/** The shell of a login beside the image: the machine's. */
const BESIDE = { home: '/root', shell: '/bin/bash' };

/** Opens the environment of a job, or finds it. */
export async function openEnvironment(
  folder: JobFolder,
  request: OpenRequest,
  signal: AbortSignal,
): Promise<OpenImage> {
  const found = await readOpen(folder);
  if (found !== null && (await isAlive(found.room)) && !(await isEnding(found.room.pid))) return answer(found);
  await endRoom(folder);
  await requireUnpacked(folder);
  await requireOwnRoot(folder);
  await requireSafeWay(folder.path);
  await requireMountPlaces(folder.root);
  if (request.jail) await requireSafeRoot(folder.root);
  const image = await lookIntoImage(folder.root);
  if (request.jail && image.shell === null) {
    throw musterError('image_environment_failed', 'the image has no shell: there is no program /bin/sh in it');
  }
  await takeOut(folder);
  await makeJobFolder(folder);
  if ((await stat(folder.opened).catch(() => null)) === null) {
    await removeMarkers(folder);
    await writeFile(folder.opened, '');
  }
  await putIn(folder);
  const login = request.jail ? { home: image.home, shell: image.shell ?? '' } : BESIDE;
  const hostKey = await writeLoginFiles(folder, request, login);
  signal.throwIfAborted();
  const room = await startLogin(folder, request);
  const { port, jail } = request;
  const open: OpenFile = { room, port, hostKey, jail, warnings: image.warnings };
  await writePrivate(folder.open, JSON.stringify(open));
  return answer(open);
}

/** What the user wants, by the markers; a marker counts also when the environment has gone since. */
export async function environmentState(folder: JobFolder): Promise<ImageState> {
  const open = await readOpen(folder);
  if (open === null) return 'gone';
  // Whoever leaves both wants no image of it.
  for (const name of ['failed', 'complete'] as const) if (await hasMarker(folder, open.jail, name)) return name;
  return (await isAlive(open.room)) ? 'open' : 'gone';
}

/** Removes the markers of both kinds of login. */
export async function removeMarkers(folder: JobFolder): Promise<void> {
  for (const name of ['complete', 'failed']) {
    await removeTree(join(folder.image, name));
    const inside = await resolveInRoot(folder.root, `tmp/${name}`, true);
    if (inside !== null) await removeTree(inside);
  }
}

/** One that was opened before may come from a version that made no note of the unpacking. */
async function requireUnpacked(folder: JobFolder): Promise<void> {
  if ((await lstat(folder.root).catch(() => null)) === null) {
    throw musterError('image_environment_failed', `the job ${folder.jobId} has no unpacked image`);
  }
  for (const note of [folder.unpacked, folder.opened]) if ((await stat(note).catch(() => null)) !== null) return;
  throw musterError('image_environment_failed', `the image of the job ${folder.jobId} was not unpacked to its end`);
}

/** sshd is the room's process 1: it takes up the orphans of its logins, and with it everything ends. */
async function startLogin(folder: JobFolder, { port, hostname }: OpenRequest): Promise<RoomProcess> {
  const argv = ['/usr/sbin/sshd', '-D', '-e', '-f', '/etc/ssh/sshd_config'];
  const child = await startRoom(folder, { kind: 'shell', hostname, argv });
  // An address may be written in several ways, of which sshd has its own.
  const listening = new RegExp(`^Server listening on \\S+ port ${port}\\.`, 'm');
  const deadline = Date.now() + LISTEN_PATIENCE_MS;
  for (;;) {
    const log = await readFile(folder.log, 'utf8').catch(() => '');
    const room = listening.test(log) ? await findRoom(folder) : null;
    if (room !== null) {
      child.unref();
      return room;
    }
    const late = !hasEnded(child) && Date.now() > deadline;
    if (late || hasEnded(child)) {
      // What is said after that is only that it was ended.
      const words = (await lastWords(folder)) || 'no answer';
      await endRoom(folder);
      if (/Address already in use|Cannot bind any address/.test(words)) {
        throw musterError('image_port_taken', `port ${port} is taken by another program`);
      }
      const inTime = late ? ` within ${LISTEN_PATIENCE_MS / 1_000} s` : '';
      throw musterError('image_environment_failed', `the login of the image did not come up${inTime}: ${words}`);
    }
    await delay(PAUSE_MS);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function hasMarker(folder: JobFolder, jail: boolean, name: string): Promise<boolean> {
  // A link is a marker too; where it leads is nobody's business.
  if (!jail) return (await lstat(join(folder.image, name)).catch(() => null)) !== null;
  if (!(await lstat(folder.root).catch(() => null))?.isDirectory()) return false;
  return (await resolveInRoot(folder.root, `tmp/${name}`)) !== null;
}

async function readOpen(folder: JobFolder): Promise<OpenFile | null> {
  try {
    return JSON.parse(await readFile(folder.open, 'utf8')) as OpenFile;
  } catch {
    return null;
  }
}

function answer({ port, hostKey, warnings }: OpenFile): OpenImage {
  return { port, hostKey, warnings };
}
