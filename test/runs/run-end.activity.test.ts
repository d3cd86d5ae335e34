import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RunSpec } from '../../domain/runs/runner.ts';
import {
  type LocalRuns,
  launcherMissing,
  openLocalRuns,
  PYTHON,
  processesWith,
} from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { findProgram } from '../support/find-program.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);

/** Forks twice and gives up its session, parent, input and output: as Ansible's `async` wrapper does. */
const DAEMON = `
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        open(sys.argv[1], "w").close()
        time.sleep(600)
    os._exit(0)
os.wait()
`;

const ready = 'touch "$MUSTER_RUN_DIR/ready"';
const SCRIPTS: Record<string, string> = {
  'a plain process': `${ready}; exec sleep 600`,
  'one that traps TERM': `trap "" TERM; ${ready}; while :; do sleep 0.2; done`,
  'a child in a session of its own': `setsid sleep 600 & ${ready}; wait`,
  'a daemon that ignores TERM': `${PYTHON} -c "$DAEMON" "$MUSTER_RUN_DIR/ready"; sleep 600`,
  'a daemon whose parent has gone on': `${PYTHON} -c "$DAEMON" "$MUSTER_RUN_DIR/ready"; while :; do sleep 0.1; done`,
  'a child without our environment': `env -i DIR="$MUSTER_RUN_DIR" /bin/sh -c 'trap "" TERM; sleep 600; sleep 600' & ${ready}; wait`,
  'one that makes another when it is told to end': `trap 'setsid sleep 600 & exit 9' TERM; ${ready}; while :; do sleep 0.1; done`,
};

/** Leaves a daemon that has nothing of the run but what it has done: `shed` is its number. */
const SHED = `(setsid env -i F="$MUSTER_RUN_DIR/shed" sh -c 'trap "" TERM HUP INT; echo $$ > "$F.new"; mv "$F.new" "$F"; while :; do sleep 1; done' &)
while [ ! -e "$MUSTER_RUN_DIR/shed" ]; do sleep 0.1; done; ${ready}; exec sleep 600`;

const setsidMissing = findProgram('setsid') === null ? 'setsid: Debian package util-linux' : null;

