/** A session customises a real Debian through the command line and Muster's own image service. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { debianTar, imagesMissing, makeBusyboxRoot } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

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
/** For an image without Python; it waits for a file. */
const RAW = `- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.raw: touch /begun; while [ ! -e /go ]; do sleep 0.2; done; rm /begun /go; echo raw >/etc/customised
`;

describeNeeding(stackMissing() ?? imagesMissing(['mmdebstrap', 'setcap']), 'a session on an image', () => {
  let stack: MusterStack;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-e2e-'));
    const port = await freePort();
    stack = await startMusterStack({ MUSTER_IMAGE_PORTS: `${port}-${port + 9}` });
    await stack.start();
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(dir, { recursive: true, force: true });
  });

  const muster = async (...args: string[]) =>
    (await run(join(ROOT, 'muster'), args, { env: { ...stack.env, MUSTER_URL: stack.url } })).stdout.trim();

  const jobs = () => join(stack.dataDir, 'images', 'jobs');
  /** The root in which the playbook RAW waits now. */
  const begun = () =>
    eventually(
      'the playbook has begun',
      async () => {
        for (const job of await readdir(jobs())) {
          const path = join(jobs(), job, 'image', 'image-root');
          if (existsSync(join(path, 'begun'))) return path;
        }
        return null;
      },
      240_000,
    );

  test('makes a new image with the change, and leaves nothing else', async () => {
    const repository = await stack.repository('site');
    await repository.commit({ 'site.yml': PLAYBOOK, 'raw.yml': RAW });
    await stack.configure('site', repository.url, ['site.yml'], []);
    await stack.configure('raw', repository.url, ['raw.yml'], []);
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
    await eventually('the folder of the job is gone', async () => (await readdir(join(images, 'jobs'))).length === 0);
    expect(await readdir(join(images, 'incoming'))).toEqual([]);
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(images);
    const made = (await muster('image', 'list', '-o', 'jsonl')).split('\n').map((line) => JSON.parse(line));
    expect(made.map(({ name, made_from }) => [name, made_from])).toEqual([
      ['debian', null],
      ['debian-custom', source],
    ]);
    expect(existsSync(join(images, 'images', source, 'manifest.json'))).toBe(true);
  }, 600_000);

  test('a squashfs becomes a squashfs of the same compression, though the API is killed in between', async () => {
    const root = join(dir, 'small');
    await mkdir(root);
    await chmod(root, 0o755);
    await makeBusyboxRoot(root);
    const packed = join(dir, 'small.squashfs');
    await run('mksquashfs', [root, packed, '-comp', 'xz', '-b', '65536', '-no-progress', '-quiet']);
    const source = await muster('image', 'import', packed, '--name', 'small', '-o', 'name');
    const groups = [{ name: 'compute', members: [source] }];
    const image_map = [{ source_id: source, result_name: 'small-custom' }];
    await stack.create('small', 'raw', { target: { definition: 'image', groups, image_map } });
    const inside = await begun();
    await stack.kill('api');
    await writeFile(join(inside, 'go'), '');
    const session = await stack.untilComplete('small', 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true' });

    const file = join(dir, 'small-custom.squashfs');
    await muster('image', 'export', 'small-custom', file);
    const { stdout: facts } = await run('unsquashfs', ['-s', file]);
    expect(facts).toMatch(/^Compression xz$/m);
    expect(facts).toMatch(/^Block size 65536$/m);
    expect((await run('unsquashfs', ['-cat', file, 'etc/customised'])).stdout).toBe('raw\n');
    const { stdout: names } = await run('unsquashfs', ['-l', '-d', '', file]);
    expect(names).not.toMatch(/begun|policy-rc|\/\.ansible/);
    await eventually('the folder of the job is gone', async () => (await readdir(jobs())).length === 0);
  }, 600_000);

  test('a cancel ends the job with every process in it, and no image comes of it', async () => {
    const source = await muster('image', 'get', 'small', '-o', 'name');
    const target = { definition: 'image', groups: [{ name: 'compute', members: [source] }] };
    await stack.create('cancelled', 'raw', { target });
    await begun();
    expect((await stack.call('POST', '/api/v1/sessions/cancelled/cancel', {})).status).toBe(202);
    const session = await stack.untilComplete('cancelled', 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'false' });
    expect(session.images).toMatchObject([{ image_id: source, state: 'dropped', result_id: null }]);
    expect((await stack.call('GET', '/apis/ims/public-keys')).body).toEqual([]);
    await eventually('the folder of the job is gone', async () => (await readdir(jobs())).length === 0);
    expect((await run('ps', ['-eo', 'args'])).stdout).not.toContain(jobs());
    expect(await muster('image', 'list', '-o', 'jsonl')).not.toContain('cfs_cancelled');
  }, 600_000);
});
