/** `muster deployment apply|list|get|delete` against an API; what workers would do is done here. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endRemovalOf } from '../../control/deployments/remove-deployment.ts';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { eventually } from '../support/eventually.ts';
import { cli } from '../support/stack/command-line.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { MANIFESTS, SECRET_MANIFEST } from './placement-fixtures.ts';
import { documentOf, makeClusters } from './short-fixtures.ts';

let api: TokenApi;
let url: string;
const dir = mkdtempSync(join(tmpdir(), 'muster-deployment-files-'));
const fileOf = (name: string, body: unknown) => {
  const path = join(dir, name);
  writeFileSync(path, typeof body === 'string' ? body : JSON.stringify(body));
  return path;
};

beforeAll(async () => {
  api = await createTokenApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await makeClusters((...request) => api.as(api.tokens.admin, ...request), 'files', {
    north: ['edge'],
    south: ['edge'],
  });
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await api.close();
});

const run = (args: string[], { stdin = '', token = api.tokens.operator } = {}) =>
  cli(['deployment', ...args], { url, stdin, token });
const engine = () => ({ db: api.database.db, clock: () => new Date() });
/** Waits for an AppContext that wants this phase, and has all of its resources end in a status. */
const finish = async (phase: 'apply' | 'delete', status: 'Applied' | 'Deleted' | 'Failed') => {
  const { db } = api.database;
  const wanted = () => db.selectFrom('deployment_contexts').select('id').where('wanted', '=', phase).executeTakeFirst();
  const { id } = await eventually(`a context that wants ${phase}`, wanted);
  await beginPhase(engine(), id);
  await db
    .updateTable('context_resources')
    .set({ status, attempted: true })
    .where('context', '=', id)
    .where('status', '!=', 'Deleted')
    .execute();
  await finishPhase(engine(), id, phase);
  await endRemovalOf(engine(), id);
};

