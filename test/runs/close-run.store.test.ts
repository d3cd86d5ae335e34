/** The end of a run that came to no statistics: what its hosts reached is made from its stored events. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closeRun } from '../../control/runs/follow-run.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { takeExit } from '../../control/runs/take-exit.ts';
import { takeResults } from '../../control/runs/take-results.ts';
import { endSession } from '../../control/sessions/end-session.ts';
import { describeHosts, listHosts } from '../../control/sessions/read-hosts.ts';
import { runOutcome } from '../../control/sessions/run-outcome.ts';
import { countHostsByStatus, readFailures, readHostsNotApplied } from '../../store/runs/host-result-reads.ts';
import { unsuccessfulHosts } from '../../store/runs/host-results.ts';
import { deleteRuns } from '../../store/runs/runs.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import { addOutput, setSession } from '../sessions/session-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

interface Event {
  type?: string;
  host?: string;
  [member: string]: unknown;
}

/** A run of a session of its own with these events. */
async function runWith(events: Event[], { attempt = 1, of }: { attempt?: number; of?: string } = {}) {
  const { db } = database;
  const sessionId = of ?? (await makeSession(db)).id;
  const place = { sessionId, streamId: sessionId, layer: 0, attempt };
  const run = await openRun(db, { id: `${sessionId}-${attempt}-0`, host: 'disk', ...place }, new Date());
  await appendEvents(
    db,
    { runId: run.id, ...place },
    events.map(({ type = 'host_result', host = null, ...data }, index) => ({
      time: new Date(),
      type,
      host,
      line: index + 1,
      data,
    })),
  );
  return { sessionId, run };
}

const exit = (code: number) => ({ exit: { code, signal: null, ended_at: '' }, results: null, warnings: [] });
const lost = { exit: null, results: null, warnings: [] };
const targets = (...hosts: string[]): Event => ({ type: 'targets', hosts });
const ran = (host: string, result: string, more = {}): Event => ({ host, task: 't', result, ...more });
const table = async (sessionId: string) => {
  const { hosts } = await listHosts(database.db, sessionId, { after: '', limit: 100, byResult: true });
  return hosts.map(({ host, result }) => [host, result]);
};

const EVENTS: Event[] = [
  targets('fine', 'bad', 'gone', 'saved', 'ignored', 'never'),
  ran('fine', 'changed'),
  ran('fine', 'ok'),
  ran('fine', 'skipped'),
  ran('bad', 'ok'),
  ran('bad', 'failed', { reason: 'rc 2: no such file', file: 'site.yml:7' }),
  ran('gone', 'unreachable', { reason: 'Connection refused' }),
  ran('saved', 'rescued'),
  ran('ignored', 'ignored', { changed: true }),
];

test.each([
  ['ansible-playbook refused the next play', exit(4)],
  ['it was killed', exit(137)],
  ['it was cancelled', exit(143)],
  ['the run was lost', lost],
])('hosts have what their tasks say when %s', async (_title, end) => {
  const { db } = database;
  const { sessionId, run } = await runWith(EVENTS);
  expect((await describeHosts(db, sessionId, ['fine']))[0]?.result).toBe('running');
  await closeRun(db, run, end, new Date());
  expect(await table(sessionId)).toEqual([
    ['bad', 'failed'],
    ['gone', 'failed'],
    ['fine', 'incomplete'],
    ['ignored', 'incomplete'],
    ['saved', 'incomplete'],
    ['never', 'not_reached'],
  ]);
  const [fine, bad, ignored, never] = await describeHosts(db, sessionId, ['fine', 'bad', 'ignored', 'never']);
  expect(fine?.layers[0]).toMatchObject({ ok: 2, changed: 1, skipped: 1, failures: 0, message: null });
  expect(bad?.layers[0]).toMatchObject({ ok: 1, failures: 1, message: 't: rc 2: no such file (site.yml:7)' });
  expect(ignored?.layers[0]).toMatchObject({ ok: 1, changed: 1, ignored: 1, failures: 0 });
  expect(never?.layers[0]).toMatchObject({ ok: 0, failures: 0, status: 'not_reached', recorded: false });
  expect(await countHostsByStatus(db, sessionId)).toEqual({ applied: 0, failed: 2, incomplete: 3, not_reached: 1 });
  expect((await readHostsNotApplied(db, sessionId)).map(({ host }) => host)).toHaveLength(6);
  expect(await runOutcome(db, run.id)).toEqual({
    exitCode: end.exit?.code ?? null,
    hosts: 5,
    failedHosts: 2,
    brokeOff: true,
    why: 't: rc 2: no such file (site.yml:7)',
    tally: { hosts: 6, failed: 2, incomplete: 3, notReached: 1, failedNames: ['bad', 'gone'] },
  });
  await closeRun(db, run, exit(0), new Date());
  expect(await table(sessionId)).toHaveLength(6);
});

