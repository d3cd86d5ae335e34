/** What an image has for a login. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { lookIntoImage } from '../../drivers/image-builder/look-into-image.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-image-login-'));
  for (const name of ['bin/sh', 'bin/bash', 'bin/false', 'usr/bin/false', 'sbin/nologin', 'usr/sbin/nologin']) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), '#!');
    await chmod(join(root, name), 0o755);
  }
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The shell that a login gets where the image's root has this one. */
async function shellFor(shell: string): Promise<string | null> {
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(join(root, 'etc/passwd'), `daemon:x:1:1::/:/bin/sh\nroot:x:0:0:root:/root:${shell}\n`);
  return (await lookIntoImage(root)).shell;
}

describe("the shell of an image's root", () => {
  test('is its own', async () => {
    expect(await shellFor('/bin/bash')).toBe('/bin/bash');
  });

  test.each(['/sbin/nologin', '/usr/sbin/nologin', '/bin/false', '/usr/bin/false', '/bin/zsh', ''])(
    'is /bin/sh where it is said to be %s',
    async (shell) => {
      expect(await shellFor(shell)).toBe('/bin/sh');
    },
  );

  test('is none without /bin/sh', async () => {
    await rm(join(root, 'bin/sh'));
    expect(await shellFor('/sbin/nologin')).toBeNull();
  });
});
