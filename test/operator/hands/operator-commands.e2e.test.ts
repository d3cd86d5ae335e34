/** `muster operator ...` of people, through the API's routes alone. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRun } from '../../../control/runs/open-run.ts';
import { runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../../domain/operator/resource-words.ts';
import { appendOutput } from '../../../store/runs/streams.ts';
import { cli, startCli } from '../../support/stack/command-line.ts';
import { createTokenApi, type TokenApi } from '../../support/stack/token-api.ts';
import { addOperator, addWidget, begin, end } from './fixtures.ts';

let api: TokenApi;
let url: string;
beforeAll(async () => {
  api = await createTokenApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await addOperator(api.deps.db, api.now.value);
});
afterAll(() => api.close());

const run = (...args: string[]) => cli(['operator', ...args], { url, token: api.tokens.admin });

/** A reconcile with output, open. */
async function logged(name: string) {
  const { db } = api.deps;
  const record = await begin(db, await addWidget(db, name, api.now.value), api.now.value);
  const runId = runIdOfReconcile(record.id);
  const owner = { kind: RECONCILE_KIND, id: record.id };
  const place = { streamId: runId, layer: 0, attempt: 1 };
  await openRun(db, { id: runId, sessionId: null, owner, ...place, host: 'disk-1' }, api.now.value);
  await appendOutput(db, { ...place, runId }, 0, 'PLAY [localhost]\n');
  return record;
}

describe('operator', () => {
  test('watches, list and get show what is there', async () => {
    await addWidget(api.deps.db, 'one', api.now.value);
    expect((await run('watches')).out).toMatch(/demo +demo\.io\/v1 Widget +starting +4 +demo\.io\/finalizer/);
    expect((await run('list', '--kind', 'widget', '--phase', 'queued', '-o', 'name')).out).toBe('ns/one\n');
    const shown = (await run('get', 'Widget', 'ns/one')).out;
    expect(shown).toMatch(/phase +queued/);
    expect(shown).toMatch(/causes +1\n {2}\d{4}-\S+Z {2}created\n$/);
    expect(JSON.parse((await run('get', 'widget', 'one', '-o', 'json')).out)).toMatchObject({
      ...{ name: 'one', causes: [{ type: 'created' }] },
    });
  });

  test('is a part of what status shows', async () => {
    const { out } = await cli(['status'], { url, token: api.tokens.admin });
    expect(out).toMatch(/operator demo +not available +1\.2\.3 +no process of it watches/);
    expect(out).toMatch(/operators +1 at work, /);
  });

  test('reconcile, pause, resume and cancel say what follows; a dry run changes nothing', async () => {
    const id = await addWidget(api.deps.db, 'two', api.now.value, { cause: null });
    const dry = await run('reconcile', 'Widget', 'ns/two', '--dry-run=request');
    expect(dry.out).toBe(`POST ${url}/api/v1/operator/resources/${id}/reconcile\n`);
    expect((await run('get', 'Widget', 'two')).out).toMatch(/phase +waiting/);
    expect((await run('reconcile', 'Widget', 'two')).err).toBe('Widget ns/two is to reconcile now\n');
    expect((await run('pause', 'Widget', 'two', '--until', '2126-01-01T00:00:00Z')).err).toContain(
      'is paused until 2126',
    );
    const refused = await run('reconcile', 'Widget', 'two');
    expect([refused.exit, refused.err]).toEqual([5, expect.stringContaining('operator_paused')]);
    expect((await run('resume', 'Widget', 'two')).err).toBe('Widget ns/two runs again\n');
    expect((await run('cancel', 'Widget', 'two')).err).toBe('Widget ns/two waits for nothing now\n');
    const none = await run('cancel', 'Widget', 'two');
    expect([none.exit, none.err]).toEqual([3, expect.stringContaining('operator_reconcile_not_found')]);
    expect((await run('reconciles', 'Widget', 'two')).out).toMatch(/manual by \S+ +cancelled/);
  });

  test('logs shows the newest reconcile, and -f goes on until the record has ended', async () => {
    const { db } = api.deps;
    const record = await logged('three');
    expect((await run('logs', 'Widget', 'three')).out).toBe('PLAY [localhost]\n');
    const followed = startCli(['operator', 'logs', '-f', 'Widget', 'ns/three'], { url, token: api.tokens.reader });
    await end(db, record, 'failed', api.now.value, ['boom']);
    expect(await followed.ended).toBe(1);
    expect(followed.out()).toBe('PLAY [localhost]\n');
    expect(followed.err()).toContain(`reconcile ${record.id} ended: failed\n  boom\n`);
    expect((await run('reconcile-get', record.id)).out).toMatch(/cause +created[\s\S]*outcome +failed[\s\S]*boom/);
  });

  test('cancel takes the id of a reconcile as well, as the refusal of `run end` names it', async () => {
    const record = await logged('four');
    expect((await run('cancel', record.id)).err).toBe('Widget ns/four is being cancelled\n');
    await end(api.deps.db, record, 'cancelled', api.now.value);
    const over = await run('cancel', record.id);
    expect([over.exit, over.err]).toEqual([3, expect.stringContaining('is over')]);
  });

  test('drain names what it did', async () => {
    expect((await run('drain', '--dry-run=request')).out).toContain('"run": false');
    expect((await run('drain', '--run')).err).toMatch(/^\d+ resources of operator demo lose their finalizer\n$/);
  });

  test.each<[string, string[], number, string]>([
    ['a resource that is not there', ['get', 'Widget', 'none'], 3, 'operator_resource_not_found'],
    ['a name that is none', ['get', 'Widget', 'a/b/c'], 2, 'usage'],
    ['an operator that is not there', ['list', '--operator', 'none'], 3, 'operator_not_known'],
    ['a phase that is none', ['list', '--phase', 'asleep'], 2, 'bad_request'],
    ['a reconcile that is not there', ['reconcile-get', 'none'], 3, 'operator_reconcile_not_found'],
    ['a resource without a reconcile', ['logs', 'Widget', 'one'], 3, 'operator_reconcile_not_found'],
  ])('says what is wrong with %s', async (_, args, exit, code) => {
    const refused = await run(...args);
    expect([refused.exit, refused.err]).toEqual([exit, expect.stringContaining(code)]);
  });
});
