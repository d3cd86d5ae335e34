/** A plan of shell actions on a whole stack whose parts are killed at random moments while it runs. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { addEvents } from '../../../control/propagation/add-events.ts';
import { runPlan } from '../../../control/propagation/command-plan.ts';
import { createRepository } from '../../../control/propagation/create-repository.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { processChanges } from '../../../control/propagation/process-changes.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import type { ComponentName } from '../../../deploy/stack/stack-state.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { readYaml } from '../../../drivers/propagation-content/read-yaml.ts';
import { openDatabase } from '../../../store/connection/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import type { MusterStack } from '../../support/stack/muster-stack.ts';
import type { Outcomes } from './plan-bench.ts';
import { META, SCRIPT, writeStatuses } from './shell-bench.ts';

const PARTS: readonly ComponentName[] = ['worker', 'api', 'temporal', 'postgres'];

const LOOK_MS = 100;

/** Up to a second long, so that kills also find an action that goes on. */
const SLOW_SCRIPT = `sleep "0.$((RANDOM % 10))"\n${SCRIPT}`;

export interface KilledPlan {
  state: string;
  /** Statuses of the nodes, and those that the simulation foresees. */
  statuses: Record<string, string>;
  foreseen: Record<string, string>;
  /** What the actions have written down, and what they should have: node and number of the attempt, sorted. */
  journal: string[];
  expected: string[];
  /** Parts that were killed, in order, and the seed by which parts and moments were chosen. */
  kills: ComponentName[];
  seed: number;
}

/** Nodes in chains of four: each waits for the one before it, wakes a reload of the next one, and fails or rests now and then. */
export function chainsOf(count: number): { staged: string[]; events: string; outcomes: Outcomes } {
  const names = Array.from({ length: count }, (_, index) => `n${String(index).padStart(3, '0')}`);
  const events = names.flatMap((name, index) => {
    const next = names[index + 1];
    if (next === undefined || index % 4 === 3) return [];
    return [`after ${name}.run any ${next}.run`, `on ${name}.run failure ${next}.rollback`];
  });
  const outcomes = names.flatMap((name, index): [string, Outcomes[string]][] => {
    if (index % 9 === 4) return [[`${name}.run`, 'failed']];
    return index % 5 === 2 ? [[`${name}.run`, 'ok']] : [];
  });
  return {
    staged: names.map((name) => `${name}.run`),
    events: events.join('\n'),
    outcomes: Object.fromEntries(outcomes),
  };
}

export interface Kills {
  count: number;
  /** Time (ms) between a step that the plan has made and the next kill, at most. */
  pauseMs: number;
  /** Time (ms) until the plan is over. */
  withinMs: number;
}

/**
 * Runs such a plan, and kills a part of the stack again and again. Between two kills the plan begins an action: else a busy machine would be
 * about nothing but starting the stack.
 */
export async function runUnderKills(
  stack: MusterStack,
  count: number,
  { count: most, pauseMs, withinMs }: Kills,
): Promise<KilledPlan> {
  const random = seededRandom();
  process.stderr.write(`seed ${random.seed}; the same choice again with MUSTER_TEST_SEED\n`);
  const dir = join(stack.dataDir, 'journal');
  await mkdir(dir);
  const { staged, events, outcomes } = chainsOf(count);
  await writeStatuses(dir, outcomes);
  const db = openDatabase({ url: await stack.databaseUrl(), name: 'test' });
  const deps = { db, clock: () => new Date(), actor: null, readYaml, runner: 'local' as const, allowsLocal: true };
  const key = { repository: 'resources', name: 'scripted', version: '1.0.0' };
  const files = { 'meta.yaml': META, 'actions/run.sh': SLOW_SCRIPT, 'actions/rollback.sh': SLOW_SCRIPT };
  await createRepository(deps, { name: 'resources' });
  await putDefinition(deps, { ...key, files, overwrite: false });
  for (const node of staged) {
    const name = node.replace(/\.run$/, '');
    await createResource(deps, { name, from: 'scripted', inputs: { location_id: 'localhost', dir } });
  }
  await addEvents(deps, events);
  const { id } = await processChanges(deps, {});
  // Temporal does not hear of it from here, since this is no program of the installation: the sweep of the worker starts the driver.
  await runPlan({ ...deps, tell: async () => undefined }, id);
  await db.destroy();

  const ask = <T>(text: string) => stack.sql<T>(text, [id]).catch(() => null);
  const stateOf = async () =>
    (await ask<{ state: string }>('select state from propagation_plans where id = $1'))?.[0]?.state;
  const journal = async () =>
    (await readFile(join(dir, 'journal'), 'utf8').catch(() => '')).split('\n').filter(Boolean).sort();
  const kills: ComponentName[] = [];
  const parts = shuffled(most, random);
  let isOver = false;
  const killing = (async () => {
    for (let seen = 0; kills.length < most && !isOver; ) {
      const begun = (await journal()).length;
      if (begun === seen) {
        await delay(LOOK_MS);
        continue;
      }
      seen = begun;
      // The moment is what varies here: nothing is waited for.
      await delay(random.next() * pauseMs);
      if (isOver) return;
      const part = parts[kills.length] as ComponentName;
      // A part that has just ended by itself, since another one was killed, is killed when it is there again.
      const isKilled = () =>
        stack.kill(part).then(
          () => true,
          () => false,
        );
      await eventually(`${part} is killed`, isKilled, 60_000);
      kills.push(part);
    }
  })();
  const isEnd = (state: string | undefined) => state !== undefined && state !== 'running';
  const state = await eventually(
    'the plan is over',
    async () => {
      const now = await stateOf();
      return isEnd(now) ? now : null;
    },
    withinMs,
  ).finally(() => {
    isOver = true;
  });
  await killing;
  const nodes = await eventually('its nodes are read', () =>
    ask<{ id: string; status: string }>('select id, status from propagation_plan_nodes where plan = $1'),
  );
  const { run } = simulate({ staged, events, outcomes });
  const ran = Object.entries(run.attempts).flatMap(([node, made]) => (made > 0 ? [`${node} 1`] : []));
  return {
    ...{ state: state ?? '', kills, seed: random.seed, foreseen: run.statuses, expected: ran.sort() },
    statuses: Object.fromEntries(nodes.map((node) => [node.id, node.status])),
    journal: await journal(),
  };
}

/** So many parts, each as often as the others, in an order of chance. */
function shuffled(count: number, random: SeededRandom): ComponentName[] {
  const parts = Array.from({ length: count }, (_, index) => PARTS[index % PARTS.length] as ComponentName);
  for (let last = parts.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random.next() * (last + 1));
    [parts[last], parts[other]] = [parts[other] as ComponentName, parts[last] as ComponentName];
  }
  return parts;
}
