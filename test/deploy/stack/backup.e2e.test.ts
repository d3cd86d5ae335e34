import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stackStatus, startStack, stopStack } from '../../../deploy/stack/background.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';
import { cli } from '../../support/stack/command-line.ts';
import { type Answer, type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const MINUTES = 60_000;
const QUICK = `- hosts: all
  gather_facts: false
  tasks:
    - command: "true"
`;
/** Says that it has begun, and ends when it is let go. */
const slow = (folder: string) => `- hosts: all
  gather_facts: false
  tasks:
    - shell: touch ${folder}/begun; until [ -e ${folder}/go ]; do sleep 0.1; done
`;

describeNeeding(stackMissing(), 'backup and restore', () => {
  let origin: MusterStack;
  let work: string;
  let file: string;

  /** Runs the command line; a stack of its own is named by the folder alone. */
  function muster(args: string[], env: Record<string, string>) {
    const child = spawn(process.execPath, [join(ROOT, 'cli', 'main.ts'), ...args], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ended = once(child, 'close').then(([code]) => ({ exit: code as number | null, said }));
    return { child, ended, said: () => said };
  }

  const folder = (name: string) => join(work, name);
  /** Waits until all is well with a stack: on a busy machine an answer of a part may come too late now and then. */
  const isWell = (dataDir: string) =>
    eventually(
      'the stack is well',
      async () => (await stackStatus(dataDir))?.state === 'running',
      60_000,
      () => stackStatus(dataDir),
    );
  /** The environment of a stack beside the original. */
  async function beside(dataDir: string): Promise<Record<string, string>> {
    const env = { ...origin.env, MUSTER_DATA_DIR: dataDir };
    for (const name of ['API', 'POSTGRES', 'TEMPORAL', 'TEMPORAL_UI']) {
      Object.assign(env, { [`MUSTER_${name}_PORT`]: String(await freePort()) });
    }
    return env;
  }

  async function call(env: Record<string, string>, method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${env.MUSTER_API_PORT}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  }

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'muster-backup-'));
    file = folder('backup');
    origin = await startMusterStack({}, 'own');
    const repository = await origin.repository('site');
    await repository.commit({ 'quick.yml': QUICK, 'slow.yml': slow(work) });
    await origin.configure('quick', repository.url, ['quick.yml'], ['b1']);
    await origin.configure('slow', repository.url, ['slow.yml'], ['b2']);
    await origin.create('done', 'quick', { ansible_limit: 'b1' });
    await origin.untilComplete('done');
    expect((await origin.call('PUT', '/api/v1/secrets/site/key', { value: 'canary-value' })).status).toBe(204);
    const minutely = ['minutely', '--cron', '* * * * *', '--session', 'quick', '--limit', 'b1', '--prefix', 'min'];
    expect((await cli(['schedule', 'create', ...minutely], { url: origin.url })).exit).toBe(0);
    await origin.create('at-work', 'slow', { ansible_limit: 'b2' });
    await eventually('the playbook has begun', async () => existsSync(folder('begun')), 240_000);
  }, 3 * MINUTES);
  afterAll(async () => {
    writeFileSync(folder('go'), '');
    for (const name of ['restored', 'again']) {
      await stopStack({ dataDir: folder(name), keepRuns: true });
    }
    await origin.remove();
    await rm(work, { recursive: true, force: true });
  }, 4 * MINUTES);

  test(
    'a stack that works is saved in one file, and a backup that is killed leaves none',
    async () => {
      const isWorking = () => readdirSync(work).some((name) => name.endsWith('.unfinished'));
      // One that is whole before it is killed tells nothing: then it is another one's turn.
      let isKilled = false;
      for (let tries = 1; !isKilled && tries <= 5; tries += 1) {
        const killed = muster(['backup', folder('killed')], origin.env);
        await eventually('it has begun', () => isWorking() || killed.child.exitCode !== null);
        killed.child.kill('SIGKILL');
        isKilled = (await killed.ended).exit === null && isWorking();
        if (isKilled) expect(existsSync(folder('killed'))).toBe(false);
        else await rm(folder('killed'), { force: true });
      }
      const { exit, said } = await muster(['backup', file], origin.env).ended;
      expect(said).toContain('it holds all keys');
      expect(said).not.toContain('canary-value');
      expect(exit).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect((await origin.call('GET', '/healthz')).status).toBe(200);
      expect((await muster(['backup', file], origin.env).ended).exit).toBe(5);
    },
    4 * MINUTES,
  );

  test(
    'a disk that is too small is said, nothing is left on it, and the stack goes on',
    async () => {
      // Without root no small disk can be mounted: then a limit for the size of a file stands in for it.
      const isRoot = process.getuid?.() === 0;
      const small = folder('small');
      await mkdir(small);
      if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=755', 'small', small]);
      try {
        const limited = ['-c', `${isRoot ? '' : 'ulimit -f 16; '}exec "$0" "$@"`, process.execPath];
        const child = spawn('/bin/sh', [...limited, join(ROOT, 'cli', 'main.ts'), 'backup', join(small, 'backup')], {
          env: origin.env,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
        expect(said).toContain(`The backup ${join(small, 'backup')} cannot be written: `);
        expect(said).toContain(isRoot ? 'the disk is full' : 'the file may not be that large');
        expect(code).toBe(1);
        expect(readdirSync(small)).toEqual([]);
        await isWell(origin.dataDir);
        expect((await origin.call('PUT', '/v3/components/b1', { id: 'b1', enabled: false })).status).toBe(200);
      } finally {
        if (isRoot) execFileSync('umount', [small]);
      }
    },
    4 * MINUTES,
  );

  test(
    'it is not restored over a stack, over data, or when it is damaged, and nothing is changed then',
    async () => {
      const running = await muster(['restore', file], origin.env).ended;
      expect([running.exit, running.said]).toEqual([5, expect.stringContaining('A stack runs in')]);
      await mkdir(folder('full'));
      writeFileSync(join(folder('full'), 'mine'), 'x');
      const full = await muster(['restore', file], await beside(folder('full'))).ended;
      expect([full.exit, full.said]).toEqual([5, expect.stringContaining('it holds mine')]);
      expect(readdirSync(folder('full'))).toContain('mine');
      const bytes = readFileSync(file);
      bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
      writeFileSync(folder('damaged'), bytes);
      await mkdir(folder('empty'));
      const damaged = await muster(['restore', folder('damaged')], await beside(folder('empty'))).ended;
      expect([damaged.exit, damaged.said]).toEqual([2, expect.stringContaining('is damaged')]);
      expect(readdirSync(folder('empty')).filter((name) => name !== 'logs')).toEqual([]);
    },
    4 * MINUTES,
  );

  test(
    'a restore that is killed counts for nothing, no stack begins there, and it can be done again',
    async () => {
      const env = await beside(folder('restored'));
      const killed = muster(['restore', file], env);
      await eventually(
        'its database runs',
        async () => existsSync(join(folder('restored'), 'restore.unfinished', 'postgres', 'postmaster.pid')),
        240_000,
      );
      killed.child.kill('SIGKILL');
      await killed.ended;
      const started = await startStack({ dataDir: folder('restored'), env });
      expect(started).toMatchObject({
        outcome: 'failed',
        message: expect.stringContaining('A restore was broken off'),
      });
      const { exit, said } = await muster(['restore', file], env).ended;
      expect(said).toContain(`the original answers at ${origin.url}`);
      expect(said).toContain('ended as unknown: at-work');
      expect(exit).toBe(0);
      expect(readdirSync(folder('restored'))).not.toContain('restore.unfinished');
      expect(readFileSync(join(folder('restored'), 'host-id'), 'utf8')).not.toBe(
        readFileSync(join(origin.dataDir, 'host-id'), 'utf8'),
      );
    },
    4 * MINUTES,
  );

  test(
    'the restored stack has the records, reads its secrets, and goes on; the original does too',
    async () => {
      const env = await beside(folder('restored'));
      const result = await startStack({ dataDir: folder('restored'), env });
      expect(result).toMatchObject({ outcome: 'started' });
      const paths = [
        '/v3/configurations',
        '/v3/components/b2?state_details=true',
        '/v3/options',
        '/api/v1/secrets',
        '/v3/sessions/done',
      ];
      for (const path of paths) {
        const [there, here] = [await origin.call('GET', path), await call(env, 'GET', path)];
        const text = JSON.stringify(there.body).replaceAll(origin.url, `http://127.0.0.1:${env.MUSTER_API_PORT}`);
        expect(here.body).toEqual(JSON.parse(text));
      }
      const lost = (await call(env, 'GET', '/v3/sessions/at-work')).body.status.session;
      expect(lost).toMatchObject({ status: 'complete', succeeded: 'unknown' });
      expect(lost.message).toContain('at work when the backup was taken');
      expect((await call(env, 'PUT', '/api/v1/secrets/site/key', { value: 'other' })).status).toBe(204);
      const session = { name: 'after', configuration_name: 'quick', ansible_limit: 'b1' };
      expect((await call(env, 'POST', '/v3/sessions', session)).status).toBe(201);
      await eventually(
        'a new session works there',
        async () => (await call(env, 'GET', '/v3/sessions/after')).body.status.session.succeeded === 'true',
        240_000,
      );
      const begun = new Date().toISOString();
      await eventually(
        'its schedule and its batcher work by themselves',
        async () => {
          const { sessions } = (await call(env, 'GET', '/api/v1/sessions?limit=100')).body;
          const { batcher } = (await call(env, 'GET', '/api/v1/status')).body;
          const scheduled = sessions.some((each: { name: string; start_time?: string }) =>
            each.name.startsWith('min-'),
          );
          return scheduled && batcher.last_pass_at > begun;
        },
        240_000,
      );
      expect((await origin.session('at-work')).status.session.status).toBe('running');
      writeFileSync(folder('go'), '');
      expect((await origin.untilComplete('at-work')).status.session.succeeded).toBe('true');
      await isWell(folder('restored'));
    },
    4 * MINUTES,
  );

  test(
    'a stack that stands is saved too',
    async () => {
      await stopStack({ dataDir: folder('restored'), keepRuns: true });
      const env = await beside(folder('restored'));
      const saved = await muster(['backup', folder('second')], env).ended;
      expect([saved.exit, saved.said]).toEqual([
        0,
        expect.stringContaining('its Postgres is started for the backup alone'),
      ]);
      const restored = await muster(['restore', folder('second')], await beside(folder('again'))).ended;
      expect(restored.exit).toBe(0);
    },
    4 * MINUTES,
  );
});
