import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ClaimFile } from '../../domain/runs/schema.ts';
import { isAlive, livingProcesses, readBootId, readStat } from '../../drivers/machine/process-table.ts';
import { collect, type LocalRuns, launcherMissing, openLocalRuns, START } from '../support/ansible/local-runs.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';

const never = new AbortController().signal;

describeNeeding(launcherMissing(), 'a watch', () => {
  let runs: LocalRuns;
  beforeAll(async () => {
    runs = await openLocalRuns();
  });
  afterAll(() => runs.close());

  /** A shell loop that waits until the test makes the run's file `name`. */
  const until = (name: string) => `until [ -e "$MUSTER_RUN_DIR/${name}" ]; do sleep 0.02; done`;
  const allow = (runId: string, name: string) => writeFile(runs.file(runId, name), '');
  const claimOf = async (runId: string): Promise<ClaimFile> => JSON.parse(await runs.read(runId, 'claim'));
  const line = (n: number) => JSON.stringify({ time: '2026-11-21T10:00:00.000Z', type: 'task_start', task: `t${n}` });

  test('hands over everything once and in order: much output, wide characters, a last line without an end', async () => {
    const script = `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "$i ä€🚀 0123456789012345678901234567890123456789"; done; printf 'end 🚀'`;
    const spec = runs.script(script);
    await runs.start(spec);
    const { end, shipped } = await runs.follow(spec.runId);
    expect(end).toMatchObject({ exit: { code: 0 }, results: null, warnings: [] });
    const lines = shipped.output.split('\n');
    expect(lines).toHaveLength(20_001);
    expect(lines.findIndex((text, index) => index < 20_000 && !text.startsWith(`${index + 1} ä€🚀 0`))).toBe(-1);
    expect(lines.at(-1)).toBe('end 🚀');
    expect(shipped.output).toBe(await runs.read(spec.runId, 'output.log'));
    expect(shipped.batches.length).toBeGreaterThan(4);
  });

  test('goes on where an earlier one stopped', async () => {
    const spec = runs.script(
      `echo one; echo '${line(1)}' >> "$MUSTER_RUN_DIR/events.jsonl"; ${until('go')}; echo two; echo '${line(2)}' >> "$MUSTER_RUN_DIR/events.jsonl"`,
    );
    await runs.start(spec);
    const first = collect();
    const controller = new AbortController();
    const watched = runs.runner.watch(spec.runId, START, first.take, controller.signal);
    await eventually('the first output', () => first.output.includes('one\n') && first.lines.length === 1);
    controller.abort(new Error('the worker stops'));
    await expect(watched).rejects.toThrow('the worker stops');
    expect((await runs.runner.live()).includes(spec.runId)).toBe(true);
    await allow(spec.runId, 'go');
    const { end, shipped } = await runs.follow(spec.runId, first.cursor);
    expect(end.exit?.code).toBe(0);
    expect(first.output + shipped.output).toBe('one\ntwo\n');
    expect([...first.lines, ...shipped.lines]).toEqual([1, 2]);
    // And once more from the beginning, after the end.
    expect((await runs.follow(spec.runId)).shipped.output).toBe('one\ntwo\n');
  });

  test('tells its taker nothing again when that one failed', async () => {
    const spec = runs.script('echo one');
    await runs.start(spec);
    const failing = runs.runner.watch(spec.runId, START, () => Promise.reject(new Error('database away')), never);
    await expect(failing).rejects.toThrow('database away');
    expect((await runs.follow(spec.runId)).shipped.output).toBe('one\n');
  });

  test('waits for the rest of a line of events, and for the rest of a character', async () => {
    const spec = runs.script(until('go'));
    await runs.start(spec);
    const shipped = collect();
    const watched = runs.runner.watch(spec.runId, START, shipped.take, never);
    const events = runs.file(spec.runId, 'events.jsonl');
    const output = runs.file(spec.runId, 'output.log');
    const rocket = Buffer.from('🚀');
    await appendFile(events, `${line(1)}\n${line(2).slice(0, 20)}`);
    await appendFile(output, Buffer.concat([Buffer.from('a'), rocket.subarray(0, 2)]));
    await eventually('the first event', () => shipped.lines.length > 0 && shipped.output === 'a');
    expect(shipped.lines).toEqual([1]);
    await appendFile(events, `${line(2).slice(20)}\n`);
    await appendFile(output, rocket.subarray(2));
    await eventually('the second event', () => shipped.lines.length > 1 && shipped.output.length > 1);
    await allow(spec.runId, 'go');
    await watched;
    expect(shipped.events).toMatchObject([{ task: 't1' }, { task: 't2' }]);
    expect(shipped.output).toBe('a🚀');
  });

  test('keeps the numbers of lines when some are no events', async () => {
    const spec = runs.script('true');
    await runs.start(spec);
    await runs.follow(spec.runId);
    const deep = `{"time":"x","type":"y","d":${'['.repeat(200)}${']'.repeat(200)}}`;
    const odd = [
      'no json',
      '',
      '[]',
      '{"time": 1}',
      deep,
      `{"time":"x","type":"t\\u0000\\ud83d"}`,
      '{"time":"x","type":"y"',
    ];
    await writeFile(runs.file(spec.runId, 'events.jsonl'), [line(1), ...odd].join('\n'));
    const { shipped } = await runs.follow(spec.runId);
    expect(shipped.lines).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const left = { type: 'warning', message: 'an event could not be read and was left out' };
    expect(shipped.events).toMatchObject([
      { task: 't1' },
      left,
      left,
      left,
      left,
      left,
      { type: 't\ufffd\ufffd' },
      left,
    ]);
  });

  test('takes a line of events apart that is longer than any buffer', async () => {
    const spec = runs.script('true');
    await runs.start(spec);
    await runs.follow(spec.runId);
    const long = JSON.stringify({ time: 'x', type: 'y', message: 'm'.repeat(2_500_000) });
    await writeFile(runs.file(spec.runId, 'events.jsonl'), `${line(1)}\n${long}\n${line(2)}\n`);
    const { shipped } = await runs.follow(spec.runId);
    expect(shipped.events[0]).toMatchObject({ task: 't1' });
    expect(shipped.events.at(-1)).toMatchObject({ task: 't2' });
    expect(shipped.lines).toEqual(shipped.lines.map((_, index) => index + 1));
  });

  test('gives the results of the hosts', async () => {
    const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const results = { hosts: { web1: { ...counts, status: 'applied' } }, broken_off: false };
    const spec = runs.script(`echo '${JSON.stringify(results)}' > "$MUSTER_RUN_DIR/results.json"; exit 3`);
    await runs.start(spec);
    expect((await runs.follow(spec.runId)).end).toMatchObject({
      exit: { code: 3, signal: null },
      results,
      warnings: [],
    });
  });

  test.each(['{', '{"hosts": {"web1": {"status": "applied"}}, "broken_off": false}', ''])(
    'says that results like %j cannot be read, and ends',
    async (text) => {
      const spec = runs.script(`printf '%s' '${text}' > "$MUSTER_RUN_DIR/results.json"`);
      await runs.start(spec);
      const { end } = await runs.follow(spec.runId);
      expect(end).toMatchObject({ exit: { code: 0 }, results: null });
      expect(end.warnings).toEqual(['the results of the run cannot be read; its hosts have what their tasks say']);
    },
  );

  test('says that results which were begun with could not be written, and takes the run for no success', async () => {
    const spec = runs.script(': > "$MUSTER_RUN_DIR/.results.json"');
    await runs.start(spec);
    const { end } = await runs.follow(spec.runId);
    const warning =
      'the results of the run could not be written, most likely on a full disk; its hosts have what their tasks say';
    expect(end).toMatchObject({ exit: { code: 74, signal: null }, results: null, warnings: [warning] });
    // A playbook that fails may do so before it comes to them.
    const failing = runs.script(': > "$MUSTER_RUN_DIR/.results.json"; exit 2');
    await runs.start(failing);
    expect((await runs.follow(failing.runId)).end).toMatchObject({ exit: { code: 2 }, results: null, warnings: [] });
  });

  test('ends with the run, whatever still holds its output', async () => {
    const spec = runs.script('sleep 60 & echo started');
    await runs.start(spec);
    const { end, shipped } = await runs.follow(spec.runId);
    expect([end.exit?.code, shipped.output]).toEqual([0, 'started\n']);
    await runs.runner.end(spec.runId);
  });

  test('finds a run lost whose launcher was killed, after all that it wrote', async () => {
    const spec = runs.script(`echo said; exec sleep 60`);
    await runs.start(spec);
    const shipped = collect();
    const watched = runs.runner.watch(spec.runId, START, shipped.take, never);
    await eventually('output', () => shipped.output !== '');
    process.kill((await claimOf(spec.runId)).pid, 'SIGKILL');
    expect(await watched).toEqual({ exit: null, results: null, warnings: [] });
    expect(shipped.output).toBe('said\n');
    await runs.runner.end(spec.runId);
  });

  test('finds a run lost whose files are gone', async () => {
    const spec = runs.script('touch "$MUSTER_RUN_DIR/ready"; exec sleep 60');
    await runs.start(spec);
    // A program that cannot begin any more since half of its files are gone has an end, which is on record for a moment.
    await eventually('the program runs', () =>
      runs.read(spec.runId, 'ready').then(
        () => true,
        () => false,
      ),
    );
    const { pid } = await claimOf(spec.runId);
    const watched = runs.runner.watch(spec.runId, START, async () => undefined, never);
    // The launcher may be writing there.
    await rm(join(runs.runsDir, spec.runId), { recursive: true, maxRetries: 10 });
    expect((await watched).exit).toBeNull();
    await runs.runner.end(spec.runId);
    await eventually('no launcher', async () => ((await readStat(pid))?.state ?? 'Z') === 'Z');
  });

  test.each([
    ['a claim of text', '{"pid": 1'],
    ['an empty claim', ''],
    ['a claim of other things', '{"pid": "1"}'],
  ])('finds a run with %s lost, and neither list nor end stumble over it', async (title, text) => {
    const runId = `broken-${title.length}-1-0`;
    await mkdir(join(runs.runsDir, runId));
    await writeFile(runs.file(runId, 'claim'), text);
    expect(await runs.runner.isStarted(runId)).toBe(true);
    expect(await runs.runner.live()).not.toContain(runId);
    await runs.another();
    expect((await runs.follow(runId)).end.exit).toBeNull();
    await runs.runner.end(runId);
  });

  test('finds a run lost whose end cannot be read', async () => {
    const spec = runs.script('true');
    await runs.start(spec);
    await runs.follow(spec.runId);
    await writeFile(runs.file(spec.runId, 'exit.json'), '{"code": 100000000000, "signal": null, "ended_at": ""}');
    expect((await runs.follow(spec.runId)).end.exit).toBeNull();
  });

  test('takes a launcher for gone that is a zombie, another process of its number, or of another boot', async () => {
    const parent = spawn('/bin/sh', ['-c', 'sleep 0 & exec sleep 60'], { stdio: 'ignore' });
    await once(parent, 'spawn');
    const zombie = await eventually('a zombie', async () => {
      const children = await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8');
      const stat = await readStat(Number(children.trim().split(' ')[0]));
      return stat?.state === 'Z' ? stat : null;
    });
    const boot_id = await readBootId();
    const own = await readStat(process.pid);
    const claims: [string, ClaimFile][] = [
      ['zombie', { pid: zombie.pid, start_time: zombie.startTime, boot_id }],
      ['reused', { pid: process.pid, start_time: '1', boot_id }],
      [
        'rebooted',
        { pid: process.pid, start_time: own?.startTime ?? '', boot_id: '00000000-0000-4000-8000-000000000000' },
      ],
    ];
    for (const [name, claim] of claims) {
      const runId = `${name}-1-0`;
      await mkdir(join(runs.runsDir, runId));
      await writeFile(runs.file(runId, 'claim'), JSON.stringify(claim));
      expect(await runs.runner.live()).not.toContain(runId);
      expect((await runs.follow(runId)).end.exit).toBeNull();
      // What has that number now is none of ours.
      await runs.runner.end(runId);
    }
    expect(parent.exitCode).toBeNull();
    parent.kill();
  });

  test('takes a launcher for gone only when each thread of it is', async () => {
    const ends = 'import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); ';
    // That ends the thread which calls it, the first one.
    const child = spawn('/usr/bin/python3', ['-c', `${ends}ctypes.CDLL(None).pthread_exit(None)`], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    await once(child, 'spawn');
    const pid = Number(child.pid);
    const zombie = await eventually('a first thread that ended', () => {
      const stat = readStat(pid);
      return stat?.state === 'Z' ? stat : null;
    });
    const process_ = { pid, start_time: zombie.startTime, boot_id: await readBootId() };
    expect([zombie.threads, await isAlive(process_), (await livingProcesses()).has(pid)]).toEqual([2, true, true]);
    child.kill('SIGKILL');
    await exited;
    expect(await isAlive(process_)).toBe(false);
  });

  test('leaves nothing of itself behind', async () => {
    const watches = async () => {
      const texts = await Promise.all(
        (await readdir('/proc/self/fdinfo')).map((fd) => readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')),
      );
      return texts.join('').split('inotify wd:').length - 1;
    };
    const spec = runs.script('exec sleep 60');
    await runs.start(spec);
    const before = await watches();
    for (let round = 0; round < 5; round += 1) {
      const controller = new AbortController();
      const watched = runs.runner.watch(spec.runId, START, async () => undefined, controller.signal);
      await eventually('a look at the folder', async () => (await watches()) > before);
      controller.abort(new Error('enough'));
      await expect(watched).rejects.toThrow('enough');
    }
    const failing = runs.runner.watch(spec.runId, START, async () => undefined, AbortSignal.abort(new Error('never')));
    await expect(failing).rejects.toThrow('never');
    await eventually('no look any more', async () => (await watches()) === before);
    await runs.runner.end(spec.runId);
  });
});
