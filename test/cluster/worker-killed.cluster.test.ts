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
  await repository.commit({ 'noted.yml': noted(`http://${hostAddress()}:${(journal.address() as AddressInfo).port}`) });
  const hosts = STEPS.map((_, index) => `h${index}`);
  await cluster.stack.configure('noted', cluster.repositoryUrl('config'), ['noted.yml'], hosts);
}, 300_000);

afterAll(async () => {
  await cluster?.remove();
  await gate?.close();
  journal?.close();
}, 120_000);

const noted = (url: string) => `
- hosts: all
  gather_facts: false
  vars:
    session: "{{ lookup('ansible.builtin.env', 'SESSION_NAME') }}"
  tasks:
    - ansible.builtin.uri: { url: "${url}/start-{{ session }}" }
    - ansible.builtin.command: sleep 3
      changed_when: true
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

/** Moments of a session, each with a session of its own, in whose middle the worker is killed. */
const STEPS: [string, (name: string) => Promise<'held' | 'now'>][] = [
  ['prepared', onRecord(() => true)],
  ['job-made', atGate('after', 'POST', 'jobs')],
  ['secret-made', atGate('after', 'POST', 'secrets')],
  ['let-run', atGate('after', 'PATCH', 'jobs', letsRun)],
  ['ordered', onRecord(({ action }) => action === 'run')],
  ['playing', inJournal('start')],
  ['finishing', onRecord(({ action }) => action === 'finish')],
  ['end-stored', atGate('before', 'PATCH', 'pods', releases)],
  ['pod-released', atGate('after', 'PATCH', 'pods', releases)],
  ['job-released', atGate('after', 'PATCH', 'jobs', releases)],
];

/** What the playbook of a session wrote, so that a failed one tells here why. */
async function outputIfFailed(name: string, end: { succeeded: string } | undefined): Promise<string | null> {
  if (end?.succeeded === 'true') return null;
  const { body } = await cluster.stack.call('GET', `/api/v1/sessions/${name}/logs?limit=1000`);
  return body.logs.map((entry: { text: string }) => entry.text).join('');
}

test('a worker that is killed at every step of a session: each runs once and succeeds, and nothing is left', async () => {
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
  const reached = STEPS.map(async ([step, moment]) => killWorker(await moment(step)));
  await Promise.all(STEPS.map(([step], index) => stack.create(step, 'noted', { ansible_limit: `h${index}` })));
  const ending = Promise.all(STEPS.map(([step]) => sessions.ended(step, 300_000)));
  const [ends] = await Promise.all([ending, ...reached]).finally(() => stop.abort());
  await looking;
  expect(kills).toBeGreaterThanOrEqual(4);

  const good = { succeeded: 'true', message: '1 layer done on 1 host', reason: null, output: null };
  const seen = STEPS.map(async ([step], index) => [
    step,
    { ...ends[index], output: await outputIfFailed(step, ends[index]) },
  ]);
  expect(await Promise.all(seen)).toEqual(STEPS.map(([step]) => [step, good]));
  const once = STEPS.flatMap(([step]) => [`end-${step}`, `start-${step}`]);
  expect([...said].sort()).toEqual(once.sort());
  for (const [step] of STEPS) {
    const job = await sessions.jobOf(step);
    await sessions.untilReleased(job);
    expect((await stack.session(step)).attempts).toHaveLength(1);
    expect((await stack.call('DELETE', `/v3/sessions/${step}`)).status).toBe(204);
    jobs.set(step, job);
  }
  await sessions.sweep();
  for (const job of jobs.values()) await sessions.untilGone(job, 90_000);
}, 480_000);