test('the hosts of a playbook that ended well are done, whatever tasks it had for them', async () => {
  const { sessionId, run } = await runWith([targets('a', 'b'), ran('a', 'ok')]);
  await closeRun(database.db, run, exit(0), new Date());
  expect(await table(sessionId)).toEqual([['a', 'incomplete']]);
});

test('statistics that are stored say more than the tasks', async () => {
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const stats = { type: 'stats', broken_off: false, hosts: { a: counts, b: { ...counts, failures: 1 } } };
  const { sessionId, run } = await runWith([ran('a', 'ok'), ran('b', 'failed'), stats]);
  await closeRun(database.db, run, lost, new Date());
  expect(await table(sessionId)).toEqual([
    ['b', 'failed'],
    ['a', 'applied'],
  ]);
  expect(await runOutcome(database.db, run.id)).toMatchObject({ brokeOff: false });
});

test('results that were handed in count, from a pod too', async () => {
  const { db } = database;
  const { sessionId, run } = await runWith([targets('a', 'b', 'c'), ran('a', 'ok'), ran('b', 'failed')]);
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  await takeResults(db, run.id, {
    broken_off: false,
    hosts: { a: { status: 'applied', ...counts }, b: { status: 'failed', ...counts, failures: 1 } },
  });
  await takeExit({ db, clock: () => new Date() }, run.id, { code: 2, signal: null, ended_at: '' });
  expect(await table(sessionId)).toEqual([
    ['b', 'failed'],
    ['c', 'not_reached'],
    ['a', 'applied'],
  ]);
  expect(await runOutcome(db, run.id)).toMatchObject({ brokeOff: false, failedHosts: 1, why: 't: failed' });
});

test('a pod that says no more than its exit status leaves what its events say', async () => {
  const { sessionId, run } = await runWith(EVENTS);
  await takeExit({ db: database.db, clock: () => new Date() }, run.id, { code: 1, signal: null, ended_at: '' });
  expect(await table(sessionId)).toContainEqual(['bad', 'failed']);
  expect((await table(sessionId)).flat()).not.toContain('running');
});

test('hosts that failed alike are told together, the largest group first', async () => {
  const failed = (host: string, reason: string): Event =>
    ran(host, 'failed', { reason, task: 'Install', file: 'a.yml:3' });
  const { sessionId, run } = await runWith([
    failed('a', 'rc 1: other'),
    ...Array.from({ length: 12 }, (_, index) => failed(`n${10 + index}`, `n${10 + index} at 10.0.0.${index}: gone`)),
    ran('fine', 'ok'),
  ]);
  await closeRun(database.db, run, exit(2), new Date());
  const names = Array.from({ length: 10 }, (_, index) => `n${10 + index}`);
  expect(await readFailures(database.db, sessionId)).toEqual([
    { message: 'Install: n10 at 10.0.0.0: gone (a.yml:3)', count: 12, hosts: names },
    { message: 'Install: rc 1: other (a.yml:3)', count: 1, hosts: ['a'] },
  ]);
  expect((await runOutcome(database.db, run.id)).why).toBe('Install: n10 at 10.0.0.0: gone (a.yml:3)');
});

