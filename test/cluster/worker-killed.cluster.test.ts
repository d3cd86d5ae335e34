import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClusterGate, type GateRequest, openClusterGate } from '../support/cluster-gate.ts';
import { type ClusterStack, startClusterStack } from '../support/cluster-stack.ts';
import { hostAddress } from '../support/dev-cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type JobSessions, openJobSessions } from '../support/job-sessions.ts';

/** Requests that are kept back while others come to theirs share a kill; a worker gives a request up after 8 s. */
const GATHER_MS = 1_500;
const STEP_LIMIT_MS = 240_000;

let cluster: ClusterStack;
let sessions: JobSessions;
let gate: ClusterGate;
/** What playbooks say of themselves, beside anything that Muster records. */
let journal: Server;
const said: string[] = [];
/** Names of Jobs by that of their session, as they come by. */
const jobs = new Map<string, string>();

beforeAll(async () => {
  journal = createServer((request, response) => {
    said.push((request.url ?? '').slice(1));
    response.end();
  });
  await once(journal.listen(0, hostAddress()), 'listening');
  gate = await openClusterGate();
  cluster = await startClusterStack({ MUSTER_RUNNER_KUBECONFIG: gate.kubeconfig });
  sessions = openJobSessions(cluster);
  const repository = await cluster.stack.repository('config');
  const url = `http://${hostAddress()}:${(journal.address() as AddressInfo).port}`;
  const sleeps = (seconds: number) => `ansible.builtin.command: sleep ${seconds}\n      changed_when: true`;
  await repository.commit({
    'noted.yml': noted(url, sleeps(3)),
    'endless.yml': noted(url, sleeps(3_600)),
    'failing.yml': noted(url, 'ansible.builtin.fail: { msg: as asked }'),
  });
  const hosts = [...STEPS, ...OTHER_STEPS].map(({ name }) => name);
  for (const playbook of ['noted', 'endless', 'failing']) {
    await cluster.stack.configure(playbook, cluster.repositoryUrl('config'), [`${playbook}.yml`], hosts);
  }
}, 300_000);

afterAll(async () => {
  await cluster?.remove();
  await gate?.close();
  journal?.close();
}, 120_000);

const noted = (url: string, middle: string) => `
- hosts: all
  gather_facts: false
  vars:
    session: "{{ lookup('ansible.builtin.env', 'SESSION_NAME') }}"
  tasks:
    - ansible.builtin.uri: { url: "${url}/start-{{ session }}" }
    - ${middle}
    - ansible.builtin.uri: { url: "${url}/end-{{ session }}" }
`;

const isOf = (name: string, { method, path, body }: GateRequest, verb: string, kind: string): boolean => {
  if (method === 'POST' && path.endsWith('/jobs')) jobs.set(body.metadata.labels.cfsession, body.metadata.name);
  const job = jobs.get(name);
  if (method !== verb || job === undefined) return false;
  if (verb === 'POST') return path.endsWith(`/${kind}`) && body.metadata.name === job;
  return path.includes(`/${kind}/${job}`);
};
const releases = ({ body }: GateRequest) => body?.metadata?.['$deleteFromPrimitiveList/finalizers'] !== undefined;
const letsRun = ({ body }: GateRequest) => body?.spec?.suspend === false;

const atGate =
  (when: 'before' | 'after', verb: string, kind: string, more: (request: GateRequest) => boolean = () => true) =>
  async (name: string) => {
    await gate.hold(when, (request) => isOf(name, request, verb, kind) && more(request)).reached;
    return 'held' as const;
  };

interface Seen {
  name: string;
  action: string | null;
}
/** The Jobs on record, as they were a moment ago. */
let records: Seen[] = [];

/** Looks at all of them again and again, for every session at once. */
async function lookAtRecords(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    records = await cluster.stack.sql<Seen>(
      `select s.name, j.order_body ->> 'action' as action
         from session_jobs j join sessions s on s.id = j.session_id`,
    );
    await delay(50);
  }
}

const onRecord = (isIt: (seen: Seen) => boolean) => async (name: string) => {
  const isThere = () => records.some((seen) => seen.name === name && isIt(seen));
  await eventually(`${name} is on record`, isThere, STEP_LIMIT_MS);
  return 'now' as const;
};

const inJournal = (word: string) => async (name: string) => {
  await eventually(`${word} of ${name}`, () => said.includes(`${word}-${name}`), STEP_LIMIT_MS);
  return 'now' as const;
};

/** Waits until the playbook runs and cancels the session, whose moment comes then. */
const cancelled = (moment: Step['moment']) => async (name: string) => {
  await inJournal('start')(name);
  jobs.set(name, await sessions.jobOf(name));
  const reached = moment(name);
  expect((await cluster.stack.call('POST', `/api/v1/sessions/${name}/cancel`)).status).toBe(202);
  return reached;
};

/** Ends the hold of a session. It is answered 503 until the new worker is there to do it. */
async function finishDebug(name: string): Promise<void> {
  await eventually(`the hold of ${name} is ended`, async () => {
    const { status } = await cluster.stack.call('POST', `/api/v1/sessions/${name}/finish-debug`);
    return status === 202 || status === 409;
  });
}

/** A session in whose middle the worker is killed: at the moment that is answered, which is `held` at the gate or `now`. */
interface Step {
  name: string;
  /** Its playbook: `noted`, `endless` or `failing`. */
  playbook: string;
  more?: object;
  moment(name: string): Promise<'held' | 'now'>;
  /** What is to be done with it when there is another worker. */
  afterwards?(name: string): Promise<void>;
}

