import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { CliFailure, EXIT } from '../../failure.ts';

/**
 * The tar of a folder that holds a root file system, made by the machine's `tar` while it is read: with numeric owners, extended attributes and
 * access lists, without what is mounted below. Throws a `CliFailure` in place of its end when something could not be read, so that nothing takes
 * a part for the whole.
 */
export async function* packFolder(folder: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const how = ['--numeric-owner', '--sparse', '--xattrs', '--acls', '--one-file-system'];
  const tar = spawn('tar', ['--create', '--file=-', ...how, `--directory=${folder}`, '.'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', resolve);
  });
  // Looked at below; a reader that breaks off must not leave it unhandled.
  ended.catch(() => undefined);
  const said = text(tar.stderr);
  try {
    for await (const chunk of tar.stdout) yield chunk as Uint8Array;
    const status = await ended;
    if (status !== 0) throw notPacked(folder, await said);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? notPacked(folder, 'there is no tar on this machine') : error;
  } finally {
    tar.kill();
  }
}

function notPacked(folder: string, said: string): CliFailure {
  const [first = 'tar failed'] = said.trim().split('\n');
  return new CliFailure('folder_not_packed', `${folder} could not be packed: ${first}`, EXIT.failed);
}
