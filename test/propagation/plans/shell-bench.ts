/** Plans whose shell actions really run: the launcher, the evaluator and a machine of their own. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createAttemptRuns } from '../../../activities/propagation/attempt-runs.ts';
import { runAttempt } from '../../../activities/propagation/run-attempt.ts';
import { createShellHandler, type ShellHandlerDependencies } from '../../../activities/propagation/shell-handler.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { parseEvents } from '../../../domain/propagation/event-text.ts';
import { resourceOf } from '../../../domain/propagation/node-id.ts';
import { createActionLogins } from '../../../drivers/actions/action-logins.ts';
import { createActionWorkspaces } from '../../../drivers/actions/action-workspaces.ts';
import { createEvaluator } from '../../../drivers/actions/evaluator.ts';
import { createTargetShells } from '../../../drivers/actions/remote-shell.ts';
import { hasEnded, readStat } from '../../../drivers/machine/process-table.ts';
import type { PlanRow } from '../../../store/propagation/plan-tables.ts';
import { LAUNCHER, openLocalRuns, PYTHON } from '../../support/ansible/local-runs.ts';
import { createMemorySecretStore } from '../../support/fakes/memory-secret-store.ts';
import { SITE, TRUST } from '../../support/kubernetes/site-stand-ins.ts';
import type { PlanVector } from '../rules/vectors.ts';
import { ACTION_NAMES, type Outcomes, openPlans } from './plan-bench.ts';

export const EVALUATOR = join(LAUNCHER, '../../evaluator/evaluate.py');
const OVER_SSH = join(LAUNCHER, '../../actions/over_ssh.py');

/** Exit statuses by which a script of these benches says how it ended. */
export const STATUS_OF = { changed: 0, ok: 10, failed: 20, error: 30 } as const;

/** Writes down that it runs, and ends with the status that stands in a file of its name. */
export const SCRIPT = `
echo "{{ node_id }} {{ attempt }}" >> {{ dir | quote }}/journal
exit "$(cat {{ dir | quote }}/{{ resource_name }}.{{ action }}.{{ occurrence }} 2>/dev/null || echo 0)"
`;

export const META = `
version: 1.0.0
handler: shell
outcomes: {"0": changed, "10": ok, "20": failed, "30": error}
input: {dir: {schema: str!}}
`;

/** Tells scripts how they end. */
export async function writeStatuses(dir: string, outcomes: Outcomes): Promise<void> {
  for (const [node, outcome] of Object.entries(outcomes)) {
    const [base = '', occurrence] = node.split('#');
    for (const at of occurrence === undefined ? ['0', '1'] : [occurrence]) {
      await writeFile(join(dir, `${base}.${at}`), String(STATUS_OF[outcome === 'created' ? 'changed' : outcome]));
    }
  }
}

/** Whether a process works; a zombie does not, and may stay on a busy machine until its parent looks. */
export function isAtWork(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && !hasEnded(stat);
}

export type ShellBench = Awaited<ReturnType<typeof openShellPlans>>;

