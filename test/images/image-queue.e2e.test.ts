/** Sessions where one root may be open at once: the others wait for their turn, longer than for trouble to pass, and go as they came. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { imagesMissing, makeBusyboxRoot } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type Answer, type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const MUSTER = join(import.meta.dirname, '../../muster');
/** Longest wait for images, seconds: enough for a busy machine to open one. */
const WAIT = 45;
/** So long the queue takes, seconds. */
const QUEUE = WAIT + 10;
const RAW = `- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.raw: touch /begun; while [ ! -e /go ]; do sleep 0.2; done; rm /begun /go
`;

describeNeeding(stackMissing() ?? imagesMissing(), 'sessions on images that wait for their turn', () => {
  let stack: MusterStack;
  let dir: string;
  let target: object;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-queue-'));
    const port = await freePort();
    const limits = { MUSTER_IMAGE_JOBS: '1', MUSTER_IMS_WAIT: String(WAIT) };
    stack = await startMusterStack({ MUSTER_IMAGE_PORTS: `${port}-${port + 9}`, ...limits });
    await stack.start();
    const repository = await stack.repository('site');
    await repository.commit({ 'raw.yml': RAW });
    await stack.configure('raw', repository.url, ['raw.yml'], []);
    const root = join(dir, 'root');
    await mkdir(root);
    await chmod(root, 0o755);
    await makeBusyboxRoot(root);
    const env = { ...stack.env, MUSTER_URL: stack.url };
    const { stdout } = await promisify(execFile)(MUSTER, ['image', 'import', root, '-o', 'name'], { env });
    target = { target: { definition: 'image', groups: [{ name: 'g', members: [stdout.trim()] }] } };
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(dir, { recursive: true, force: true });
  });

  /** Lets the playbook that waits in a root go on. */
  const go = () =>
    eventually(
      'a playbook has begun and goes on',
      async () => {
        const jobs = join(stack.dataDir, 'images', 'jobs');
        for (const job of await readdir(jobs)) {
          const path = join(jobs, job, 'image', 'image-root');
          if (!existsSync(join(path, 'begun'))) continue;
          await writeFile(join(path, 'go'), '');
          return true;
        }
        return false;
      },
      240_000,
    );
  const imageOf = async (name: string): Promise<Answer['body']> => (await stack.session(name)).images[0] ?? {};
  /** Waits until a session's image is as `isSo` asks for. */
  const untilImage = (what: string, name: string, isSo: (image: Answer['body']) => boolean) =>
    eventually(
      what,
      async () => isSo(await imageOf(name)),
      240_000,
      () => stack.session(name),
    );
  const waitsSince = async (name: string): Promise<number> => {
    const rows = await stack.sql(`select extract(epoch from now() - i.started_at)::int as seconds
      from session_images i join sessions s on s.id = i.session_id where s.name = '${name}'`);
    return (rows as { seconds: number }[])[0]?.seconds ?? 0;
  };

  test('they say so, and each is made when those before it are done', async () => {
    await stack.create('first', 'raw', target);
    await untilImage('the first one is open', 'first', ({ state }) => state === 'open');
    await stack.create('second', 'raw', target);
    await untilImage('the second one has a job', 'second', ({ job }) => typeof job === 'string');
    await stack.create('third', 'raw', target);
    await eventually('the second one has waited', async () => (await waitsSince('second')) > QUEUE, 240_000);
    const waiting = await stack.session('second');
    expect(waiting.status.session).toMatchObject({
      status: 'running',
      message: expect.stringContaining('creating: waits for its turn: 1 other image jobs are open'),
    });
    await untilImage('the third one stands behind the second', 'third', ({ message }) =>
      String(message).includes('1 that were made before it wait too'),
    );
    await go();
    expect((await stack.untilComplete('first', 240_000)).status.session).toMatchObject({ succeeded: 'true' });
    await untilImage('the second one is open', 'second', ({ state }) => state === 'open');
    expect((await imageOf('third')).state).not.toBe('open');
    await go();
    const second = await stack.untilComplete('second', 240_000);
    expect(second.status.session).toMatchObject({
      succeeded: 'true',
      message: expect.stringContaining('1 of 1 images'),
    });
    await go();
    expect((await stack.untilComplete('third', 240_000)).status.session).toMatchObject({ succeeded: 'true' });
  }, 900_000);
});
