/** The activity that runs a layer, with shell scripts for playbooks. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { musterError } from '../../domain/errors.ts';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import { LAUNCHER, launcherMissing, PYTHON, processesWith } from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import {
  activityEnvironment,
  openShellMachine,
  perform,
  type SessionMachine,
  snapshotLayer,
} from '../support/stack/session-machine.ts';
import { sessionNow } from '../support/temporal/engine-sessions.ts';

describeNeeding(launcherMissing(), 'a layer', () => {
  let machine: SessionMachine;
  const folders: string[] = [];
  beforeAll(async () => {
    machine = await openShellMachine();
  });
  afterAll(async () => {
    await machine.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const run = (sessionId: string, worker = machine.worker(), environment = activityEnvironment()) =>
    perform(() => worker.runLayer(machine.ref(sessionId)), environment);
  const messageOf = async (sessionId: string) => (await sessionNow(machine.database.db, sessionId)).message;
  const runRow = (sessionId: string) =>
    machine.database.db.selectFrom('runs').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
  const script = (text: string, given = {}) => machine.session({ 'site.yml': text }, given);
  /** A file in the layer's folder, in which the script runs. */
  const inLayer = (sessionId: string, name: string) => join(machine.deps.workspaces.layerDir(sessionId, 0), name);
  /** Another runner, with a folder of its own. */
  const localRunner = async (slots: number, python = PYTHON) => {
    const runsDir = await mkdtemp(join(tmpdir(), 'muster-runs-'));
    folders.push(runsDir);
    return createLocalRunner({ runsDir, slots, python, launcher: LAUNCHER });
  };
  const waitFor = (name: string) => `until [ -e ${name} ]; do sleep 0.02; done`;

  const failing = (message: string, code?: string) => () => Promise.reject(Object.assign(new Error(message), { code }));

  test('runs in its folder with its arguments, and its exit status is the outcome', async () => {
    const reads =
      'for word; do case $word in *=@*) word=$(echo "$word" | cut -d@ -f2); stat -c %a "$word"; cat "$word"; echo;; esac; done';
    const id = await script(`pwd; echo "$@"; ${reads}; echo "$LAYER_CURRENT $SESSION_PLAYBOOK"; exit 3`, {
      ansibleVerbosity: 2,
      ansibleLimit: 'a,b',
      ansiblePassthrough: '-e x=1',
    });
    expect(await run(id)).toMatchObject({ index: 0, playbook: 'site.yml', exitCode: 3, hosts: 0, failedHosts: 0 });
    const layer = machine.deps.workspaces.layerDir(id, 0);
    const file = `${machine.deps.workspaces.paths(id).extraVars}0`;
    expect(await machine.output(id)).toBe(
      `${layer}\n-vv --limit=a,b --extra-vars=@${file}\n600\n{"x":"1"}\n0 site.yml\n`,
    );
    expect(await runRow(id)).toMatchObject({ state: 'ended', exit_code: 3, host: 'test-host' });
    expect(await messageOf(id)).toBe('running layer 1/1 site.yml');
  });

  test('is run once by workers that follow each other and at once, and all give the same answer', async () => {
    const id = await script(`echo begun >> begun; echo one; ${waitFor('go')}; echo two`);
    const gone = activityEnvironment();
    const first = run(id, machine.worker(), gone);
    await eventually('its output', async () => (await machine.output(id)) === 'one\n');
    gone.cancel('WORKER_SHUTDOWN');
    await expect(first).rejects.toThrow('WORKER_SHUTDOWN');
    const others = [run(id, machine.worker()), run(id, machine.worker())];
    await writeFile(inLayer(id, 'go'), '');
    const answers = await Promise.allSettled(others);
    // Of two watchers one may be overtaken; Temporal tries that one again.
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await run(id)).toMatchObject({ exitCode: 0 });
    expect(await machine.output(id)).toBe('one\ntwo\n');
    expect((await readdir(machine.deps.workspaces.layerDir(id, 0))).sort()).toEqual(['begun', 'go', 'site.yml']);
  });

  test('keeps beating while nothing happens, and stops with the work', async () => {
    const id = await script(waitFor('go'));
    const environment = activityEnvironment();
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
    });
    const running = run(id, machine.worker(), environment);
    await eventually('two beats', () => beats >= 2);
    await writeFile(inLayer(id, 'go'), '');
    await running;
  });

  test('whose watch fails for good is ended: nobody takes it up again', async () => {
    const id = await script('echo begun; exec sleep 600');
    const runner = {
      ...machine.deps.runner,
      watch: async () => {
        await eventually('its processes', async () => (await processesWith(machine.runId(id))).length > 0);
        throw musterError('run_ended', 'the run ended before');
      },
    };
    await expect(run(id, machine.worker({ runner }))).rejects.toMatchObject({ code: 'run_ended' });
    await eventually('no process is left', async () => (await processesWith(machine.runId(id))).length === 0);
  });

  test('whose watch fails for now goes on', async () => {
    const id = await script(`echo begun; ${waitFor('go')}`);
    const runner = {
      ...machine.deps.runner,
      watch: async () => {
        throw musterError('storage_unavailable', 'the database is away');
      },
    };
    await expect(run(id, machine.worker({ runner }))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await writeFile(inLayer(id, 'go'), '');
    expect(await run(id)).toMatchObject({ exitCode: 0 });
  });

  test('whose run was lost is never run again', async () => {
    const id = await script('echo begun; exec sleep 600');
    const first = run(id);
    await eventually('its output', async () => (await machine.output(id)) !== '');
    for (const pid of await processesWith(machine.runId(id))) process.kill(pid, 'SIGKILL');
    expect(await first).toMatchObject({ exitCode: null });
    expect(await run(id)).toMatchObject({ exitCode: null });
    expect(await runRow(id)).toMatchObject({ state: 'lost', exit_code: null });
    expect(await machine.output(id)).toBe('begun\n');
  });

  test('whose launcher was killed leaves nothing at work on its hosts', async () => {
    const id = await script("trap '' TERM; echo begun; exec sleep 600");
    const first = run(id);
    await eventually('its output', async () => (await machine.output(id)) !== '');
    // The launcher and its keeper, and the playbook, which shows nothing for the moment in which it becomes another program.
    const launchers = await eventually('three processes', async () => {
      const pids = await processesWith(machine.runId(id));
      const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
      const found = pids.filter((_, index) => commands[index]?.includes(LAUNCHER));
      return pids.length === 3 && found.length === 2 && found;
    });
    for (const pid of launchers) process.kill(pid, 'SIGKILL');
    expect(await first).toMatchObject({ exitCode: null });
    expect(await processesWith(machine.runId(id))).toEqual([]);
    expect(await runRow(id)).toMatchObject({ state: 'lost' });
  });

  test('whose lost run cannot be ended says so, and is lost all the same', async () => {
    const id = await script('echo begun; exec sleep 600');
    const { end } = machine.deps.runner;
    const runner = {
      ...machine.deps.runner,
      end: async (runId: string) => {
        await end(runId);
        throw new Error('processes of another user cannot be ended: 7');
      },
    };
    const first = run(id, machine.worker({ runner }));
    await eventually('its output', async () => (await machine.output(id)) !== '');
    for (const pid of await processesWith(machine.runId(id))) process.kill(pid, 'SIGKILL');
    expect(await first).toMatchObject({ exitCode: null });
    const said = 'layer 1: not all of its run could be ended: processes of another user cannot be ended: 7';
    expect((await machine.events(id)).map(({ data }) => data)).toContainEqual({ message: said });
  });

  test('whose lost run cannot be ended for the moment is not over', async () => {
    const id = await script('echo begun; exec sleep 600');
    const runner = { ...machine.deps.runner, end: failing('no space is left', 'ENOSPC') };
    const first = run(id, machine.worker({ runner }));
    await eventually('its output', async () => (await machine.output(id)) !== '');
    for (const pid of await processesWith(machine.runId(id))) process.kill(pid, 'SIGKILL');
    await expect(first).rejects.toThrow('no space is left');
    expect(await runRow(id)).toMatchObject({ state: 'started' });
    expect(await run(id)).toMatchObject({ exitCode: null });
    expect(await runRow(id)).toMatchObject({ state: 'lost' });
  });

  test('whose run lost its files is never run again', async () => {
    const id = await script('echo begun >> begun; exec sleep 600');
    const environment = activityEnvironment();
    const first = run(id, machine.worker(), environment);
    await eventually('its start', async () => (await runRow(id))?.state === 'started');
    environment.cancel('WORKER_SHUTDOWN');
    await expect(first).rejects.toThrow('WORKER_SHUTDOWN');
    await machine.deps.runner.end(machine.runId(id));
    await machine.deps.runner.remove(machine.runId(id));
    expect(await run(id)).toMatchObject({ exitCode: null });
    expect((await machine.events(id)).at(-1)?.data).toEqual({ message: 'layer 1: the files of its run are gone' });
  });

  test('that is ended before it began is never run', async () => {
    const id = await script('echo begun');
    await machine.cancelRun(id);
    expect(await run(id)).toMatchObject({ exitCode: 143 });
    expect(await machine.output(id)).toBe('');
  });

  test('is ended with everything it has started, and its watch returns', async () => {
    const id = await script(`trap '' TERM; setsid sleep 600 & echo begun; while :; do sleep 0.1; done`);
    const running = run(id);
    await eventually('its output', async () => (await machine.output(id)) !== '');
    await machine.cancelRun(id);
    expect(await running).toMatchObject({ exitCode: 137 });
    expect(await processesWith(machine.runId(id))).toEqual([]);
  });

  test('says that it waits for a free run, and whose turn it is then', async () => {
    const runner = await localRunner(1);
    const worker = machine.worker({ runner });
    const [first, second] = await Promise.all([script(waitFor('go')), script('true')]);
    const running = run(first, worker);
    await eventually('the first', async () => (await messageOf(first)) === 'running layer 1/1 site.yml');
    const waiting = run(second, worker);
    const message = 'waiting for one of 1 local runs, 1 busy (MUSTER_LOCAL_RUNS)';
    await eventually('a reason', async () => (await messageOf(second)) === message);
    await writeFile(inLayer(first, 'go'), '');
    expect(await Promise.all([running, waiting])).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
    expect(await messageOf(second)).toBe('running layer 1/1 site.yml');
  });

  test('that cannot be started is tried again, says so, and is given up for good', async () => {
    const id = await script('echo begun');
    const runner = await localRunner(2, '/nonexistent/python3');
    const tries: number[] = [];
    const seen = Promise.withResolvers<void>();
    const counting = {
      ...runner,
      start: async (...given: Parameters<typeof runner.start>) => {
        tries.push(Date.now());
        // With the last one goes what was said of those before.
        if (tries.length === 3) await seen.promise;
        await runner.start(...given);
      },
    };
    const running = run(id, machine.worker({ runner: counting, startPauses: [10, 10] }));
    running.catch(() => undefined);
    await eventually('a reason', async () =>
      /^starting layer 1 failed, trying again: .*ENOENT/.test(await messageOf(id)),
    );
    seen.resolve();
    await expect(running).rejects.toMatchObject({ code: 'run_not_started' });
    expect(tries).toHaveLength(3);
    expect(await messageOf(id)).toMatch(/^starting or following layer 1 failed: .*ENOENT/);
    expect(await runRow(id)).toMatchObject({ state: 'lost' });
    // Also where the program comes back meanwhile.
    expect(await run(id)).toMatchObject({ exitCode: null });
    expect(await machine.output(id)).toBe('');
  });

  test.each([
    ['outside its repository', '../../outside.yml'],
    ['that is not there', 'none.yml'],
    ['that is a folder of others', '/etc/passwd'],
  ])('refuses a playbook %s', async (_title, playbook) => {
    const snapshot = {
      layers: [snapshotLayer(0, { playbook })],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'cfs-default-ansible-cfg',
    };
    const id = await script('echo begun', { snapshot });
    await writeFile(join(machine.deps.workspaces.paths(id).dir, '..', 'outside.yml'), 'echo outside');
    await expect(run(id)).rejects.toMatchObject({
      code: 'playbook_missing',
      message: expect.stringContaining(playbook),
    });
    expect(await runRow(id)).toBeUndefined();
  });

  test.each<[string, () => Parameters<SessionMachine['worker']>[0], string, string, string]>([
    ['cloneLayers', () => ({ clones: { clone: failing('no route') } }), 'clone', 'no route', 'clone'],
    ['writeInventory', () => ({ inventories: { write: failing('no answer') } }), 'inventory', 'no answer', 'inventory'],
    [
      'endRun',
      () => ({ runner: { ...machine.deps.runner, end: failing('stuck') } }),
      'layer',
      'stuck',
      'ending layer 1',
    ],
    [
      'removeWorkspace',
      () => ({ workspaces: { ...machine.deps.workspaces, remove: failing('busy') } }),
      'teardown',
      'busy',
      'removing the workspace',
    ],
    [
      'runLayer',
      () => ({ runner: { ...machine.deps.runner, start: failing('EIO') } }),
      'layer',
      'EIO',
      'starting or following layer 1',
    ],
  ])(
    'says what fails while %s is tried again, and no longer when it works',
    async (name, instead, phase, why, what) => {
      const id = await script('true');
      const cancelled = name === 'endRun' ? { cancel_requested_at: new Date() } : { cancel_requested_at: null };
      await machine.database.db.updateTable('sessions').set(cancelled).where('id', '=', id).execute();
      const worker = machine.worker(instead());
      const activity = worker[name as keyof typeof worker] as (input: object) => Promise<unknown>;
      await expect(perform(() => activity(machine.ref(id)))).rejects.toThrow(why);
      const message = `${what} failed, trying again: ${why}`;
      expect(await sessionNow(machine.database.db, id)).toMatchObject({ message, reason: 'internal', phase });
      if (name !== 'runLayer') return;
      await run(id);
      expect(await sessionNow(machine.database.db, id)).toMatchObject({
        message: 'running layer 1/1 site.yml',
        reason: null,
      });
    },
  );

  test('says that the disk is full', async () => {
    const id = await script('true');
    const make = failing('ENOSPC: no space', 'ENOSPC');
    const worker = machine.worker({ workspaces: { ...machine.deps.workspaces, make } });
    await expect(perform(() => worker.cloneLayers({ sessionId: id }))).rejects.toThrow('ENOSPC');
    expect(await sessionNow(machine.database.db, id)).toMatchObject({
      message: 'clone failed, trying again: no space is left on the disk: ENOSPC: no space',
      reason: 'disk_low',
    });
  });

  test('says nothing of a failure that is a cancellation', async () => {
    const id = await script('true');
    const environment = activityEnvironment();
    const cloning = Promise.withResolvers<void>();
    const clone = ({ signal }: { signal: AbortSignal }) => {
      cloning.resolve();
      return new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      });
    };
    const before = await messageOf(id);
    const worker = machine.worker({ clones: { clone } });
    const cancelled = perform(() => worker.cloneLayers({ sessionId: id }), environment);
    cancelled.catch(() => undefined);
    await cloning.promise;
    environment.cancel('CANCELLED');
    await expect(cancelled).rejects.toThrow('the activity was cancelled');
    expect(await messageOf(id)).toBe(before);
  });

  test('leaves nothing on the disk when its workspace is removed', async () => {
    const id = await script('true');
    await run(id);
    await perform(() => machine.worker().removeWorkspace({ sessionId: id }));
    expect(await machine.deps.workspaces.list()).not.toContain(id);
    await rm(join(machine.deps.workspaces.paths(id).dir), { recursive: true, force: true });
  });
});