const step = (name: string, moment: Step['moment']): Step => ({ name, playbook: 'noted', moment });
const STEPS = [
  step(
    'prepared',
    onRecord(() => true),
  ),
  step('job-made', atGate('after', 'POST', 'jobs')),
  step('secret-made', atGate('after', 'POST', 'secrets')),
  step('let-run', atGate('after', 'PATCH', 'jobs', letsRun)),
  step(
    'ordered',
    onRecord(({ action }) => action === 'run'),
  ),
  step('playing', inJournal('start')),
  step(
    'finishing',
    onRecord(({ action }) => action === 'finish'),
  ),
  step('end-stored', atGate('before', 'PATCH', 'pods', releases)),
  step('pod-released', atGate('after', 'PATCH', 'pods', releases)),
  step('job-released', atGate('after', 'PATCH', 'jobs', releases)),
];

const cancel = (name: string, moment: Step['moment']): Step => ({
  name,
  playbook: 'endless',
  moment: cancelled(moment),
});
const CANCELS = [
  cancel('cancel-asked', async () => 'now'),
  cancel('cancel-before', atGate('before', 'DELETE', 'jobs')),
  cancel('cancel-deleted', atGate('after', 'DELETE', 'jobs')),
  cancel('cancel-read', atGate('before', 'PATCH', 'pods', releases)),
  cancel('cancel-released', atGate('after', 'PATCH', 'jobs', releases)),
];
const HOLD: Step = {
  name: 'holding',
  playbook: 'failing',
  more: { debug_on_failure: true },
  async moment(name) {
    const holds = async () => (await cluster.stack.session(name)).phase === 'hold';
    await eventually(`${name} holds`, holds, STEP_LIMIT_MS);
    return 'now';
  },
  afterwards: finishDebug,
};
const OTHER_STEPS = [...CANCELS, HOLD];

/** What the playbook of a session wrote, so that a failed one tells here why. */
async function outputIfFailed(name: string, end: { succeeded: string } | undefined): Promise<string | null> {
  if (end?.succeeded === 'true') return null;
  const { body } = await cluster.stack.call('GET', `/api/v1/sessions/${name}/logs?limit=1000`);
  return body.logs.map((entry: { text: string }) => entry.text).join('');
}

/** Runs a session for each of the steps, all at once; answers how they ended, in the order of the steps. */
async function killAtEach(steps: Step[]) {
  const { stack } = cluster;
  let turn: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let kills = 0;
  const killWorker = (moment: 'held' | 'now'): Promise<void> => {
    if (next !== null) return next;
    next = turn.then(async () => {
      if (moment === 'held') await delay(GATHER_MS);
      const pid = await stack.pidOf('worker');
      next = null;
      process.kill(pid, 'SIGKILL');
      kills += 1;
      await eventually('there is another worker', async () => (await stack.pidOf('worker')) !== pid, 60_000);
    });
    turn = next;
    return next;
  };
  const stop = new AbortController();
  const looking = lookAtRecords(stop.signal);
  const reached = steps.map(async ({ name, moment, afterwards }) => {
    await killWorker(await moment(name));
    await afterwards?.(name);
  });
  await Promise.all(
    steps.map(({ name, playbook, more }) => stack.create(name, playbook, { ansible_limit: name, ...more })),
  );
  const ending = Promise.all(steps.map(({ name }) => sessions.ended(name, 300_000)));
  const [ends] = await Promise.all([ending, ...reached]).finally(() => stop.abort());
  await looking;
  return { kills, ends };
}

/** Nothing is kept of the sessions' Jobs but what Kubernetes keeps, and nothing at all once they are deleted. */
async function nothingLeft(steps: Step[]): Promise<void> {
  const { stack } = cluster;
  const left: string[] = [];
  for (const { name } of steps) {
    const job = await sessions.jobOf(name);
    await sessions.untilReleased(job);
    expect((await stack.session(name)).attempts).toHaveLength(1);
    expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
    left.push(job);
  }
  await sessions.sweep();
  for (const job of left) await sessions.untilGone(job, 90_000);
}

test('a worker that is killed at every step of a session: each runs once and succeeds, and nothing is left', async () => {
  const { kills, ends } = await killAtEach(STEPS);
  // How many moments share one is chance; but no playbook begins before the first.
  expect(kills).toBeGreaterThanOrEqual(2);
  const good = { succeeded: 'true', message: '1 layer done on 1 host', reason: null, output: null };
  const seen = STEPS.map(async ({ name }, index) => [
    name,
    { ...ends[index], output: await outputIfFailed(name, ends[index]) },
  ]);
  expect(await Promise.all(seen)).toEqual(STEPS.map(({ name }) => [name, good]));
  expect([...said].sort()).toEqual(STEPS.flatMap(({ name }) => [`end-${name}`, `start-${name}`]).sort());
  await nothingLeft(STEPS);
}, 480_000);

test('and at every step of a cancel, and of a hold: each ends as it was told to, once, and nothing is left', async () => {
  said.length = 0;
  const { kills, ends } = await killAtEach(OTHER_STEPS);
  expect(kills).toBeGreaterThan(0);
  const asTold = { succeeded: 'false', message: 'cancelled', reason: 'cancelled' };
  const message = 'layer 0 (failing.yml) failed: 1 of 1 host failed, exit status 2';
  const failed = { succeeded: 'false', message, reason: 'layer_failed' };
  expect(OTHER_STEPS.map(({ name }, index) => [name, ends[index]])).toEqual(
    OTHER_STEPS.map((one) => [one.name, one === HOLD ? failed : asTold]),
  );
  expect([...said].sort()).toEqual(OTHER_STEPS.map(({ name }) => `start-${name}`).sort());
  await nothingLeft(OTHER_STEPS);
}, 480_000);
