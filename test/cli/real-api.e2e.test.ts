import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { announceStream, appendEvents, appendOutput } from '../../store/runs/streams.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const COMMIT = 'a'.repeat(40);
const COUNTS = { ok: 3, changed: 1, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
const CONFIGURATION = JSON.stringify({
  name: 'web',
  layers: [
    { name: 'base', playbook: 'site.yml' },
    { name: 'app', playbook: 'app.yml' },
  ],
});

let api: TestApi;
let url: string;

beforeEach(async () => {
  api = await createTestApi();
  api.refs.set('https://git.example.test/one.git main', COMMIT);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  const layers = ['--clone-url', 'https://git.example.test/one.git', '--branch', 'main'];
  expect((await run(['configuration', 'apply', '-f', '-', ...layers], CONFIGURATION)).err).toContain('stored (PUT)');
});
afterEach(() => api.close());

const run = (args: string[], stdin = '') => cli(args, { url, stdin });

/** The work of the engine, in one go: one layer on two hosts, one of which fails. */
async function endSession(name: string): Promise<void> {
  const { db } = api.database;
  const { id } = await db.selectFrom('sessions').select('id').where('name', '=', name).executeTakeFirstOrThrow();
  const runId = `${id}-1-0`;
  const place = { streamId: id, runId, layer: 0, attempt: 1 };
  const time = new Date();
  await db
    .insertInto('runs')
    .values({
      id: runId,
      session_id: id,
      stream_id: id,
      layer: 0,
      attempt: 1,
      host: 'h',
      state: 'ended',
      exit_code: 2,
      created_at: time,
    })
    .execute();
  const result = { task: 'Copy', play: 'all', changed: false };
  await appendEvents(db, place, [
    { time, type: 'host_result', host: 'web1', line: 1, data: { ...result, result: 'ok' } },
    {
      time,
      type: 'host_result',
      host: 'web2',
      line: 2,
      data: { ...result, result: 'failed', message: 'disk \u001b[2J full' },
    },
  ]);
  await appendOutput(db, place, 0, 'PLAY [all]\n');
  await insertHostResults(db, { runId, sessionId: id, layer: 0, attempt: 1 }, [
    { host: 'web1', status: 'applied', ...COUNTS },
    { host: 'web2', status: 'failed', ...COUNTS, failures: 1 },
  ]);
  await db
    .updateTable('sessions')
    .set({
      status: 'complete',
      succeeded: 'false',
      stage: 'ended',
      phase: 'done',
      message: 'layer 0 failed',
      completion_time: time,
    })
    .where('id', '=', id)
    .execute();
  await announceStream(db, id);
}

describe('with the real API', () => {
  test('a session is created, followed, shown, retried and deleted', async () => {
    const command = startCli(['session', 'run', 's1', '--configuration', 'web', '--layers', 'base'], { url });
    await command.says('place 1 in the queue: waiting for a session slot');
    await endSession('s1');
    expect(await command.ended).toBe(1);
    expect(command.out()).toBe(
      'HOST  LAYERS  OK  CHANGED  FAILED  UNREACHABLE  RESULT\n' +
        'web2  1       3   1        1       0            failed\n' +
        'web1  1       3   1        0       0            applied\n',
    );
    expect(command.err()).toContain('failed: web2: Copy: disk \\x1b[2J full\n');
    expect(command.err()).toContain('session s1 failed: layer 0 failed\n');

    expect((await run(['session', 'list', '--status', 'complete', '-o', 'name'])).out).toBe('s1\n');
    const shown = (await run(['session', 'get', 's1'])).out;
    expect(shown).toMatch(/^hosts +1 applied, 1 failed, 0 incomplete$/m);
    expect(shown).toMatch(/^1\/1 +base +site\.yml +a{12} +ended +2 +https:/m);
    expect((await run(['session', 'logs', 's1'])).out).toBe('PLAY [all]\n');
    expect((await run(['session', 'logs', '-f', 's1'])).out).toBe('PLAY [all]\n');
    expect((await run(['session', 'logs', 's1', '--grep', 'play'])).out).toBe('1:PLAY [all]\n');
    expect((await run(['session', 'logs', 's1', '--grep', 'PLAY', '--layer', '0'])).out).toBe('1:PLAY [all]\n');
    expect(await run(['session', 'logs', 's1', '--grep', 'none'])).toEqual({
      exit: 0,
      out: '',
      err: "no line has the text 'none'\n",
    });
    expect((await run(['session', 'logs', 's1', '--failures'])).err).toBe('no line says that something failed\n');
    expect((await run(['session', 'logs', 's1', '--since-line', '1'])).out).toBe('PLAY [all]\n');
    expect((await run(['session', 'logs', 's1', '--since-line', '9'])).err).toBe('there is no line 9: the last is 1\n');
    expect((await run(['session', 'logs', 's1', '-f', '--grep', 'none'])).exit).toBe(2);
    const failed = await run(['session', 'events', 's1', '--result', 'failed', '-o', 'jsonl']);
    expect(JSON.parse(failed.out)).toMatchObject({ host: 'web2', type: 'host_result' });

    const retried = await run(['session', 'retry', 's1', '--hosts', 'failed', '--as', 's2']);
    expect([retried.exit, retried.out]).toEqual([0, 's2\n']);
    expect((await run(['session', 'get', 's2'])).out).toMatch(/^limit +web2$/m);
    expect((await run(['session', 'cancel', 's2', '--reason', 'enough'])).exit).toBe(0);
    expect((await run(['session', 'get', 's2'])).out).toMatch(/^cancelled +cancelled: enough$/m);
    expect((await run(['session', 'cancel', 's1'])).exit).toBe(5);
    expect((await run(['session', 'finish-debug', 's1'])).exit).toBe(5);
    expect((await run(['session', 'delete', 's1'])).exit).toBe(0);
    expect((await run(['session', 'get', 's1'])).exit).toBe(3);
  });

  test('a session that is deleted while it is followed is not found', async () => {
    const command = startCli(['session', 'run', 's1', '--configuration', 'web'], { url });
    await command.says('waiting for a session slot');
    await run(['session', 'delete', 's1']);
    expect(await command.ended).toBe(3);
  });

  test('refusals carry their exit status', async () => {
    expect((await run(['session', 'run', 's1', '--configuration', 'nothing'])).exit).toBe(3);
    expect((await run(['session', 'run', 'Bad Name', '--configuration', 'web'])).exit).toBe(2);
    await run(['session', 'run', 's1', '--configuration', 'web', '--detach']);
    expect((await run(['session', 'run', 's1', '--configuration', 'web'])).exit).toBe(5);
    expect((await run(['session', 'retry', 's1'])).exit).toBe(5);
    expect((await run(['component', 'get', 'nobody'])).exit).toBe(3);
    expect((await run(['option', 'set', 'batch_size=0'])).exit).toBe(2);
    expect((await run(['session', 'list', '--min-age', 'old'])).exit).toBe(2);
  });

  test('components are created, changed, shown and applied again as they are shown', async () => {
    const components = Array.from({ length: 1500 }, (_, index) => ({
      id: `n${String(index).padStart(4, '0')}`,
      desired_config: 'web',
      tags: { role: index % 2 ? 'a' : 'b' },
    }));
    const applied = await run(['component', 'apply', '-f', '-'], JSON.stringify(components));
    expect(applied.err).toBe('1500 components created (PUT)\n');
    const listed = (await run(['component', 'list', '--tag', 'role=a', '-o', 'name'])).out.trim().split('\n');
    expect(listed).toHaveLength(750);
    const all = (await run(['component', 'list', '-o', 'json'])).out;
    expect((await run(['component', 'apply', '-f', '-'], all)).err).toContain(
      '0 changed: 1500 components as in the file\n',
    );
    expect((await run(['component', 'get', 'n0000'])).out).toMatch(/^base +pending +a{12} +https:/m);
    expect((await run(['configuration', 'delete', 'web'])).exit).toBe(5);
  });

  test('configurations, sources, options and secrets are stored as given', async () => {
    const shown = await run(['configuration', 'get', 'web', '-o', 'yaml']);
    expect((await run(['configuration', 'apply', '-f', '-', '-o', 'name'], shown.out)).out).toBe('web\n');
    expect((await run(['configuration', 'get', 'web'])).out).toMatch(
      /^1\/2 +base +https:\S+ +site\.yml +a{12} +main$/m,
    );

    const source = { clone_url: 'https://git.example.test/two.git', credentials: { username: 'u', password: 'p' } };
    expect((await run(['source', 'apply', '-f', '-'], JSON.stringify(source))).err).toContain('created (POST)');
    expect((await run(['source', 'apply', '-f', '-'], JSON.stringify(source))).err).toContain('changed (PATCH)');
    expect((await run(['source', 'get', source.clone_url])).out).toMatch(
      /^url +https:\/\/git\.example\.test\/two\.git$/m,
    );
    expect((await run(['source', 'delete', source.clone_url])).exit).toBe(0);

    expect((await run(['option', 'set', 'batch_size=7', 'session_ttl=1d', '-o', 'tsv'])).out).toBe(
      'option\tvalue\nbatch_size\t7\nsession_ttl\t1d\n',
    );
    expect((await run(['secret', 'set', 'vcs-user-credentials', 'vcs_password'], 'hunter2\n')).exit).toBe(0);
    expect((await run(['secret', 'set', 'Bad_Name', 'k'], 'x')).exit).toBe(2);
    expect(await api.deps.secrets.get('vcs-user-credentials')).toEqual({ vcs_password: 'hunter2' });
  });

  test('status', async () => {
    const { exit, out } = await run(['status']);
    expect(exit).toBe(0);
    expect(out).toMatch(/^sessions +0 pending, 0 running, 0 complete$/m);
  });
});
