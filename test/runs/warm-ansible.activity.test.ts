/** Runs that a worker starts with a process that has imported Ansible: as cold ones in everything, and cold when it is not there. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Runner, RunSpec } from '../../domain/runs/runner.ts';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import { createWarmAnsible, type WarmAnsible } from '../../drivers/local-runner/warm-ansible.ts';
import { readWarmNote, writeWarmNote } from '../../drivers/local-runner/warm-note.ts';
import { signal } from '../../drivers/machine/process-table.ts';
import { ansibleBin, ansibleMissing } from '../support/ansible/ansible.ts';
import { collect, LAUNCHER, PYTHON, START } from '../support/ansible/local-runs.ts';
import { WARM_PROGRAM } from '../support/ansible/warm.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';

const never = new AbortController().signal;
const nothing = async () => undefined;
const SECRET = 'correct-horse-battery';
/** Of a test that starts Ansible six times. */
const LONG_MS = 600_000;
const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
    - debug: msg="one and {{ 1 + 1 }}"
    - command: printenv WORD
`;

describeNeeding(ansibleMissing(), 'a warm process of Ansible', () => {
  let dir: string;
  let warm: WarmAnsible;
  let runner: Runner;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-warm-'));
    for (const name of ['runs', 'home', 'layer']) await mkdir(join(dir, name));
    await writeFile(join(dir, 'layer', 'hosts'), 'h1 ansible_connection=local\n');
    await writeFile(join(dir, 'layer', 'site.yml'), PLAYBOOK);
    // A process that is slow for once would be taken for one that hangs.
    await open(WARM_PROGRAM, 60_000);
  });
  afterEach(async () => {
    warm.close();
    for (const runId of await runner.list()) await runner.end(runId);
    await rm(dir, { recursive: true, force: true });
  });

  const open = async (program: string, answerMs?: number) => {
    warm = createWarmAnsible({ program, limit: 2, ...(answerMs === undefined ? {} : { answerMs }) });
    runner = await createLocalRunner({
      ...{ runsDir: join(dir, 'runs'), slots: 4, python: PYTHON, launcher: LAUNCHER },
      warm,
    });
  };
  const spec = (given: Partial<RunSpec> = {}, env: Record<string, string> = {}): RunSpec => ({
    runId: `${randomUUID()}-1-0`,
    argv: [join(ansibleBin(), 'ansible-playbook'), '-i', 'hosts', 'site.yml'],
    cwd: join(dir, 'layer'),
    env: {
      ...{ PATH: `${ansibleBin()}:/usr/bin:/bin`, HOME: join(dir, 'home'), LANG: 'C.UTF-8', ANSIBLE_NOCOLOR: '1' },
      ...{ ANSIBLE_PYTHON_INTERPRETER: PYTHON, ...env },
    },
    secretEnv: { WORD: SECRET },
    masks: [SECRET],
    logMaxBytes: 2 ** 20,
    ...given,
  });
  const play = async (given: RunSpec) => {
    await runner.start(given, never, nothing);
    const shipped = collect();
    const { exit, results } = await runner.watch(given.runId, START, shipped.take, never);
    const events = shipped.events.map(({ time: _time, duration: _duration, ...rest }) => rest);
    return { code: exit?.code, signal: exit?.signal, results, events, output: shipped.output };
  };
  const states = () => warm.processes().map(({ state }) => state);
  const untilReady = () => eventually('the process is ready', async () => states().includes('ready') || null);
  const runs = () => warm.processes().reduce((sum, process) => sum + process.runs, 0);

  test('is made by the first run, which is cold, and starts the next ones, which are the same', async () => {
    const cold = await play(spec());
    expect(runs()).toBe(0);
    expect(cold).toMatchObject({ code: 0, signal: null });
    await untilReady();
    expect(await play(spec())).toEqual(cold);
    expect(await play(spec())).toEqual(cold);
    expect(runs()).toBe(2);
    expect(JSON.stringify(cold)).not.toContain(SECRET);
    expect(cold.output).toContain('PLAY RECAP');
  });

  test('is one for all that differ in nothing that it was started with, and no more than the limit', async () => {
    await play(spec());
    await untilReady();
    await play(spec({}, { ANSIBLE_TIMEOUT: '33', MINE: 'yes' }));
    expect([states(), runs()]).toEqual([['ready'], 1]);
    await play(spec({}, { LC_ALL: 'C.UTF-8' }));
    await play(spec({}, { PYTHONUNBUFFERED: '1' }));
    expect(warm.processes()).toHaveLength(2);
  });

  test('that is killed costs a cold start, and what it has started goes on', async () => {
    await play(spec());
    await untilReady();
    const gate = join(dir, 'gate');
    await writeFile(
      join(dir, 'layer', 'site.yml'),
      PLAYBOOK.replace('printenv WORD', `sh -c 'until test -e ${gate}; do sleep 0.1; done'`),
    );
    const long = spec();
    const ended = play(long);
    await eventually('it is started', async () => (runs() === 1 && (await runner.isStarted(long.runId))) || null);
    const [killed] = warm.processes();
    signal(killed?.pid ?? 0, 'SIGKILL');
    await eventually('it is gone', async () => warm.processes().length === 0 || null);
    await writeFile(gate, '');
    expect(await ended).toMatchObject({ code: 0 });
    expect(await play(spec())).toMatchObject({ code: 0 });
    await untilReady();
  });

  test(
    'that answers nothing, or nonsense, costs a cold start',
    async () => {
      const program = join(dir, 'program.py');
      await open(program);
      for (const [text, state] of [
        ['import sys\nprint(\'{"ready": true}\', flush=True)\nsys.stdin.read()\n', 'ready'],
        ['import sys\nprint("nonsense", flush=True)\nsys.stdin.read()\n', 'refused'],
        ['print(\'{"ready": false, "why": "as asked"}\')\n', 'refused'],
      ] as const) {
        warm.close();
        await writeFile(program, text);
        expect(await play(spec())).toMatchObject({ code: 0 });
        await eventually('it has said that', async () => states()[0] === state || null);
        expect(await play(spec())).toMatchObject({ code: 0 });
        expect(runs()).toBe(0);
      }
      expect(warm.processes()).toMatchObject([{ state: 'refused', why: 'as asked' }]);
    },
    LONG_MS,
  );

  test('starts nothing but what Ansible installs as its program', async () => {
    const program = join(dir, 'mine');
    await writeFile(program, '#!/bin/sh\necho mine\n');
    await chmod(program, 0o700);
    expect(await play(spec({ argv: [program] }))).toMatchObject({ code: 0, output: 'mine\n' });
    expect(await play(spec({ argv: ['/bin/sh', '-c', 'echo other'] }))).toMatchObject({ code: 0, output: 'other\n' });
    expect(warm.processes()).toEqual([]);
  });

  test('leaves a run whose events others write alone', async () => {
    await play(spec());
    await untilReady();
    expect(await warm.start(dir, spec({ trace: 'job_events' }))).toBe(false);
    expect(await warm.start(dir, spec({ trace: 'none' }))).toBe(false);
    expect(runs()).toBe(0);
  });

  test('is told of the inventory of a session, and answers in any order and late where it reads that first', async () => {
    const [program, begun] = [join(dir, 'program.py'), join(dir, 'begun')];
    await open(program);
    await writeFile(
      program,
      [
        'import json, sys, time',
        'say = lambda **fields: print(json.dumps(fields), flush=True)',
        'say(ready=True)',
        'first = json.loads(sys.stdin.readline())',
        'say(reading=True, number=first["number"])',
        `open(${JSON.stringify(begun)}, 'w').close()`,
        'second = json.loads(sys.stdin.readline())',
        `open(${JSON.stringify(join(dir, 'orders'))}, 'w').write(json.dumps([first, second]))`,
        'say(started=True, number=second["number"])',
        'time.sleep(4)',
        'say(started=False, number=first["number"])',
        'sys.stdin.read()',
      ].join('\n'),
    );
    const inventory = { folder: join(dir, 'inventory'), last: false };
    expect(await warm.start('/first', spec())).toBe(false);
    await untilReady();
    const answers: [string, boolean][] = [];
    const ask = async (run: string, given: Partial<RunSpec>) => answers.push([run, await warm.start(run, spec(given))]);
    const first = ask('/a', { inventory });
    await eventually('it reads for the first', () =>
      readFile(begun).then(
        () => true,
        () => false,
      ),
    );
    await Promise.all([first, ask('/b', {})]);
    expect(answers).toEqual([
      ['/b', true],
      ['/a', false],
    ]);
    expect(JSON.parse(await readFile(join(dir, 'orders'), 'utf8'))).toEqual([
      { run: '/a', number: 1, inventory: inventory.folder, last: false },
      { run: '/b', number: 2 },
    ]);
    expect(states()).toEqual(['ready']);
  });

  test('takes the inventory of a session that it has read once for each of its layers', async () => {
    const folder = join(dir, 'inventory');
    await mkdir(folder);
    const hosts = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`n${index}`, {}]));
    await writeFile(
      join(folder, '01-cfs-generated.yaml'),
      JSON.stringify({ all: { hosts: { h1: { ansible_connection: { __ansible_unsafe: 'local' } }, ...hosts } } }),
    );
    const argv = [join(ansibleBin(), 'ansible-playbook'), '-i', folder, '--limit', 'h1', 'site.yml'];
    const cold = await play(spec({ argv }));
    await untilReady();
    for (const last of [false, true]) expect(await play(spec({ argv, inventory: { folder, last } }))).toEqual(cold);
    expect(runs()).toBe(2);
  });

  test('leaves a run to the one that has claimed it', async () => {
    await play(spec());
    await untilReady();
    const given = spec();
    await runner.start(given, never, nothing);
    const file = join(dir, 'runs', given.runId, 'claim');
    const claim = await readFile(file, 'utf8');
    expect(await warm.start(join(dir, 'runs', given.runId), given)).toBe(true);
    await runner.watch(given.runId, START, nothing, never);
    expect(await readFile(file, 'utf8')).toBe(claim);
  });

  test('is ended as its run is, by the id of the run', async () => {
    await play(spec());
    await untilReady();
    await writeFile(join(dir, 'layer', 'site.yml'), PLAYBOOK.replace('printenv WORD', 'sleep 600'));
    const given = spec();
    await runner.start(given, never, nothing);
    expect(runs()).toBe(1);
    await runner.end(given.runId);
    const { exit } = await runner.watch(given.runId, START, nothing, never);
    expect(exit).not.toBeNull();
    expect(states()).toEqual(['ready']);
  });

  test('is told of by a note, as long as it is there', async () => {
    await play(spec());
    await untilReady();
    await writeWarmNote(dir, warm.processes());
    const [process] = warm.processes();
    expect(await readWarmNote(dir)).toEqual([{ pid: process?.pid, state: 'ready', why: null }]);
    warm.close();
    await eventually('it is gone', async () => (await readWarmNote(dir)).length === 0 || null);
    await writeFile(join(dir, 'warm-ansible.json'), 'nonsense');
    expect(await readWarmNote(dir)).toEqual([]);
  });
});
