/** What `group_vars` of a repository says of all hosts stays, also when a try to add to it was cut off at any step. */
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { addEnvironmentVariables } from '../../drivers/inventory/environment-vars.ts';

const OWN = 'cray_cfs_environment.yaml';
const LINE = 'cray_cfs_image: false\n';
/** Takes no line at its end. */
const SEALED = '$ANSIBLE_VAULT;1.1;AES256\n6162\n';
let dir: string;
const at = (...path: string[]) => join(dir, 'group_vars', ...path);
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-group-vars-'));
  await mkdir(at());
});
afterEach(() => rm(dir, { recursive: true }));

/** What Ansible finds for all hosts: the one folder, with the file of the repository and ours. */
async function expectBoth(name: string): Promise<void> {
  expect(await readdir(at())).toEqual(['all']);
  expect((await readdir(at('all'))).sort()).toEqual([name, OWN].sort());
  expect(await readFile(at('all', name), 'utf8')).toBe(SEALED);
  expect(await readFile(at('all', OWN), 'utf8')).toBe(LINE);
}

test.each(['all', 'all.yml', 'all.json'])('%s becomes a folder, once', async (name) => {
  await writeFile(at(name), SEALED);
  await addEnvironmentVariables(dir);
  await expectBoth(name);
  await addEnvironmentVariables(dir);
  await expectBoth(name);
});

test('a link that leads nowhere is no reason to lose the file beside it', async () => {
  await writeFile(at('all.yml'), SEALED);
  await symlink('nowhere', at('all'));
  await addEnvironmentVariables(dir);
  await addEnvironmentVariables(dir);
  await expectBoth('all.yml');
});

test.each<[string, () => Promise<void>]>([
  [
    'while the folder was made',
    async () => {
      await writeFile(at('all'), SEALED);
      await mkdir(at('.all.made'));
      await writeFile(at('.all.made', 'all'), 'half');
    },
  ],
  [
    'before the folder was in place',
    async () => {
      await writeFile(at('.all.aside'), SEALED);
      await mkdir(at('.all.made'));
    },
  ],
  [
    'when the folder was in place',
    async () => {
      await writeFile(at('.all.aside'), SEALED);
      await mkdir(at('all'));
      await writeFile(at('all', 'all'), SEALED);
      await writeFile(at('all', OWN), LINE);
    },
  ],
])('a try that was cut off %s is gone on with', async (_when, left) => {
  await left();
  await addEnvironmentVariables(dir);
  await expectBoth('all');
});
