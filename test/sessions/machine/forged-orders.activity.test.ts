/** What somebody else may ask of the activities by way of the engine: paths for ids, and the end of what goes on. */
import { randomUUID } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { createHostActivities } from '../../../activities/sessions/activities.ts';
import { launcherMissing, processesWith } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openShellMachine, perform, type SessionMachine } from '../../support/stack/session-machine.ts';

const BAD_IDS = [
  '../../victim',
  '/etc',
  '..',
  '.',
  '',
  'a/b',
  'A-B',
  'a.b',
  'a b',
  'a\0b',
  'a\n',
  'x'.repeat(101),
  null,
  7,
  ['..'],
  undefined,
];

describeNeeding(launcherMissing(), 'a machine', () => {
  let machine: SessionMachine;
  beforeAll(async () => {
    machine = await openShellMachine();
  });
  afterAll(() => machine.close());

  const told = (cancelRequested: boolean) =>
    ({
      workflow: {
        getHandle: () => ({ describe: async () => ({ raw: { workflowExtendedInfo: { cancelRequested } } }) }),
      },
    }) as unknown as Client;
  const workOf = (cancelRequested = false) =>
    createHostActivities({ ...machine.deps, client: told(cancelRequested) }) as unknown as Record<
      string,
      (input: unknown) => Promise<unknown>
    >;
  const working = async () => {
    const id = await machine.session({ 'site.yml': 'echo begun; exec sleep 600' });
    const watch = perform(() => machine.worker().runLayer(machine.ref(id)));
    watch.catch(() => undefined);
    await eventually('its output', async () => (await machine.output(id)) !== '');
    return { id, watch };
  };

  describe.each(['cloneLayers', 'writeInventory', 'runLayer', 'endRun', 'removeWorkspace'])('asked for %s', (name) => {
    test.each(BAD_IDS)('refuses %p in place of an id, and touches nothing', async (sessionId) => {
      const victim = join(machine.deps.workspaces.paths('x').dir, '..', '..', 'victim');
      await mkdir(victim, { recursive: true });
      await writeFile(join(victim, 'claim'), JSON.stringify({ pid: process.pid, start_time: '1', boot_id: 'b' }));
      const input = { sessionId, layer: 0, attempt: 1, hosts: 'all' };
      const refused = perform(() => workOf()[name]?.(input) as Promise<unknown>);
      await expect(refused).rejects.toMatchObject({ code: 'bad_data', message: expect.stringContaining('sessionId') });
      await access(join(victim, 'claim'));
    });
  });

  test.each([
    [{ layer: -1, attempt: 1 }, 'layer'],
    [{ layer: 0.5, attempt: 1 }, 'layer'],
    [{ layer: 0, attempt: '../1' }, 'attempt'],
    [{ layer: 0, attempt: 1, hosts: 'some' }, 'hosts'],
  ])('refuses %j', async (given, field) => {
    const input = { sessionId: randomUUID(), hosts: 'all', ...given };
    const refused = perform(() => workOf().runLayer?.(input) as Promise<unknown>);
    await expect(refused).rejects.toMatchObject({ code: 'bad_data', message: expect.stringContaining(field) });
  });

  test('removes nothing and ends nothing of a session that is not on record', async () => {
    const sessionId = randomUUID();
    const { dir } = await machine.deps.workspaces.make(sessionId);
    for (const name of ['removeWorkspace', 'endRun']) {
      const refused = perform(() => workOf()[name]?.({ sessionId, layer: 0, attempt: 1 }) as Promise<unknown>);
      await expect(refused).rejects.toMatchObject({ code: 'session_not_found' });
    }
    await access(dir);
  });

  test('ends no run that nobody cancelled, and keeps its workspace; one that is cancelled in Temporal alone is ended', async () => {
    const { id, watch } = await working();
    const run = { sessionId: id, layer: 0, attempt: 1 };
    for (const input of [run, { ...run, timeoutSeconds: 3_600 }]) {
      const refused = perform(() => workOf().endRun?.(input) as Promise<unknown>);
      await expect(refused).rejects.toMatchObject({ code: 'session_not_complete' });
    }
    const removal = perform(() => workOf().removeWorkspace?.({ sessionId: id }) as Promise<unknown>);
    await expect(removal).rejects.toMatchObject({ code: 'session_not_complete' });
    expect(await machine.deps.workspaces.list()).toContain(id);
    expect(await processesWith(machine.runId(id))).not.toEqual([]);

    await perform(() => workOf(true).endRun?.(run) as Promise<unknown>);
    expect(await watch).toMatchObject({ exitCode: 143 });
    await perform(() => workOf().removeWorkspace?.({ sessionId: id }) as Promise<unknown>);
    expect(await machine.deps.workspaces.list()).not.toContain(id);
  });

  test('ends a run whose session has taken longer than its limit', async () => {
    const { id, watch } = await working();
    const hourAgo = new Date(Date.now() - 3_600_000);
    await machine.database.db.updateTable('sessions').set({ admitted_at: hourAgo }).where('id', '=', id).execute();
    const run = { sessionId: id, layer: 0, attempt: 1, timeoutSeconds: 3_000 };
    await perform(() => workOf().endRun?.(run) as Promise<unknown>);
    expect(await watch).toMatchObject({ exitCode: 143 });
  });
});