describeNeeding(launcherMissing() ?? setsidMissing, 'an end', () => {
  let runs: LocalRuns;
  beforeAll(async () => {
    runs = await openLocalRuns();
  });
  afterAll(() => runs.close());

  const env = { PATH: '/usr/bin:/bin', DAEMON };
  const exists = async (runId: string, name: string) =>
    runs.read(runId, name).then(
      () => true,
      () => false,
    );
  async function started(script: string): Promise<RunSpec> {
    const spec = runs.script(script, { env });
    await runs.start(spec);
    await eventually('the script to be ready', () => exists(spec.runId, 'ready'));
    return spec;
  }

  test('leaves no process of any kind, and the end is on record', async () => {
    const specs = await Promise.all(Object.values(SCRIPTS).map(started));
    await Promise.all(specs.map((spec) => runs.runner.end(spec.runId)));
    for (const [index, title] of Object.keys(SCRIPTS).entries()) {
      const runId = specs[index]?.runId ?? '';
      expect([title, await processesWith(runId)]).toEqual([title, []]);
      const { end } = await runs.follow(runId);
      expect([title, end.exit?.code]).not.toEqual([title, 0]);
      expect(await runs.runner.live()).not.toContain(runId);
    }
  });

  test('finds what has shed the environment of the run after its launcher was killed', async () => {
    const spec = await started(SHED);
    const pid = Number(await runs.read(spec.runId, 'shed'));
    process.kill(JSON.parse(await runs.read(spec.runId, 'claim')).pid, 'SIGKILL');
    await runs.runner.end(spec.runId);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await eventually('the note that nothing is left', () => exists(spec.runId, 'kept'));
    expect(await runs.runner.mayHaveLeft(spec.runId)).toBe(false);
  });

  test('says that something may be left when all that it would fall to was killed', async () => {
    const spec = await started(SHED);
    const pid = Number(await runs.read(spec.runId, 'shed'));
    const claim = JSON.parse(await runs.read(spec.runId, 'claim'));
    for (const killed of [claim.pid, claim.keeper.pid]) process.kill(killed, 'SIGKILL');
    try {
      await runs.runner.end(spec.runId);
      expect(await runs.runner.mayHaveLeft(spec.runId)).toBe(true);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  test('leaves no process when the launcher was killed before', async () => {
    const titles = ['one that traps TERM', 'a child in a session of its own', 'a daemon that ignores TERM'];
    const specs = await Promise.all(titles.map((title) => started(SCRIPTS[title] ?? '')));
    for (const { runId } of specs) process.kill(JSON.parse(await runs.read(runId, 'claim')).pid, 'SIGKILL');
    await Promise.all(specs.map((spec) => runs.runner.end(spec.runId)));
    for (const { runId } of specs) {
      expect(await processesWith(runId)).toEqual([]);
      expect((await runs.follow(runId)).end.exit).toBeNull();
    }
  });

  test('lets a process say good-bye', async () => {
    const spec = await started(`trap 'echo bye; exit 5' TERM; ${ready}; while :; do sleep 0.1; done`);
    await runs.runner.end(spec.runId);
    const { end, shipped } = await runs.follow(spec.runId);
    expect(end.exit).toMatchObject({ code: 5, signal: null });
    expect(shipped.output).toContain('bye\n');
  });

  test('before the beginning means that it never begins', async () => {
    const spec = runs.script(ready, { masks: ['correct-horse-battery'] });
    await runs.runner.end(spec.runId);
    await runs.start(spec);
    await Promise.all([runs.start(spec), runs.runner.end(spec.runId)]);
    const { end } = await runs.follow(spec.runId);
    expect(end.exit).toMatchObject({ code: 143, signal: 'SIGTERM' });
    expect(await exists(spec.runId, 'ready')).toBe(false);
    expect(await exists(spec.runId, 'mask.json')).toBe(false);
    expect(await runs.runner.live()).not.toContain(spec.runId);
  });

  test('at the moment of the start either keeps it from beginning or ends it', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const spec = runs.script('exec sleep 600');
        const starting = runs.start(spec);
        await new Promise((resolve) => setTimeout(resolve, index * 15));
        await Promise.all([starting, runs.runner.end(spec.runId)]);
        // A launcher that came too late sees that, and goes.
        await eventually('no process', async () => (await processesWith(spec.runId)).length === 0);
        return (await runs.follow(spec.runId)).end.exit;
      }),
    );
    // 143: kept from it, or told to end; null: its launcher had to be killed before the program began.
    for (const exit of outcomes) expect([143, undefined]).toContain(exit?.code);
  });

  test('is finished by the next when the one who kept it from beginning died in between', async () => {
    const runId = 'half-ended-1-0';
    await runs.runner.end(runId);
    await run('rm', [runs.file(runId, 'exit.json')]);
    await runs.runner.end(runId);
    expect((await runs.follow(runId)).end.exit?.code).toBe(143);
  });

  test('may be asked for by several at once and again', async () => {
    const spec = await started(SCRIPTS['one that traps TERM'] ?? '');
    const other = await runs.another();
    await Promise.all([runs.runner.end(spec.runId), runs.runner.end(spec.runId), other.end(spec.runId)]);
    await runs.runner.end(spec.runId);
    expect((await runs.follow(spec.runId)).end.exit).toMatchObject({ code: 137, signal: 'SIGKILL' });
  });

  test('changes nothing about a run that has ended', async () => {
    const spec = runs.script('echo done; exit 7');
    await runs.start(spec);
    const before = await runs.follow(spec.runId);
    await runs.runner.end(spec.runId);
    const after = await runs.follow(spec.runId);
    expect([after.end, after.shipped.output]).toEqual([before.end, 'done\n']);
  });

  test('touches no other run and nothing that only looks alike', async () => {
    const spec = runs.script('exec sleep 600', { runId: 'alike-1-1' });
    const longer = runs.script('exec sleep 600', { runId: 'alike-1-10' });
    await runs.start(spec);
    await runs.start(longer);
    await runs.runner.end(spec.runId);
    expect(await runs.runner.live()).toEqual(expect.arrayContaining([longer.runId]));
    await runs.runner.end(longer.runId);
  });
});

const NOBODY = ['--reuid=65534', '--clear-groups', process.execPath];
const DRIVERS = join(import.meta.dirname, '../../drivers/local-runner');

/** Why nobody else can run our code here, `null` when that is possible. */
function nobodyMissing(): string | null {
  if (process.getuid?.() !== 0 || findProgram('setpriv') === null) return 'needs root and setpriv (Debian util-linux)';
  try {
    execFileSync('setpriv', [...NOBODY, '--input-type=module', '-e', `await import('${DRIVERS}/end-run.ts')`], {
      stdio: 'ignore',
    });
    return null;
  } catch {
    return 'the user nobody cannot read this folder';
  }
}

describeNeeding(launcherMissing() ?? nobodyMissing(), 'the end of what belongs to another user', () => {
  test('fails with a sentence instead of waiting for ever', async () => {
    const runs = await openLocalRuns();
    const spec = runs.script(`${ready}; exec sleep 600`);
    await runs.start(spec);
    // The launcher has made and removed its files by then.
    await eventually('it runs', () =>
      runs.read(spec.runId, 'ready').then(
        () => true,
        () => false,
      ),
    );
    await run('chmod', ['-R', 'a+rwX', join(runs.runsDir, '..')]);
    const code = `
      const { endRun } = await import('${DRIVERS}/end-run.ts');
      const { runPaths } = await import('${DRIVERS}/run-files.ts');
      await endRun(runPaths('${runs.runsDir}', '${spec.runId}'), '${spec.runId}').catch((error) => console.log(error.message));
    `;
    const { stdout } = await run('setpriv', [...NOBODY, '--input-type=module', '-e', code]);
    expect(stdout).toMatch(/^processes of another user cannot be ended: [0-9]+\n$/);
    expect(await runs.runner.live()).toEqual([spec.runId]);
    await runs.close();
  });
});