/** @param instead what the handler gets in place of what these plans have */
export async function openShellPlans({
  hostId = 'shell-machine',
  allowsLocal = true,
  instead = {},
  startPauses = [],
}: {
  hostId?: string;
  allowsLocal?: boolean;
  instead?: Partial<ShellHandlerDependencies>;
  startPauses?: number[];
} = {}) {
  const plans = await openPlans();
  const runs = await openLocalRuns();
  const dir = await mkdtemp(join(tmpdir(), 'muster-shell-'));
  const secrets = createMemorySecretStore();
  const evaluator = createEvaluator({ python: PYTHON, script: EVALUATOR, tempDir: join(dir, 'tmp') });
  const baseEnvironment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LANG: 'C.UTF-8' };
  const handler = createShellHandler({
    ...{ db: plans.db, secrets, evaluator, allowsLocal, logMaxBytes: 2 ** 20 },
    workspaces: createActionWorkspaces({ runsDir: runs.runsDir }),
    ...{ baseEnvironment, site: SITE, trust: TRUST },
    logins: createActionLogins({ runsDir: runs.runsDir, shortDir: dir }),
    shells: createTargetShells({ python: PYTHON, program: OVER_SSH, environment: baseEnvironment }),
    ...instead,
  });
  const attempts = createAttemptRuns({
    ...{ ...plans.deps, runner: runs.runner, hostId, startPauses },
    handlers: { shell: handler },
  });
  const put = (name: string, meta: string, files: Record<string, string>) =>
    putDefinition(plans.deps, {
      ...{ repository: 'resources', name, version: '1.0.0', overwrite: true },
      files: { 'meta.yaml': meta, ...files },
    });
  const never = new AbortController().signal;
  const bench = {
    ...plans,
    runs,
    dir,
    secrets,
    attemptRuns: attempts,
    hostId,
    put,
    /** A definition of one action, and a resource of it on this machine, which a plan is to run. */
    async action(script: string, meta = '', files: Record<string, string> = {}, inputs: Record<string, unknown> = {}) {
      await put('one', `version: 1.0.0\nhandler: shell\n${meta}`, { 'actions/run.sh': script, ...files });
      await createResource(plans.deps, { name: 'a', from: 'one', inputs: { location_id: 'localhost', ...inputs } });
      return plans.process();
    },
    bring: (plan: string, attempt: string, signal = never) =>
      runAttempt({ ...plans.deps, hostId, attempts }, { plan, attempt }, signal),
    /** Starts a plan, and brings its attempts to their ends until it is over. */
    async execute(plan: string): Promise<PlanRow> {
      await plans.start(plan);
      return bench.goOn(plan);
    },
    /** Brings the attempts of a plan to their ends until it is over. */
    async goOn(plan: string): Promise<PlanRow> {
      for (;;) {
        const answer = await plans.advance(plan);
        if (answer.isOver) return plans.plan(plan);
        await Promise.all(answer.attempts.map(({ attempt }) => bench.bring(plan, attempt)));
      }
    },
    /** Stages a worked plan of scripts that end as they are told. */
    async stageScripts({ staged, events, fixed = [] }: PlanVector, outcomes: Outcomes) {
      const named = parseEvents(events).flatMap(({ parent, child }) => [parent, child]);
      const scripts = Object.fromEntries(ACTION_NAMES.map((action) => [`actions/${action}.sh`, SCRIPT]));
      await put('scripted', META, scripts);
      const once = ACTION_NAMES.map((action) => `  ${action}: {file: ${action}.sh, repeatable: false}`);
      await put('once', `${META}actions:\n${once.join('\n')}`, scripts);
      const single = new Set(fixed.map(resourceOf));
      for (const name of new Set([...staged, ...named].map(resourceOf))) {
        const from = single.has(name) ? 'once' : 'scripted';
        await createResource(plans.deps, { name, from, inputs: { location_id: 'localhost', dir } });
      }
      await writeStatuses(dir, outcomes);
      await plans.addEvents(events);
      await plans.commitAll();
      await plans.stage(staged);
    },
    /** What the scripts have written down: node and number of the attempt. */
    journal: async () => (await readFile(join(dir, 'journal'), 'utf8').catch(() => '')).split('\n').filter(Boolean),
    /** Tables with a row that shows one of these words. */
    async tablesWith(words: readonly string[]): Promise<string[]> {
      const found: string[] = [];
      const { rows } = await sql<{ name: string }>`
        select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(plans.db);
      for (const { name } of rows) {
        for (const word of words) {
          const query = sql`select 1 from ${sql.table(name)} t where strpos(t::text, ${word}) > 0 limit 1`;
          if ((await query.execute(plans.db)).rows.length > 0) found.push(`${word} in ${name}`);
        }
      }
      return found;
    },
    async close() {
      await evaluator.stop();
      await runs.close();
      await plans.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}
