/** Plans on a database of their own, with a runner that only says how its attempts end. */
import { type AdvanceAnswer, advance } from '../../../control/propagation/advance.ts';
import { type CommandDependencies, runPlan } from '../../../control/propagation/command-plan.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { processChanges, type Selection } from '../../../control/propagation/process-changes.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { type RecordedEnd, recordAttempt } from '../../../control/propagation/record-attempt.ts';
import { removeResource } from '../../../control/propagation/remove-resource.ts';
import type { Outcome } from '../../../domain/propagation/event-schema.ts';
import { actionOf, givenFor, resourceOf } from '../../../domain/propagation/node-id.ts';
import type { AttemptRow, PlanNodeRow, PlanRow } from '../../../store/propagation/plan-tables.ts';
import { findPlan } from '../../../store/propagation/plans.ts';
import { notingTell } from '../../support/temporal/told.ts';
import { type ModelBench, openModel } from '../model/model-bench.ts';

/** Actions of the definition whose resources execute something, each a file of its own. */
const ACTIONS = ['run', 'update', 'remove', 'reload', 'start', 'rollback', 'join', 'leave', 'commit'];
const MORE_ACTIONS = ['cluster_create', 'cluster_join', 'provision', 'format'];
export const ACTION_NAMES: readonly string[] = [...ACTIONS, ...MORE_ACTIONS];

const definitionOf = (more: string) => `
version: 1.0.0
handler: ansible_playbook
input:
  v: {schema: str, value: own}
${more}`;

/** `base`: a node's own id, or that of its action, as in a script of a simulation. */
export type Outcomes = Readonly<Record<string, Outcome>>;

export type PlanBench = Awaited<ReturnType<typeof openPlans>>;

export async function openPlans() {
  const model: ModelBench = await openModel();
  const { db } = model;
  const { tell, told } = notingTell();
  const time = { offset: 0 };
  const deps: CommandDependencies & typeof model.deps = {
    ...model.deps,
    clock: () => new Date(Date.now() + time.offset),
    tell,
    runner: 'local',
    allowsLocal: true,
  };
  const put = async (name: string, more: string) => {
    const files = Object.fromEntries([...ACTIONS, ...MORE_ACTIONS].map((action) => [`actions/${action}.sh`, 'true']));
    const key = { repository: 'resources', name, version: '1.0.0' };
    await putDefinition(deps, { ...key, files: { 'meta.yaml': definitionOf(more), ...files }, overwrite: false });
  };
  await put('worked', '');
  await put('limited', 'limits: {type_limit: 1}');
  const explicit = [...ACTIONS, ...MORE_ACTIONS].map((action) => `  ${action}: {file: ${action}.sh, retry: 2}`);
  await put('retried', `actions:\n${explicit.join('\n')}`);
  const rested = ACTION_NAMES.map((name) => `  ${name}: {file: ${name}.sh, retry: 2, retry_on: error, backoff: 60}`);
  await put('rested', `actions:\n${rested.join('\n')}`);
  const once = [...ACTIONS, ...MORE_ACTIONS].map((action) => `  ${action}: {file: ${action}.sh, repeatable: false}`);
  await put('fixed', `actions:\n${once.join('\n')}`);

  const nodes = (plan: string): Promise<PlanNodeRow[]> =>
    db.selectFrom('propagation_plan_nodes').selectAll().where('plan', '=', plan).orderBy('number').execute();

  const bench = {
    ...model,
    deps,
    told,
    nodes,
    /** Lets time go on, ms. */
    pass(ms: number) {
      time.offset += ms;
    },
    /** Resources that execute something, each in a place of its own. */
    async work(names: readonly string[], from = 'worked', place = (name: string) => `component:${name}`) {
      for (const name of names) await createResource(deps, { name, from, inputs: { location_id: place(name) } });
    },
    /** Stages exactly these nodes over resources that are committed. */
    async stage(staged: readonly string[]) {
      for (const node of staged) {
        const [name, action] = [resourceOf(node), actionOf(node)];
        if (action === 'remove') await removeResource(deps, name, false);
        else await model.staged({ names: [name], action });
      }
    },
    process: (selection: Selection = {}) => processChanges(deps, selection),
    async plan(id: string): Promise<PlanRow> {
      const row = await findPlan(db, id);
      if (row === null) throw new Error(`there is no plan ${id}`);
      return row;
    },
    advance: (plan: string, own: readonly string[] = [], away: readonly string[] = []): Promise<AdvanceAnswer> =>
      advance(deps, { plan, own, away }),
    end: (attempt: string, end: Partial<RecordedEnd> = {}) =>
      recordAttempt(deps, attempt, { outcome: 'changed', verified: true, ...end }),
    async attempts(plan: string): Promise<(AttemptRow & { id: string; name: string })[]> {
      const rows = await db
        .selectFrom('propagation_attempts')
        .innerJoin('propagation_plan_nodes', (join) =>
          join
            .onRef('propagation_plan_nodes.plan', '=', 'propagation_attempts.plan')
            .onRef('propagation_plan_nodes.number', '=', 'propagation_attempts.node'),
        )
        .selectAll('propagation_attempts')
        .select('propagation_plan_nodes.id as name')
        .where('propagation_attempts.plan', '=', plan)
        .orderBy('propagation_attempts.created_at')
        .orderBy('name')
        .execute();
      return rows;
    },
    /** Names of the nodes that are in progress. */
    async running(plan: string): Promise<string[]> {
      return (await nodes(plan)).filter(({ status }) => status === 'in_progress').map(({ id }) => id);
    },
    async statuses(plan: string) {
      return Object.fromEntries((await nodes(plan)).map(({ id, status }) => [id, status]));
    },
    start: (plan: string) => runPlan(deps, plan),
    /** Steps of a plan that is open, until it is over; each attempt ends as it is said. `pick`: which of the open ones end next. */
    async finish(
      plan: string,
      outcomes: Outcomes = {},
      pick: (open: readonly string[]) => readonly string[] = (open) => open,
    ): Promise<PlanRow> {
      for (let step = 0; step < 1_000; step++) {
        const answer = await bench.advance(plan);
        if (answer.isOver) return bench.plan(plan);
        const open = (await bench.attempts(plan)).filter(({ state }) => state === 'open');
        const chosen = new Set(pick(open.map(({ id }) => id)));
        const known = await nodes(plan);
        for (const { id, node } of open.filter((attempt) => chosen.has(attempt.id))) {
          const row = known.find(({ number }) => number === node);
          await bench.end(id, { outcome: (row && givenFor(outcomes, row)) ?? 'changed' });
        }
      }
      throw new Error(`plan ${plan} comes to no end`);
    },
    /** Runs a plan that was made just now. */
    async run(plan: string, outcomes: Outcomes = {}, pick?: (open: readonly string[]) => readonly string[]) {
      await bench.start(plan);
      return bench.finish(plan, outcomes, pick);
    },
  };
  return bench;
}
