/** A session customises a real Debian through the command line and Muster's own image service. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../support/free-port.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/muster-stack.ts';
import { describeNeeding } from '../support/requirement.ts';
import { debianTar, imagesMissing } from '../support/root-file-systems.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

const PLAYBOOK = `- hosts: all
  gather_facts: true
  tasks:
    - ansible.builtin.copy: {dest: /etc/customised, content: "{{ ansible_facts.distribution }} {{ cray_cfs_image }}\\n"}
    - ansible.builtin.command: mknod /etc/null c 1 3
    - ansible.builtin.command: ln /etc/customised /etc/linked
    - ansible.builtin.command: setcap cap_net_raw=ep /usr/bin/env
`;

describeNeeding(stackMissing() ?? imagesMissing(['mmdebstrap', 'setcap']), 'a session on an image', () => {
  let stack: MusterStack;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-e2e-'));
    const port = await freePort();
    stack = await startMusterStack({ MUSTER_IMAGE_PORTS: `${port}-${port}` });
    await stack.start();
  }, 180_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(dir, { recursive: true, force: true });
  }, 60_000);

  const muster = async (...args: string[]) =>
    (await run(join(ROOT, 'muster'), args, { env: { ...stack.env, MUSTER_URL: stack.url } })).stdout.trim();

  test('makes a new image with the change, and leaves nothing else', async () => {
    const repository = await stack.repository('site');
    await repository.commit({ 'site.yml': PLAYBOOK });
    await stack.configure('site', repository.url, ['site.yml'], []);
    const source = await muster('image', 'import', await debianTar(), '--name', 'debian', '-o', 'name');
    await muster(
      ...['session', 'run', 'custom', '--configuration', 'site', '--target', 'image'],
      ...['--group', `compute=${source}`, '--image-map', `${source}=debian-custom`],
    );

    const file = join(dir, 'out.tar');
    await muster('image', 'export', 'debian-custom', file);
    const root = join(dir, 'root');
    await run('mkdir', [root]);
    await run('tar', ['--xattrs', '--xattrs-include=*', '--numeric-owner', '-C', root, '-xpf', file]);
    expect(await readFile(join(root, 'etc/customised'), 'utf8')).toBe('Debian True\n');
    const { stdout: kinds } = await run('stat', ['-c', '%F %h', join(root, 'etc/null'), join(root, 'etc/linked')]);
    expect(kinds).toBe('character special file 1\nregular file 2\n');
    expect((await run('getcap', [join(root, 'usr/bin/env')])).stdout).toContain('cap_net_raw=ep');
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
    expect(await readdir(join(root, 'proc'))).toEqual([]);

    const images = join(stack.dataDir, 'images');
    expect(await readdir(join(images, 'jobs'))).toEqual([]);
    expect(await readdir(join(images, 'incoming'))).toEqual([]);
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(images);
    const made = (await muster('image', 'list', '-o', 'jsonl')).split('\n').map((line) => JSON.parse(line));
    expect(made.map(({ name, made_from }) => [name, made_from])).toEqual([
      ['debian', null],
      ['debian-custom', source],
    ]);
    expect(existsSync(join(images, 'images', source, 'manifest.json'))).toBe(true);
  }, 400_000);
});
