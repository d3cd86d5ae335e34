/** Runs of an owner that is no session: from the start to the last trace. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type OwnedRun, type RunProgress, runToEnd } from '../../activities/runs/run-to-end.ts';
import { cleanMachine } from '../../control/runs/clean-machine.ts';
import { forgetRuns } from '../../control/runs/forget-runs.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { ownerIdOfRun, type RunOwner, runIdOfOwner } from '../../domain/runs/owner.ts';
import { findRun, openRunsOf } from '../../store/runs/runs.ts';
import { type LocalRuns, launcherMissing, openLocalRuns, processesWith } from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';

describeNeeding(launcherMissing(), 'runs of a toy owner', () => {
  let runs: LocalRuns;
  let database: TestDatabase;
  const open = new Set<string>();
  const toy: RunOwner = {
    kind: 'toy',
    ownerOfRun: (runId) => ownerIdOfRun('toy', runId),
    open: async (ids) => new Set(ids.filter((id) => open.has(id))),
  };
  beforeAll(async () => {
    runs = await openLocalRuns();
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await runs.close();
    await database.close();
  });

  const HOST = 'toy-machine';
  const deps = () => ({ db: database.db, runner: runs.runner, hostId: HOST, clock: () => new Date(), startPauses: [] });
  const clean = (owners: RunOwner[] = [toy]) => cleanMachine({ ...deps(), owners });
  const never = new AbortController().signal;
  function owned(id: string, script: string, n = 1): OwnedRun & { told: RunProgress[]; started: number } {
    const runId = runIdOfOwner({ kind: 'toy', id }, n);
    open.add(id);
    const told: RunProgress[] = [];
    const toyRun = {
      told,
      started: 0,
      run: { id: runId, sessionId: null, owner: { kind: 'toy', id }, streamId: runId, layer: 0, attempt: n },
      spec: async () => {
        toyRun.started += 1;
        return runs.script(script, { runId });
      },
      tell: async (progress: RunProgress) => void told.push(progress),
    };
    return toyRun;
  }
  const output = async (runId: string) =>
    (await database.db.selectFrom('output').select('text').where('stream_id', '=', runId).orderBy('seq').execute())
      .map(({ text }) => text)
      .join('');
  async function nothingLeft(runId: string): Promise<void> {
    const { db } = database;
    for (const table of ['events', 'output'] as const) {
      expect(await db.selectFrom(table).select('seq').where('stream_id', '=', runId).execute()).toEqual([]);
    }
    expect(await db.selectFrom('streams').select('id').where('id', '=', runId).execute()).toEqual([]);
    expect(await db.selectFrom('host_results').select('host').where('run_id', '=', runId).execute()).toEqual([]);
    expect(await findRun(db, runId)).toBeNull();
    expect(await runs.runner.list()).not.toContain(runId);
  }

  test('is started, followed, stored and closed, and leaves nothing when it is forgotten', async () => {
    const work = owned('a1', 'echo one; echo two; exit 3');
    const { id } = work.run;
    await runToEnd(deps(), work, never);
    expect(await findRun(database.db, id)).toMatchObject({
      owner: { kind: 'toy', id: 'a1' },
      sessionId: null,
      state: 'ended',
      exitCode: 3,
      host: HOST,
    });
    expect(await output(id)).toBe('one\ntwo\n');
    expect(work.told).toEqual([{ step: 'running' }]);
    await runToEnd(deps(), work, never);
    expect(work.started).toBe(1);
    expect(await clean()).toEqual({ stopped: [], removedRuns: 0, problems: [] });
    open.delete('a1');
    expect(await forgetRuns(database.db, { kind: 'toy', id: 'a1' })).toEqual([id]);
    expect(await clean()).toEqual({ stopped: [], removedRuns: 1, problems: [] });
    await nothingLeft(id);
  });

  test('goes on when its worker is gone, and the next worker takes it up', async () => {
    const go = join(runs.runsDir, '..', 'go');
    const work = owned('b2', `echo begun; until [ -e ${go} ]; do sleep 0.02; done; echo done`);
    const gone = new AbortController();
    const first = runToEnd(deps(), work, gone.signal);
    first.catch(() => undefined);
    await eventually('its output', async () => (await output(work.run.id)) === 'begun\n');
    gone.abort();
    await expect(first).rejects.toThrow();
    expect(await processesWith(work.run.id)).not.toEqual([]);
    const second = runToEnd({ ...deps(), runner: await runs.another() }, work, never);
    await writeFile(go, '');
    await second;
    await rm(go);
    expect(await output(work.run.id)).toBe('begun\ndone\n');
    expect(work.started).toBe(1);
    expect(await findRun(database.db, work.run.id)).toMatchObject({ state: 'ended', exitCode: 0 });
  });

  test('is ended with its owner, also one that is in no record any more', async () => {
    const works = ['c3', 'c4'].map((id) => owned(id, 'echo begun; exec sleep 600'));
    const watches = works.map((work) => runToEnd(deps(), work, never));
    for (const { run } of works) await eventually('its output', async () => (await output(run.id)) === 'begun\n');
    expect((await clean()).stopped).toEqual([]);
    const [over, gone] = works.map(({ run }) => run.id) as [string, string];
    open.delete('c3');
    open.delete('c4');
    await database.db.deleteFrom('runs').where('id', '=', gone).execute();
    const report = await clean();
    expect([...report.stopped].sort()).toEqual([over, gone]);
    expect(report).toMatchObject({ removedRuns: 1, problems: [] });
    for (const runId of [over, gone]) expect(await processesWith(runId)).toEqual([]);
    await Promise.allSettled(watches);
    expect(['ended', 'lost']).toContain((await findRun(database.db, over))?.state);
    expect(await openRunsOf(database.db, { kind: 'toy', id: 'c3' })).toEqual([]);
  });

  test('of a kind that no lane here offers is left alone and told of', async () => {
    const work = owned('d5', 'echo begun; exec sleep 600');
    const watch = runToEnd(deps(), work, never);
    await eventually('its output', async () => (await output(work.run.id)) === 'begun\n');
    open.delete('d5');
    const { stopped, problems } = await clean([]);
    expect(stopped).toEqual([]);
    expect(problems.filter((problem) => problem.includes(work.run.id))).toEqual([
      `run ${work.run.id}: it belongs to a toy, which this release does not know`,
    ]);
    expect(await processesWith(work.run.id)).not.toEqual([]);
    expect((await clean()).stopped).toEqual([work.run.id]);
    await watch;
  });

  test('of another machine is not touched', async () => {
    const { db } = database;
    const id = runIdOfOwner({ kind: 'toy', id: 'e6' }, 1);
    await openRun(
      db,
      {
        id,
        sessionId: null,
        owner: { kind: 'toy', id: 'e6' },
        streamId: id,
        layer: 0,
        attempt: 1,
        host: 'x',
      },
      new Date(),
    );
    expect((await clean()).stopped).toEqual([]);
    expect(await findRun(db, id)).toMatchObject({ state: 'created' });
  });

  test('is kept from beginning when it was ended before, as long as its owner is open', async () => {
    const work = owned('f7', 'echo begun');
    await runs.runner.end(work.run.id);
    expect(await clean()).toMatchObject({ removedRuns: 0 });
    await runToEnd(deps(), work, never);
    expect(await output(work.run.id)).toBe('');
    expect(await findRun(database.db, work.run.id)).toMatchObject({ exitCode: 143 });
  });

  test('has its row and its stream or neither', async () => {
    const { db } = database;
    const id = runIdOfOwner({ kind: 'toy', id: 'g8' }, 1);
    const run = {
      id,
      sessionId: null,
      owner: { kind: 'toy', id: 'g8' },
      streamId: id,
      layer: 0,
      attempt: 1,
      host: HOST,
    };
    await db.schema
      .alterTable('streams')
      .addCheckConstraint('no_g8', sql`id <> ${sql.lit(id)}`)
      .execute();
    await expect(openRun(db, run, new Date())).rejects.toThrow('no_g8');
    expect(await findRun(db, id)).toBeNull();
    await db.schema.alterTable('streams').dropConstraint('no_g8').execute();
    expect(await openRun(db, run, new Date())).toMatchObject({ id, state: 'created' });
    expect(await db.selectFrom('streams').select('id').where('id', '=', id).execute()).toHaveLength(1);
  });
});