describe('deployment', () => {
  test('apply makes what files say and waits; list and get show it; delete takes it away', async () => {
    const file = fileOf('one.json', documentOf('one', 'files'));
    const applying = run(['apply', '-f', file, '--wait']);
    await finish('apply', 'Applied');
    expect(await applying).toMatchObject({
      exit: 0,
      err: 'deployment one Instantiated, AppContext Instantiating\ndeployment one: Instantiated, 4 Applied\n',
    });
    expect((await run(['apply', '-f', '-'], { stdin: JSON.stringify(documentOf('one', 'files')) })).err).toBe(
      'deployment one Instantiated, AppContext Instantiated\n',
    );
    expect((await run(['list', '-o', 'name'])).out).toBe('one\n');
    const [, row] = (await run(['list', '-o', 'tsv'])).out.split('\n');
    expect(row?.split('\t').slice(0, 4)).toEqual(['one', 'Instantiated', 'Instantiated', '4 Applied']);
    expect(JSON.parse((await run(['get', 'one', '-o', 'json'])).out)).toMatchObject([{ name: 'one', ready: false }]);
    expect((await run(['status', 'one'])).out).toContain('one  Instantiated  AppContext Instantiated');

    const deleting = run(['delete', 'one', '--wait']);
    await finish('delete', 'Deleted');
    expect(await deleting).toMatchObject({
      exit: 0,
      err: 'deployment one is being removed\ndeployment one removed\n',
    });
    expect((await run(['get', 'one'])).exit).toBe(3);
  });

  test('apply packs folders as apps, also of several documents, and shows no manifest in a dry run', async () => {
    const folder = join(dir, 'agent');
    mkdirSync(join(folder, 'deep'), { recursive: true });
    writeFileSync(join(folder, 'deep', 'b.yml'), SECRET_MANIFEST);
    writeFileSync(join(folder, 'a.yaml'), MANIFESTS);
    writeFileSync(join(folder, 'notes.txt'), 'a: [');
    const placement = '{all_of: [{provider: files, cluster: north}]}';
    const file = fileOf(
      'two.yaml',
      `name: two\ninstantiate: false\napps:\n  - {name: agent, placement: ${placement}}\n---\nname: three\ninstantiate: false\napps:\n  - {name: other, placement: ${placement}}\n`,
    );
    const chart = join(dir, 'chart');
    mkdirSync(join(chart, 'templates'), { recursive: true });
    for (const name of ['Chart.yaml', 'templates/a.yaml']) writeFileSync(join(chart, name), MANIFESTS);
    expect(await run(['apply', '-f', file, '--manifests', `agent=${chart}`])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('Helm chart'),
    });
    const args = ['apply', '-f', file, '--manifests', folder, '--manifests', `other=${folder}`];
    const dry = await run([...args, '--dry-run=request']);
    expect(dry.exit).toBe(0);
    expect(dry.out + dry.err).not.toContain('hunter7');
    expect((await run(['get', 'two'])).exit).toBe(3);
    expect(await run([...args, '--dry-run'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('rehearsal_unsupported'),
    });
    expect(await run(args)).toMatchObject({ exit: 0, err: 'deployment two Approved\ndeployment three Approved\n' });
    const kinds = await api.database.db
      .selectFrom('app_manifests')
      .select('key')
      .where('app', 'like', '%/three/v1/apps/other')
      .orderBy('number')
      .execute();
    expect(kinds.map(({ key }) => key)).toEqual(['keys+Secret', 'cfg+ConfigMap', 'agent+Service']);
    expect(await run(['delete', 'two', 'three'])).toMatchObject({
      exit: 0,
      err: 'deployment two removed\ndeployment three removed\n',
    });
  });

  test('apply and delete tell by their exit status what failed, and what has not ended in time', async () => {
    const file = fileOf('four.json', documentOf('four', 'files'));
    const late = await run(['apply', '-f', file, '--wait', '--timeout', '1']);
    expect([late.exit, late.err]).toEqual([6, expect.stringContaining('timed_out')]);
    const applying = run(['apply', '-f', file, '--wait']);
    await finish('apply', 'Failed');
    expect(await applying).toMatchObject({ exit: 1, err: expect.stringContaining('InstantiateFailed, 4 Failed') });
    const slow = await run(['delete', 'four', '--wait', '--timeout', '1']);
    expect([slow.exit, slow.err]).toEqual([6, expect.stringContaining('timed_out')]);
    const deleting = run(['delete', 'four', '--wait']);
    await finish('delete', 'Failed');
    expect(await deleting).toMatchObject({
      exit: 1,
      err: expect.stringContaining('not removed: TerminateFailed, 4 Failed'),
    });
    expect(await run(['delete', 'four', '--wait'])).toMatchObject({ exit: 0, err: 'deployment four removed\n' });
  });

  test('events lists what happened, the last of it, and follows until the end', async () => {
    const file = fileOf('five.json', documentOf('five', 'files'));
    expect((await run(['apply', '-f', file])).exit).toBe(0);
    await finish('apply', 'Applied');
    const rows = async (...more: string[]) =>
      (await run(['events', 'five', '-o', 'tsv', ...more])).out.replace(/\n$/, '').split('\n');
    const [, ...all] = await rows();
    expect(all.map((line) => line.split('\t').slice(1, 5).join(' ').trim())).toEqual([
      'state   Instantiated',
      'status  Instantiating Instantiated',
    ]);
    expect((await rows('--tail', '1')).slice(1)).toEqual(all.slice(-1));
    expect((await rows('--limit', '1')).slice(1)).toEqual(all.slice(0, 1));
    const following = run(['events', 'five', '--follow']);
    expect((await run(['terminate', 'five'])).exit).toBe(0);
    await finish('delete', 'Deleted');
    const followed = await following;
    expect([followed.exit, followed.err]).toEqual([0, 'the AppContext is Terminated\n']);
    expect(followed.out).toContain('agent files+north cfg+ConfigMap  Applied  Pending');
    expect(followed.out.trimEnd().split('\n').at(-1)).toContain('status  Terminating  Terminated');
    expect(await run(['events', 'nosuch'])).toMatchObject({ exit: 3, err: expect.stringContaining('not_found') });
    expect(await run(['events', 'five', '--instance', '9'])).toMatchObject({ exit: 3 });
    expect(await run(['delete', 'five'])).toMatchObject({ exit: 0, err: 'deployment five removed\n' });
  });

  const apps = [{ name: 'a', placement: { all_of: [{ provider: 'files', cluster: 'north' }] } }];
  test.each<[string, unknown, string[], number, string]>([
    ['a file without a name', { apps }, [], 2, 'usage'],
    ['an empty file', '', [], 2, 'usage'],
    ['an app without manifests', { name: 'x', apps }, [], 2, 'bad_request'],
    ['a folder that is not there', { name: 'x', apps }, ['--manifests', join(dir, 'absent')], 2, 'usage'],
    ['a folder of no app', { name: 'x', apps }, ['--manifests', `b=${dir}`], 2, 'usage'],
    ['a time limit without a wait', { name: 'x', apps }, ['--timeout', '3'], 2, 'usage'],
    ['what is not built', documentOf('x', 'files', { muster: { force_conflicts: false } }), [], 2, 'not_supported'],
    ['a cluster that is not there', documentOf('x', 'nowhere'), [], 2, 'no_clusters'],
  ])('apply says what is wrong with %s', async (_what, body, more, exit, code) => {
    const refused = await run(['apply', '-f', fileOf('wrong.yaml', body), ...more]);
    expect([refused.exit, refused.err]).toEqual([exit, expect.stringContaining(code)]);
    expect((await run(['get', 'x'])).exit).toBe(3);
  });

  test('readers look, and change nothing', async () => {
    const asReader = (args: string[]) => run(args, { token: api.tokens.reader });
    const file = fileOf('reader.json', documentOf('reader', 'files'));
    expect((await asReader(['apply', '-f', file])).exit).toBe(4);
    expect((await asReader(['delete', 'reader'])).exit).toBe(4);
    expect((await asReader(['list'])).exit).toBe(0);
  });
});
