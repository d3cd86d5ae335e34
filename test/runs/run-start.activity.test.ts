import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import {
  LAUNCHER,
  type LocalRuns,
  launcherMissing,
  openLocalRuns,
  PYTHON,
  processesWith,
} from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const nothing = async () => undefined;

describeNeeding(launcherMissing(), 'a start', () => {
  let runs: LocalRuns;
  beforeAll(async () => {
    runs = await openLocalRuns();
  });
  afterAll(() => runs.close());

  test('executes once, however many workers try at once and later', async () => {
    const spec = runs.script('echo started >> "$MUSTER_RUN_DIR/starts"');
    const other = await runs.another(1);
    const starts = Array.from({ length: 5 }, () => [runs.start(spec), other.start(spec, never, nothing)]).flat();
    await Promise.all(starts);
    const { end } = await runs.follow(spec.runId);
    expect(end.exit).toMatchObject({ code: 0, signal: null });
    await runs.start(spec);
    await (await runs.another()).start(spec, never, nothing);
    // The launcher ends after it has told the end of its run.
    await eventually('nothing of it runs', async () => (await processesWith(spec.runId)).length === 0);
    expect(await runs.read(spec.runId, 'starts')).toBe('started\n');
  });

  test('gives the run its environment and folder and nothing else', async () => {
    const spec = runs.script('pwd; env | sort', { cwd: '/usr', env: { PATH: '/usr/bin:/bin', WORD: 'ä b' } });
    await runs.start(spec);
    const { shipped } = await runs.follow(spec.runId);
    const lines = shipped.output.trim().split('\n');
    expect(lines[0]).toBe('/usr');
    expect(lines).toEqual(expect.arrayContaining(['WORD=ä b', `MUSTER_RUN_ID=${spec.runId}`]));
    const names = lines.slice(1).map((line) => line.split('=')[0] ?? '');
    const ours =
      /^(MUSTER_RUN_ID|MUSTER_RUN_DIR|ANSIBLE_(CALLBACK|STRATEGY|INVENTORY)_PLUGINS|ANSIBLE_LIBRARY|ANSIBLE_INVENTORY_ENABLED)$/;
    const known = /^(PATH|WORD|PWD|OLDPWD|SHLVL|_)$/;
    expect(names.filter((name) => !known.test(name) && !ours.test(name))).toEqual([]);
  });

  test('keeps secrets out of command lines, files and output', async () => {
    const secret = 'correct-horse-battery';
    const spec = runs.script('tr "\\0" " " < /proc/$PPID/cmdline; echo; echo $WORD | cat', {
      env: { PATH: '/usr/bin:/bin', WORD: secret },
      masks: [secret],
    });
    await runs.start(spec);
    const { shipped } = await runs.follow(spec.runId);
    expect(shipped.output).toContain('launch.py');
    expect(shipped.output).toContain('********');
    expect(shipped.output).not.toContain(secret);
    const files = await readdir(join(runs.runsDir, spec.runId));
    expect(files).not.toContain('mask.json');
    expect(files.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect((await stat(runs.file(spec.runId, 'spec.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(runs.runsDir, spec.runId))).mode & 0o777).toBe(0o700);
  });

  test('gives the run variables that are secrets, and keeps them in no file', async () => {
    const secret = 'hvs.of-the-tenant';
    const spec = runs.script('echo "has $WORD"; ls "$MUSTER_RUN_DIR"', {
      secretEnv: { WORD: secret },
      masks: [secret],
    });
    await runs.start(spec);
    const { shipped } = await runs.follow(spec.runId);
    expect(shipped.output).toContain('has ********\n');
    expect(shipped.output).not.toContain('environment.json');
    expect(await readFile(runs.file(spec.runId, 'spec.json'), 'utf8')).not.toContain(secret);
    expect(await readdir(join(runs.runsDir, spec.runId))).not.toContain('environment.json');
  });

  test('leaves no secret behind when two start at once', async () => {
    const spec = runs.script('true', { masks: ['correct-horse-battery'], secretEnv: { A: 'b' } });
    const other = await runs.another();
    await Promise.all([runs.start(spec), other.start(spec, never, nothing)]);
    // A second one that had written its secrets after the launcher took the first.
    await writeFile(runs.file(spec.runId, 'mask.json'), '["correct-horse-battery"]');
    await writeFile(runs.file(spec.runId, 'environment.json'), '{"A": "b"}');
    await runs.follow(spec.runId);
    const left = await readdir(join(runs.runsDir, spec.runId));
    expect(left.filter((name) => ['mask.json', 'environment.json'].includes(name))).toEqual([]);
  });

  test('says in the exit status and the output that a program cannot be executed', async () => {
    const spec = runs.script('', { argv: ['/nonexistent/ansible-playbook', 'site.yml'] });
    await runs.start(spec);
    const { end, shipped } = await runs.follow(spec.runId);
    expect(end.exit?.code).toBe(127);
    expect(shipped.output).toContain('/nonexistent/ansible-playbook');
  });

  test.each([
    ['no Python', { python: '/nonexistent/python3', launcher: LAUNCHER }, /ENOENT/],
    ['no launcher', { python: PYTHON, launcher: '/nonexistent/launch.py' }, /ended with 2/],
  ])('says that there is %s, and frees its slot', async (_title, launcher, message) => {
    const broken = await createLocalRunner({ runsDir: runs.runsDir, slots: 1, ...launcher });
    for (let round = 0; round < 2; round += 1) {
      const failing = broken.start(runs.script('true'), never, async () => {
        throw new Error('had to wait for a slot');
      });
      await expect(failing).rejects.toMatchObject({ code: 'run_not_started', message: expect.stringMatching(message) });
    }
  });
});

describeNeeding(launcherMissing(), 'runs that are there', () => {
  let runs: LocalRuns;
  beforeAll(async () => {
    runs = await openLocalRuns(1);
  });
  afterAll(() => runs.close());

  test('are listed, hold their slots for a new worker and give them back at their end', async () => {
    const first = runs.script('until [ -e "$MUSTER_RUN_DIR/go" ]; do sleep 0.02; done');
    await runs.start(first);
    await writeFile(join(runs.runsDir, 'a stray file'), '');
    await mkdir(join(runs.runsDir, 'no run'));
    const worker = await runs.another(1);
    expect(await worker.live()).toEqual([first.runId]);
    expect(await worker.list()).toEqual(expect.arrayContaining([first.runId, 'no run']));
    expect(await worker.isStarted(first.runId)).toBe(true);

    const second = runs.script('true');
    const waits: [number, number][] = [];
    const started = worker.start(second, never, async (held, limit) => void waits.push([held, limit]));
    await eventually('a wait', () => waits.length > 0);
    expect(waits).toEqual([[1, 1]]);
    expect(await worker.isStarted(second.runId)).toBe(false);
    await writeFile(runs.file(first.runId, 'go'), '');
    await worker.watch(first.runId, { lines: 0, eventBytes: 0, outputBytes: 0 }, nothing, never);
    await started;
    expect(await worker.isStarted(second.runId)).toBe(true);
    await worker.watch(second.runId, { lines: 0, eventBytes: 0, outputBytes: 0 }, nothing, never);
    expect(await worker.live()).toEqual([]);
    await worker.remove(first.runId);
    expect(await worker.list()).not.toContain(first.runId);
  });

  test('of which one is ended while it waits never execute', async () => {
    const first = runs.script('sleep 60');
    await runs.start(first);
    const second = runs.script('echo started >> "$MUSTER_RUN_DIR/starts"');
    const waiting = Promise.withResolvers<void>();
    const started = runs.runner.start(second, never, async () => waiting.resolve());
    await waiting.promise;
    await runs.runner.end(second.runId);
    await started;
    const { end } = await runs.follow(second.runId);
    expect(end.exit).toMatchObject({ code: 143, signal: 'SIGTERM' });
    expect(await readdir(join(runs.runsDir, second.runId))).not.toContain('starts');
    await runs.runner.end(first.runId);
  });

  test('that wait go away with their watcher', async () => {
    const first = runs.script('sleep 60');
    await runs.start(first);
    const controller = new AbortController();
    const waiting = Promise.withResolvers<void>();
    const second = runs.script('true');
    const started = runs.runner.start(second, controller.signal, async () => waiting.resolve());
    await waiting.promise;
    controller.abort(new Error('the worker stops'));
    await expect(started).rejects.toThrow('the worker stops');
    await runs.runner.end(first.runId);
    await runs.start(second);
    await runs.follow(second.runId);
  });
});

const tmpfs = process.getuid?.() === 0 ? null : 'mounting a small disk needs root';

describeNeeding(launcherMissing() ?? tmpfs, 'on a full disk', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-full-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', dir]);
  });
  afterAll(async () => {
    await run('umount', ['-l', dir]);
    await rm(dir, { recursive: true, force: true });
  });

  test('a start says so, is possible later, and what runs can be ended', async () => {
    const runsDir = join(dir, 'runs');
    const runner = await createLocalRunner({ runsDir, slots: 2, python: PYTHON, launcher: LAUNCHER });
    const spec = (runId: string, script: string) => ({
      runId,
      argv: ['/bin/sh', '-c', script],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      secretEnv: {},
      masks: [],
      logMaxBytes: 2 ** 20,
    });
    await runner.start(spec('running-1-0', 'trap "" TERM; while :; do sleep 0.1; done'), never, nothing);
    await writeFile(join(dir, 'ballast'), Buffer.alloc(2 ** 20)).catch(() => undefined);
    await expect(runner.start(spec('late-1-0', 'true'), never, nothing)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await runner.isStarted('late-1-0')).toBe(false);
    await runner.end('running-1-0');
    expect(await processesWith('running-1-0')).toEqual([]);
    await rm(join(dir, 'ballast'));
    expect(await readdir(join(runsDir, 'late-1-0'))).toEqual([]);
    await runner.start(spec('late-1-0', 'true'), never, nothing);
    const end = await runner.watch('late-1-0', { lines: 0, eventBytes: 0, outputBytes: 0 }, nothing, never);
    expect(end.exit?.code).toBe(0);
    expect(await readFile(join(runsDir, 'late-1-0', 'spec.json'), 'utf8')).toContain('late-1-0');
  });
});

describe('without any runs', () => {
  test('a worker begins all the same', async () => {
    const runner = await createLocalRunner({
      runsDir: '/nonexistent/runs',
      slots: 1,
      python: PYTHON,
      launcher: LAUNCHER,
    });
    expect([await runner.list(), await runner.live()]).toEqual([[], []]);
  });
});
