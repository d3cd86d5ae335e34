/** The same playbook by a warm process and by an Ansible of its own, in turn: what the runs take, without sessions. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import { createWarmAnsible } from '../../drivers/local-runner/warm-ansible.ts';
import { ansibleBin } from '../../test/support/ansible/ansible.ts';
import { LAUNCHER, START } from '../../test/support/ansible/local-runs.ts';
import { WARM_PROGRAM } from '../../test/support/ansible/warm.ts';
import type { Usage } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

const ROUNDS = 10;
/** How long (ms) an Ansible may take to be imported. */
const READY_MS = 30_000;
/** Of the wall clock and of the processor time of a cold run. */
const BAR = 0.75;
const never = new AbortController().signal;
const nothing = async () => undefined;

export async function measureWarm(): Promise<Measurement> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bench-warm-'));
  for (const name of ['runs', 'home']) await mkdir(join(dir, name));
  await writeFile(join(dir, 'hosts'), 'h1 ansible_connection=local\n');
  await writeFile(join(dir, 'site.yml'), '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: msg=hello\n');
  const python = join(ansibleBin(), 'python3');
  const warm = createWarmAnsible({ program: WARM_PROGRAM, limit: 1 });
  const runner = { runsDir: join(dir, 'runs'), slots: 1, python, launcher: LAUNCHER };
  const [cold, warmed] = [await createLocalRunner(runner), await createLocalRunner({ ...runner, warm })];
  const play = async (by: typeof cold): Promise<Usage> => {
    const runId = `${randomUUID()}-1-0`;
    const env = {
      PATH: `${ansibleBin()}:/usr/bin:/bin`,
      HOME: join(dir, 'home'),
      LANG: 'C.UTF-8',
      ANSIBLE_NOCOLOR: '1',
    };
    const argv = [join(ansibleBin(), 'ansible-playbook'), '-i', join(dir, 'hosts'), join(dir, 'site.yml')];
    const started = performance.now();
    await by.start({ runId, argv, cwd: dir, env, secretEnv: {}, masks: [], logMaxBytes: 2 ** 20 }, never, nothing);
    const { exit } = await by.watch(runId, START, nothing, never);
    const wall = (performance.now() - started) / 1_000;
    if (exit?.code !== 0) throw new Error(`the playbook ended with ${exit?.code}`);
    const { cpu_seconds } = JSON.parse(await readFile(join(dir, 'runs', runId, 'exit.json'), 'utf8'));
    return { wall, cpu: cpu_seconds };
  };
  try {
    await play(cold);
    await play(warmed);
    for (const latest = performance.now() + READY_MS; warm.processes()[0]?.state !== 'ready'; await delay(50)) {
      if (performance.now() > latest) throw new Error('no warm process became ready');
    }
    const rounds: Record<'cold' | 'warm', Usage>[] = [];
    for (let index = 0; index < ROUNDS; index += 1) rounds.push({ cold: await play(cold), warm: await play(warmed) });
    if (warm.processes()[0]?.runs !== ROUNDS) throw new Error('a run was not started by the warm process');
    const ratio = (read: (usage: Usage) => number) => median(rounds.map((each) => read(each.warm) / read(each.cold)));
    const [wall, cpu] = [ratio((usage) => usage.wall), ratio((usage) => usage.cpu)];
    return {
      what: 'run of one host and one task by a warm process',
      bar: `<= ${BAR} x cold, wall and CPU`,
      measured: `wall ${round(wall)} x, CPU ${round(cpu)} x`,
      met: wall <= BAR && cpu <= BAR,
      samples: {
        cold_wall: rounds.map((each) => round(each.cold.wall, 3)),
        warm_wall: rounds.map((each) => round(each.warm.wall, 3)),
        cold_cpu: rounds.map((each) => round(each.cold.cpu, 3)),
        warm_cpu: rounds.map((each) => round(each.warm.cpu, 3)),
      },
    };
  } finally {
    warm.close();
    await rm(dir, { recursive: true, force: true });
  }
}
