/** What keeps a machine's disk and processes in line with the records. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createSweepActivities } from '../../activities/sessions/sweep-activities.ts';
import { cleanMachine } from '../../control/runs/clean-machine.ts';
import { cleanWorkspaces } from '../../control/sessions/clean-workspaces.ts';
import { sessionOwner } from '../../control/sessions/session-owner.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { launcherMissing, processesWith } from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { openShellMachine, perform, type SessionMachine } from '../support/stack/session-machine.ts';

const END = { succeeded: 'unknown', message: 'ended', reason: 'workflow_ended' } as const;

describeNeeding(launcherMissing(), 'a clean-up', () => {
  let machine: SessionMachine;
  beforeAll(async () => {
    machine = await openShellMachine();
  });
  afterAll(() => machine.close());

  /** What the activity does: runs first, then workspaces. */
  async function cleanBoth(deps: SessionMachine['deps']) {
    const runs = await cleanMachine({ ...deps, owners: [sessionOwner(deps.db)] });
    const { removed, problems } = await cleanWorkspaces(deps);
    return { ...runs, removedWorkspaces: removed, problems: [...runs.problems, ...problems] };
  }
  const runsDir = () => join(machine.deps.workspaces.paths('x').dir, '..', '..', 'runs');
  const rowOf = (runId: string) =>
    machine.database.db.selectFrom('runs').selectAll().where('id', '=', runId).executeTakeFirst();
  /** A session whose layer runs until it is ended; the activity that follows it. */
  async function running(): Promise<{ id: string; runId: string; watch: Promise<unknown> }> {
    const id = await machine.session({ 'site.yml': 'echo begun; exec sleep 600' });
    const watch = perform(() => machine.worker().runLayer(machine.ref(id)));
    watch.catch(() => undefined);
    await eventually('its output', async () => (await machine.output(id)) !== '');
    return { id, runId: machine.runId(id), watch };
  }

  test('ends what nobody owns any more, leaves the rest alone, and removes workspaces of ended sessions', async () => {
    const { db } = machine.database;
    const [owned, orphan] = [await running(), await running()];
    await writeEnd(db, orphan.id, END, new Date());
    const report = await cleanBoth(machine.deps);
    expect(report).toMatchObject({ stopped: [orphan.runId], removedRuns: 0, removedWorkspaces: 1, problems: [] });
    expect(await processesWith(orphan.runId)).toEqual([]);
    await orphan.watch;
    expect((await rowOf(orphan.runId))?.state).not.toBe('started');
    expect(await machine.deps.runner.list()).toContain(orphan.runId);
    expect(await machine.deps.workspaces.list()).toEqual([owned.id]);
    expect(await processesWith(owned.runId)).not.toEqual([]);

    expect(await cleanBoth(machine.deps)).toEqual({ stopped: [], removedRuns: 0, removedWorkspaces: 0, problems: [] });
    await machine.deps.runner.end(owned.runId);
    expect(await owned.watch).toMatchObject({ exitCode: 143 });
    await writeEnd(db, owned.id, END, new Date());
  });

  test('removes the files of runs that are in no record, with their processes', async () => {
    const { db } = machine.database;
    const { id, runId } = await running();
    await writeEnd(db, id, END, new Date());
    await db.deleteFrom('runs').where('session_id', '=', id).execute();
    await mkdir(join(runsDir(), 'reconcile-7'), { recursive: true });
    const report = await cleanBoth(machine.deps);
    expect(report.stopped).toEqual([runId]);
    expect(report.removedRuns).toBe(2);
    expect(await processesWith(runId)).toEqual([]);
    expect(await machine.deps.runner.list()).not.toEqual(expect.arrayContaining([runId]));
  });

  test('leaves what keeps a run from beginning as long as its session is open', async () => {
    const id = await machine.session({ 'site.yml': 'echo begun' });
    await machine.deps.runner.end(machine.runId(id));
    expect(await cleanBoth(machine.deps)).toMatchObject({ removedRuns: 0 });
    expect(await perform(() => machine.worker().runLayer(machine.ref(id)))).toMatchObject({ exitCode: 143 });
    expect(await machine.output(id)).toBe('');
    await writeEnd(machine.database.db, id, END, new Date());
  });

  test('goes on where one thing fails, and says what', async () => {
    const { db } = machine.database;
    const stuck = await running();
    await writeEnd(db, stuck.id, END, new Date());
    await mkdir(join(runsDir(), 'stray-1'), { recursive: true });
    await writeFile(join(runsDir(), 'a stray file'), '');
    await machine.deps.workspaces.make(randomUUID());
    const { runner } = machine.deps;
    const deps = {
      ...machine.deps,
      runner: {
        ...runner,
        end: async (runId: string) => {
          if (runId === stuck.runId) throw new Error('EACCES: not allowed');
          await runner.end(runId);
        },
      },
    };
    const report = await cleanBoth(deps);
    expect(report.problems).toEqual([`run ${stuck.runId}: EACCES: not allowed`]);
    expect(report).toMatchObject({ stopped: [], removedRuns: 2 });
    expect(await runner.list()).not.toContain('stray-1');
    expect(await machine.deps.workspaces.list()).toEqual([]);
    expect((await cleanBoth(machine.deps)).stopped).toEqual([stuck.runId]);
  });

  test('is an activity that says what it did and keeps the mirrors small', async () => {
    const logged: object[] = [];
    const pruned: number[] = [];
    const activities = createSweepActivities({
      ...machine.deps,
      owners: [sessionOwner(machine.database.db)],
      clock: () => new Date(),
      laneSweeps: [],
      mirrors: {
        pruneMirrors: async ({ unusedForMs }) => {
          pruned.push(unusedForMs);
          return 0;
        },
      },
      log: { info: (fields) => void logged.push(fields), warn: () => undefined },
    });
    await perform(() => activities.cleanHost());
    expect(logged).toEqual([]);
    const { id, runId } = await running();
    await writeEnd(machine.database.db, id, END, new Date());
    await perform(() => activities.cleanHost());
    expect(logged).toMatchObject([{ stopped: [runId] }]);
    expect(pruned).toEqual([30 * 24 * 3_600_000, 30 * 24 * 3_600_000]);
  });
});
