/** What a plan adds to the actions that it runs: from its start until a client sees its end, beside the same actions without Muster. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { atATime, type BarePlaybook, barePlaybook, bareScript } from '../bare-action.ts';
import { hostNames } from '../fleet.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';
import { heldBySeconds } from './session-share.ts';

const BASE = '/api/v1/propagation';
const REPOSITORY = 'bench';
const ROUNDS = 9;
const BAR_SHELL_S = 0.5;
const BAR_ANSIBLE_S = 1;
const HOSTS = 25;
/** Actions that this machine executes at once. */
export const AT_A_TIME = 2;
const FLEET_ROUNDS = 3;
const BAR_RATIO = 1.25;

export const SCRIPT = 'echo done\n';

/** One shell action on the machine of the worker, beside the same file with `bash`. */
export async function measureShellAction(stack: MusterStack): Promise<Measurement> {
  const meta = 'version: 1.0.0\nhandler: shell\n';
  await define(stack, 'script', { 'meta.yaml': meta, 'actions/run.sh': SCRIPT });
  return heldBySeconds(
    'plan of one shell action',
    await rounds(
      ROUNDS,
      () => bareScript(SCRIPT),
      () => plan(stack, 'script', ['localhost']),
    ),
    BAR_SHELL_S,
  );
}

/** One playbook of one task for one component, beside the same playbook. */
export async function measurePlaybookAction(stack: MusterStack, bare: BarePlaybook): Promise<Measurement> {
  await definePlaybook(stack, bare.playbook);
  const [host = ''] = hostNames(1);
  return heldBySeconds(
    'plan of one Ansible action',
    await rounds(
      ROUNDS,
      () => barePlaybook(bare, host),
      () => plan(stack, 'playbook', [`component:${host}`]),
    ),
    BAR_ANSIBLE_S,
  );
}

/** The same playbook for each of many components, two at a time. */
export async function measurePlaybookActions(stack: MusterStack, bare: BarePlaybook): Promise<Measurement> {
  await definePlaybook(stack, bare.playbook);
  const hosts = hostNames(HOSTS);
  const places = hosts.map((host) => `component:${host}`);
  const { bare: bares, muster } = await rounds(
    FLEET_ROUNDS,
    () => atATime(AT_A_TIME, hosts, (host) => barePlaybook(bare, host)),
    () => plan(stack, 'playbook', places),
  );
  const ratio = median(muster.map(({ wall }, index) => wall / (bares[index]?.wall ?? wall)));
  return {
    what: `plan of ${HOSTS} Ansible actions, ${AT_A_TIME} at a time`,
    bar: `<= ${BAR_RATIO} x bare`,
    measured: `${round(ratio)} x bare (${round(median(bares.map(({ wall }) => wall)))} s)`,
    met: ratio <= BAR_RATIO,
    samples: { bare: bares.map(({ wall }) => round(wall, 3)), muster: muster.map(({ wall }) => round(wall, 3)) },
  };
}

/** Both one after the other, again and again; a first turn that does not count warms caches. */
async function rounds(count: number, bare: () => Promise<number>, muster: () => Promise<number>) {
  const result: Record<'bare' | 'muster', { wall: number }[]> = { bare: [], muster: [] };
  await bare();
  await muster();
  for (let turn = 0; turn < count; turn += 1) {
    result.bare.push({ wall: await bare() });
    result.muster.push({ wall: await muster() });
  }
  return result;
}

/** Makes resources of a definition, one at each place, and a plan of them. Returns the time from its start to its end, s. */
export async function plan(stack: MusterStack, from: string, places: readonly string[]): Promise<number> {
  for (const location_id of places) {
    const body = { name: `${from}-${randomUUID()}`, from: `${REPOSITORY}/${from}`, inputs: { location_id } };
    await call(stack, 'POST', '/resources', body);
  }
  const { id } = await call(stack, 'POST', '/changes/process', {});
  const started = performance.now();
  await call(stack, 'POST', `/plans/${id}/run`);
  for (;;) {
    const { state } = await call(stack, 'GET', `/plans/${id}`);
    if (state === 'succeeded') return (performance.now() - started) / 1_000;
    if (state !== 'running') throw new Error(`plan ${id} is ${state}`);
    // The more seldom the longer it takes, so that asking adds 2 % at most.
    await delay(Math.max(20, (performance.now() - started) * 0.02));
  }
}

async function definePlaybook(stack: MusterStack, playbook: string): Promise<void> {
  const meta = 'version: 1.0.0\nhandler: ansible_playbook\nactions: {run: {file: run.yml}}\n';
  await define(stack, 'playbook', { 'meta.yaml': meta, 'actions/run.yml': playbook });
}

/** Stores a definition, unless it is there from another measurement. */
export async function define(stack: MusterStack, name: string, files: Record<string, string>): Promise<void> {
  const repository = await stack.call('GET', `${BASE}/repositories/${REPOSITORY}`);
  if (repository.status === 404) await call(stack, 'POST', '/repositories', { name: REPOSITORY });
  await call(stack, 'PUT', `/repositories/${REPOSITORY}/definitions/${name}/1.0.0`, { files });
}

async function call(stack: MusterStack, method: string, path: string, body?: unknown) {
  const answer = await stack.call(method, BASE + path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
