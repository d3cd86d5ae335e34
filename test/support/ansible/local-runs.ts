/** Runs of shell scripts by the real launcher, in a folder of their own. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunBatch, RunCursor, RunEnd, Runner, RunSpec } from '../../../domain/runs/runner.ts';
import { createLocalRunner } from '../../../drivers/local-runner/local-runner.ts';
import { findProgram } from '../find-program.ts';
import { findAnsible } from './ansible.ts';

export const LAUNCHER = join(import.meta.dirname, '../../../ansible/launcher/launch.py');
export const START: RunCursor = { lines: 0, eventBytes: 0, outputBytes: 0 };

const ansible = findAnsible();
/** The interpreter of Ansible, which has Jinja; without Ansible that of the machine. */
export const PYTHON = ansible === null ? (findProgram('python3') ?? 'python3') : join(ansible, 'python3');

/** Why no run can be started here, `null` when one can. */
export function launcherMissing(): string | null {
  return ansible === null && findProgram('python3') === null ? 'no Python: Debian package python3' : null;
}

/** Everything that a watch handed over. */
export interface Shipped {
  batches: RunBatch[];
  output: string;
  lines: number[];
  events: RunBatch['events'][number]['event'][];
  cursor: RunCursor;
}

export interface LocalRuns {
  runner: Runner;
  runsDir: string;
  /** Another worker on the same folder. */
  another(slots?: number): Promise<Runner>;
  /** A run of `sh -c script`; its id is one of its own. */
  script(text: string, given?: Partial<RunSpec>): RunSpec;
  start(spec: RunSpec): Promise<void>;
  /** Follows a run to its end. */
  follow(runId: string, from?: RunCursor): Promise<{ end: RunEnd; shipped: Shipped }>;
  file(runId: string, name: string): string;
  read(runId: string, name: string): Promise<string>;
  /** Ends what is left of the runs and removes their files. */
  close(): Promise<void>;
}

const never = new AbortController().signal;

export async function openLocalRuns(slots = 20): Promise<LocalRuns> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-runs-'));
  const runsDir = join(dir, 'runs');
  await mkdir(runsDir);
  const another = (count = slots) => createLocalRunner({ runsDir, slots: count, python: PYTHON, launcher: LAUNCHER });
  const runner = await another();
  const file = (runId: string, name: string) => join(runsDir, runId, name);
  return {
    runner,
    runsDir,
    another,
    file,
    script: (text, given = {}) => ({
      runId: `${randomUUID()}-1-0`,
      argv: ['/bin/sh', '-c', text],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      masks: [],
      secretEnv: {},
      logMaxBytes: 64 * 2 ** 20,
      ...given,
    }),
    start: (spec) => runner.start(spec, never, async () => undefined),
    follow: async (runId, from = START) => {
      const shipped = collect(from);
      const end = await runner.watch(runId, from, shipped.take, never);
      return { end, shipped };
    },
    read: (runId, name) => readFile(file(runId, name), 'utf8'),
    close: async () => {
      for (const runId of await readdir(runsDir)) await runner.end(runId).catch(() => undefined);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Takes batches and checks that each goes on where the one before it ended. */
export function collect(from: RunCursor = START): Shipped & { take(batch: RunBatch): Promise<void> } {
  const shipped = {
    batches: [] as RunBatch[],
    output: '',
    lines: [] as number[],
    events: [] as Shipped['events'],
    cursor: from,
    take: async (batch: RunBatch) => {
      if (batch.output !== null && batch.output.start !== shipped.cursor.outputBytes) {
        throw new Error(`output of ${batch.output.start} after ${shipped.cursor.outputBytes}`);
      }
      shipped.batches.push(batch);
      shipped.output += batch.output?.text ?? '';
      for (const { line, event } of batch.events) {
        shipped.lines.push(line);
        shipped.events.push(event);
      }
      shipped.cursor = batch.cursor;
    },
  };
  return shipped;
}

/** Processes that carry the run's id in their environment or are named by its claim; zombies are none. */
export async function processesWith(runId: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^[0-9]+$/.test(entry)) continue;
    try {
      const environment = await readFile(`/proc/${entry}/environ`, 'latin1');
      const command = await readFile(`/proc/${entry}/cmdline`, 'latin1');
      if (environment.includes(runId) || command.includes(runId)) found.push(Number(entry));
    } catch {
      // Gone meanwhile.
    }
  }
  return found;
}