test("Ansible's own words are kept with the run and stand among its events", async () => {
  const { db } = database;
  const { sessionId, run } = await runWith([ran('a', 'ok')]);
  await addOutput(db, sessionId, 0, 0, 'ok: [a]\n[ERROR]: ');
  await addOutput(db, sessionId, 0, 17, "'g' is undefined\nOrigin: /w/layer0/site.yml:6:10\n");
  await closeRun(db, run, exit(4), new Date());
  expect(await runOutcome(db, run.id)).toMatchObject({
    why: "'g' is undefined (site.yml:6)",
    hosts: 1,
    failedHosts: 0,
  });
  const events = await db.selectFrom('events').select(['type', 'data']).where('stream_id', '=', sessionId).execute();
  expect(events.at(-1)).toEqual({ type: 'error', data: { message: "'g' is undefined (site.yml:6)" } });
});

test('a retry in place takes those that no task reached, and an attempt that comes to nobody takes no result away', async () => {
  const { db } = database;
  const { sessionId, run } = await runWith([targets('a', 'b', 'c'), ran('a', 'failed'), ran('b', 'ok')]);
  await closeRun(db, run, exit(4), new Date());
  const retry = { sessionId, layer: 0, before: 2 };
  expect(await unsuccessfulHosts(db, retry)).toEqual(['a', 'b', 'c']);
  const second = await runWith([targets('a', 'b', 'c'), ran('c', 'ok')], { attempt: 2, of: sessionId });
  await closeRun(db, second.run, exit(4), new Date());
  expect(await table(sessionId)).toEqual([
    ['a', 'failed'],
    ['b', 'incomplete'],
    ['c', 'incomplete'],
  ]);
});

test('a session whose end nobody brought to its runs records what their hosts reached', async () => {
  const { db } = database;
  const id = `w${randomUUID().slice(0, 8)}`;
  await db
    .insertInto('components')
    .values({
      id,
      desired_config: '',
      error_count: 0,
      retry_policy: null,
      enabled: false,
      tags: '{}',
      state: '[]',
      updated_at: new Date(0),
      actor: null,
    })
    .execute();
  const { sessionId } = await runWith([targets(id, 'later'), ran(id, 'changed')]);
  const client = { workflow: { getHandle: () => ({ signal: async () => undefined }) } } as never;
  const end = { succeeded: 'unknown', message: 'gone', reason: 'runner_gone' } as const;
  await Promise.all([1, 2].map(() => endSession({ db, client, clock: () => new Date() }, sessionId, end)));
  expect(await table(sessionId)).toEqual([
    [id, 'incomplete'],
    ['later', 'not_reached'],
  ]);
  const { state, error_count } = await db
    .selectFrom('components')
    .select(['state', 'error_count'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect([state.map(({ status }) => status), error_count]).toEqual([['incomplete'], 0]);
});

test('a complete session of an older release shows no host at work', async () => {
  const { db } = database;
  const { sessionId, run } = await runWith([ran('a', 'ok'), ran('b', 'failed')]);
  await db.updateTable('runs').set({ state: 'ended', exit_code: 4 }).where('id', '=', run.id).execute();
  await setSession(db, sessionId, { status: 'complete', stage: 'ended' });
  expect(await table(sessionId)).toEqual([
    ['b', 'failed'],
    ['a', 'incomplete'],
  ]);
  expect(await countHostsByStatus(db, sessionId)).toMatchObject({ failed: 1, incomplete: 1 });
  expect((await readHostsNotApplied(db, sessionId)).map(({ host }) => host)).toEqual(['a', 'b']);
});

test('pages by result hold every host once, and a deleted session leaves nothing', async () => {
  const { db } = database;
  const { sessionId, run } = await runWith(EVENTS);
  await closeRun(db, run, exit(4), new Date());
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { hosts, more } = await listHosts(db, sessionId, { after, limit: 2, byResult: true });
    seen.push(...hosts.map(({ host }) => host));
    after = hosts.at(-1)?.host ?? '';
    if (!more) break;
  }
  expect(seen).toEqual(['bad', 'gone', 'fine', 'ignored', 'saved', 'never']);
  await deleteRuns(db, { kind: 'session', id: sessionId });
  const left = await db.selectFrom('unreached_hosts').select('host').where('session_id', '=', sessionId).execute();
  expect(left).toEqual([]);
});
