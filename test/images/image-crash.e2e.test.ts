/** The worker is killed in every state of an image job: the job goes on, nothing is done twice, and nothing is left. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { inImage, type LoginKey, makeLoginKey } from '../support/images/image-login.ts';
import { imagesMissing, makeBusyboxRoot } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type Answer, type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** Large enough that unpacking and packing are seen at work. */
const PADDING = 256 * 2 ** 20;

describeNeeding(stackMissing() ?? imagesMissing(), 'a worker that is killed while it works on images', () => {
  let stack: MusterStack;
  let dir: string;
  let key: LoginKey;
  let image: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-crash-'));
    key = makeLoginKey(dir);
    const root = join(dir, 'root');
    await mkdir(root);
    await chmod(root, 0o755);
    await makeBusyboxRoot(root);
    await writeFile(join(root, 'padding'), '');
    await truncate(join(root, 'padding'), PADDING);
    const file = join(dir, 'root.tar.gz');
    await run('tar', ['-C', root, '-czf', file, '.']);
    const port = await freePort();
    stack = await startMusterStack({ MUSTER_IMAGE_PORTS: `${port}-${port + 9}`, MUSTER_IMAGE_JOBS: '1' });
    const env = { ...stack.env, MUSTER_URL: stack.url };
    const imported = await run(join(ROOT, 'muster'), ['image', 'import', file, '--name', 'big', '-o', 'name'], { env });
    image = imported.stdout.trim();
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(dir, { recursive: true, force: true });
  });

  const post = async (path: string, body: object) => {
    const answer = await stack.call('POST', `/apis/ims/${path}`, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id as string;
  };
  const newJob = async (name: string) => {
    const public_key_id = await post('public-keys', { name, public_key: key.publicKey });
    const names = { image_root_archive_name: name, ssh_containers: [{ name, jail: true }] };
    return post('jobs', { job_type: 'customize', artifact_id: image, public_key_id, ...names });
  };
  const job = async (id: string): Promise<Answer['body']> => (await stack.call('GET', `/apis/ims/jobs/${id}`)).body;
  const until = (id: string, status: string) =>
    eventually(
      `the job is in ${status}`,
      async () => {
        const now = await job(id);
        if (now.status === 'error' && status !== 'error') throw new Error(`the job ended in error: ${now.message}`);
        return now.status === status ? now : null;
      },
      240_000,
    );
  const portOf = ({ ssh_containers: [shell] }: Answer['body']) => shell.connection_info['cluster.local'].port as number;
  const killWorker = async () => {
    const before = await stack.pidOf('worker');
    await stack.kill('worker');
    await eventually('another worker is there', async () => (await stack.pidOf('worker')) !== before);
  };

  test('the job goes on from where it was', async () => {
    const first = await newJob('first');
    await until(first, 'fetching_image');
    await killWorker();
    const open = await until(first, 'waiting_on_user');
    const inFirst = (command: string) => inImage(portOf(open), key, command);
    expect((await inFirst('ls -l /padding')).stdout).toContain(` ${PADDING} `);
    expect(await inFirst('echo kept >/etc/kept; setsid sleep 9300 >/dev/null 2>&1 &')).toMatchObject({ code: 0 });

    const second = await newJob('second');
    await eventually('it waits for the first', async () => (await job(second)).message.includes('are open'));
    expect((await job(second)).status).toBe('creating');
    await killWorker();
    expect((await inFirst('ps; cat /etc/kept')).stdout).toMatch(/sleep 9300[\s\S]*kept/);
    expect(await job(first)).toMatchObject({ status: 'waiting_on_user' });

    await inFirst('touch /tmp/complete');
    await until(first, 'packaging_artifacts');
    await killWorker();
    const done = await until(first, 'success');
    expect(portOf(done)).toBe(portOf(open));
    const names = join(stack.dataDir, 'images', 'images', done.resultant_image_id, 'rootfs.tar.gz');
    const { stdout: kept } = await run('tar', ['-xzOf', names, './etc/kept']);
    expect(kept).toBe('kept\n');

    const shell = portOf(await until(second, 'waiting_on_user'));
    expect(shell).not.toBe(portOf(open));
    expect((await inImage(shell, key, 'cat /etc/kept')).code).not.toBe(0);
    expect((await stack.call('DELETE', `/apis/ims/jobs/${second}`)).status).toBe(204);
    await killWorker();

    const images = join(stack.dataDir, 'images');
    await eventually(
      'the folders of the jobs are gone',
      async () => (await readdir(join(images, 'jobs'))).length === 0,
      240_000,
    );
    expect(await readdir(join(images, 'incoming'))).toEqual([]);
    expect((await readdir(join(images, 'images'))).sort()).toEqual([image, done.resultant_image_id].sort());
    expect((await run('ps', ['-eo', 'args'])).stdout).not.toContain(images);
    expect((await inImage(shell, key, 'true')).code).not.toBe(0);
    expect(await readFile('/proc/mounts', 'utf8')).not.toContain(images);
  }, 600_000);
});
