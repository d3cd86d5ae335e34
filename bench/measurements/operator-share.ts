/** What an operator adds to a playbook of one `k8s` task: the same `ansible-runner` commands beside it, against the same API server. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { runDirectory } from '../../domain/operator/run-directory.ts';
import { runnerArguments } from '../../domain/operator/runner-command.ts';
import type { OperatorBench } from '../../test/support/operator/operator-process.ts';
import { ROOT } from '../../test/support/source-tree.ts';
import { type Measurement, round } from '../measurement.ts';
import { createMany, untilAllSuccessful, untilIdle, withOperators } from '../operator-place.ts';
import { median } from '../statistics.ts';

const execute = promisify(execFile);

const PLAYBOOK = [
  {
    hosts: 'localhost',
    gather_facts: false,
    tasks: [
      {
        'kubernetes.core.k8s': {
          definition: {
            ...{ apiVersion: 'v1', kind: 'ConfigMap' },
            metadata: { name: '{{ ansible_operator_meta.name }}', namespace: '{{ ansible_operator_meta.namespace }}' },
            data: { size: '1' },
          },
        },
      },
    ],
  },
];

interface Share {
  what: string;
  rounds: number;
  /** Resources of each round, and how many of them run at the same time. */
  count: number;
  atOnce: number;
  /** Whether the medians of the operator and of the bare commands (s) are within the bar. */
  bar: { text: string; isMet(operator: number, bare: number): boolean };
}

/** One resource. */
export const measureOperatorOne = (): Promise<Measurement> =>
  measureShare({
    ...{ what: 'one custom resource with one `k8s` task, to Successful', rounds: 5, count: 1, atOnce: 1 },
    bar: { text: 'bare + 1.0 s', isMet: (operator, bare) => operator <= bare + 1 },
  });

/** Twenty resources, two at a time. */
export const measureOperatorTwenty = (): Promise<Measurement> =>
  measureShare({
    ...{ what: '20 custom resources, 2 at a time', rounds: 2, count: 20, atOnce: 2 },
    bar: { text: '1.15 x bare', isMet: (operator, bare) => operator <= bare * 1.15 },
  });

async function measureShare({ what, rounds, count, atOnce, bar }: Share): Promise<Measurement> {
  const made = await execute(process.execPath, [join(ROOT, 'bootstrap', 'run.mjs'), 'operator-ansible']);
  const programs = join(made.stdout.trim(), 'bin');
  return withOperators({ markUnsafe: false }, async (bench) => {
    await writeFile(join(bench.home, 'playbook.yml'), JSON.stringify(PLAYBOOK));
    await bench.start({
      env: { MUSTER_ANSIBLE_RUNNER: join(programs, 'ansible-runner') },
      args: ['--max-concurrent-reconciles', String(atOnce)],
    });
    const samples: { operator: number[]; bare: number[] } = { operator: [], bare: [] };
    // What is loaded for the first time counts on neither side.
    for (let turn = 0; turn <= rounds; turn += 1) {
      const names = (of: string) => Array.from({ length: count }, (_, index) => `${of}-${turn}-${index}`);
      const bare = await seconds(() => runBare(bench, programs, names('bare'), atOnce));
      const operator = await seconds(async () => {
        await createMany(bench, names('own'));
        await untilAllSuccessful(bench, names('own'));
      });
      await untilIdle(bench);
      if (turn === 0) continue;
      samples.bare.push(round(bare, 3));
      samples.operator.push(round(operator, 3));
    }
    const [operator, bare] = [median(samples.operator), median(samples.bare)];
    const more = operator - bare;
    return {
      what,
      bar: bar.text,
      measured: `bare ${round(bare)} s ${more < 0 ? '-' : '+'} ${round(Math.abs(more))} s, ${round(operator / bare)} x`,
      met: bar.isMet(operator, bare),
      samples,
    };
  });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

/** Runs the commands of an operator without one, so many at the same time. */
async function runBare(
  bench: OperatorBench,
  programs: string,
  names: readonly string[],
  atOnce: number,
): Promise<void> {
  const left = [...names];
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await runCommand(bench, programs, name);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function runCommand({ home, api: { kubeconfig } }: OperatorBench, programs: string, name: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'muster-bare-runner-'));
  try {
    const script = { playbook: join(home, 'playbook.yml'), role: null };
    const variables = { ansible_operator_meta: { name, namespace: 'default' } };
    const { files } = runDirectory({ home, env: {}, kubeconfig, variables, script, ansibleArgs: '' });
    for (const { path, text } of files) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    const command = { directory, ident: 'bare', script, maxArtifacts: 20, verbosity: 2, gathering: undefined };
    await execute(join(programs, 'ansible-runner'), runnerArguments(command), {
      cwd: home,
      env: {
        ...{ PATH: `${programs}:${process.env.PATH}`, HOME: process.env.HOME, LANG: 'C.UTF-8' },
        ...{ KUBECONFIG: kubeconfig, K8S_AUTH_KUBECONFIG: kubeconfig },
      },
      maxBuffer: 64 * 2 ** 20,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
