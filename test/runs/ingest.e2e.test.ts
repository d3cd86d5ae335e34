import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { issueRunToken } from '../../control/runs/issue-run-token.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { eventually } from '../support/eventually.ts';
import { answer, startFakeApi } from '../support/fakes/fake-api.ts';
import { freePort } from '../support/free-port.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const COUNT = 4_000;
const ROOT = join(import.meta.dirname, '..', '..');

const line = (index: number) =>
  `${JSON.stringify({ time: '2026-11-21T10:00:00.000Z', type: 'host_result', host: 'n1', task: 't', result: 'ok', index })}\n`;

describeNeeding(stackMissing(), 'the port for runs that are executed elsewhere', () => {
  let stack: MusterStack;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    stack = await startMusterStack({ MUSTER_INGEST_PORT: String(port) });
    const repository = await stack.repository('remote');
    await repository.commit({ 'site.yml': '- hosts: all\n  gather_facts: false\n  tasks: []\n' });
    await stack.configure('remote', repository.url, ['site.yml'], ['n1']);
    await stack.call('PATCH', '/v3/options', { max_running_sessions: 1 });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
  });

  /** A run of the session on record, as whoever starts runs elsewhere leaves it. */
  async function remoteRun(sessionId: string): Promise<{ id: string; token: string }> {
    const db = openDatabase({ url: await stack.databaseUrl(), name: 'test' });
    try {
      const id = `${sessionId}-9-0`;
      await ensureRun(db, { id, sessionId, streamId: sessionId, layer: 0, attempt: 9, host: randomUUID() }, new Date());
      return { id, token: await issueRunToken(db, id, new Date()) };
    } finally {
      await db.destroy();
    }
  }

  test('what a runner sends is in the session, each line once, although the API is killed meanwhile', async () => {
    await stack.create('remote', 'remote', { ansible_limit: 'n1' });
    const { id } = await stack.untilComplete('remote');
    const run = await remoteRun(id);
    const send = async (method: string, path: string, body?: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${run.token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      return { status: response.status, body: (await response.json()) as { lines: number; state: string } };
    };
    /** Goes on from where the server is, however often it has to begin again. */
    const position = () =>
      eventually(
        'the port answers',
        async () => {
          const got = await send('GET', `/runs/${run.id}`).catch(() => null);
          return got?.status === 200 ? got : null;
        },
        240_000,
      );
    let kills = 0;
    for (let next = 1; next <= COUNT; ) {
      const part = Array.from({ length: Math.min(100, COUNT - next + 1) }, (_, index) => line(next + index)).join('');
      if (kills < 2 && next > (kills + 1) * 1_000) {
        kills += 1;
        await stack.kill('api');
      }
      await send('POST', `/runs/${run.id}/events?first_line=${next}`, part).catch(() => null);
      next = (await position()).body.lines + 1;
    }
    expect(kills).toBe(2);
    const end = { code: 0, signal: null, ended_at: '2026-11-21T10:00:00.000Z' };
    expect(await send('PUT', `/runs/${run.id}/exit`, JSON.stringify(end))).toMatchObject({
      body: { state: 'ended', lines: COUNT },
    });
    const rows = await stack.sql<{ lines: string; first: string; last: string }>(
      'select count(distinct line) as lines, min(line) as first, max(line) as last from events where run_id = $1',
      [run.id],
    );
    expect(rows[0]).toEqual({ lines: String(COUNT), first: '1', last: String(COUNT) });
    const page = await stack.call('GET', '/api/v1/sessions/remote/events?limit=500');
    expect(page.body.events.some(({ attempt }: { attempt: number }) => attempt === 9)).toBe(true);
  }, 600_000);

  test('the port serves no API', async () => {
    for (const path of ['/', '/v3/options', '/healthz', '/api/v1/status']) {
      expect([path, (await fetch(`http://127.0.0.1:${port}${path}`)).status]).toEqual([path, 401]);
    }
    expect((await stack.call('GET', '/runs/x')).status).toBe(404);
  });

  test('muster import as a process: the token comes from the environment', async () => {
    const cfs = await startFakeApi();
    const layers = [
      { clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', branch: 'main', commit: 'a'.repeat(40) },
    ];
    cfs.on('GET /apis/cfs/v3/options', (_, response) => answer(response, 200, { batch_size: 20 }));
    cfs.on('GET /apis/cfs/v3/sources', (_, response) => answer(response, 200, { sources: [], next: null }));
    cfs.on('GET /apis/cfs/v3/configurations', (_, response) =>
      answer(response, 200, {
        configurations: [{ name: 'imported', layers, last_updated: '2025-01-01T00:00:00Z' }],
        next: null,
      }),
    );
    cfs.on('GET /apis/cfs/v3/components', (_, response) =>
      answer(response, 200, { components: [{ id: 'imported', enabled: false, state: [], tags: {} }], next: null }),
    );
    try {
      const { stdout } = await promisify(execFile)(
        join(ROOT, 'muster'),
        ['import', '--from', `${cfs.url}/apis/cfs`, '--url', stack.url, '-o', 'tsv'],
        { env: { ...stack.env, MUSTER_IMPORT_TOKEN: 'token-of-the-other-cfs' } },
      );
      expect(stdout.split('\n')).toEqual([
        'kind\tname\toutcome\tdetail',
        'configurations\timported\tcreated\t',
        'options\tbatch_size\tchanged\t25 becomes 20',
        'components\timported\tcreated\t',
        '',
      ]);
      expect(cfs.seen.map(({ headers }) => headers.authorization)).toEqual(
        Array(4).fill('Bearer token-of-the-other-cfs'),
      );
      expect((await stack.call('GET', '/v3/configurations/imported')).body).toMatchObject({ layers });
    } finally {
      await cfs.close();
    }
  });
});
