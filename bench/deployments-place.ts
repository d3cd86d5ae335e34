/** Member clusters, each a real API server of Kubernetes without controllers, beside a whole stack, for measurements. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FORM_HEADERS, formOf, named } from '../test/deployments/cluster-fixtures.ts';
import {
  kubernetesMissing,
  makeCertificates,
  SINGLE_API_SERVER,
  startServer,
  startStore,
} from '../test/support/kubernetes/kubernetes-api.ts';
import { type Answer, type MusterStack, startMusterStack } from '../test/support/stack/muster-stack.ts';
import type { App } from './deployment-objects.ts';
import type { Measurement } from './measurement.ts';

/** Of the measurements that the bars name; `--clusters` says otherwise. */
export const MOST_CLUSTERS = 50;
/** One API server takes 200 MB, etcd and the rest of a stack some 3 GB. */
const SERVER_MB = 230;
const OTHERS_MB = 4_000;
/** API servers that start at the same time: each takes 1.5 s of a core. */
const AT_ONCE = 4;
export const PROVIDER = 'bench';

export interface Member {
  name: string;
  /** Text of its kubeconfig. */
  kubeconfig: string;
}

export interface DeploymentsBench {
  stack: MusterStack;
  members: Member[];
}

export type DeploymentsWork = (bench: DeploymentsBench) => Promise<Measurement[]>;

/** Measures deployments to so many member clusters, or to as many as there is memory for; says why where none can be had. */
export async function measureOnMembers(work: [string, DeploymentsWork][], clusters: number): Promise<Measurement[]> {
  if (work.length === 0) return [];
  const missing = kubernetesMissing();
  if (missing !== null) {
    process.stderr.write(`not measured: ${work.map(([name]) => name).join(', ')}\n  ${missing}\n`);
    return [];
  }
  const count = Math.max(1, Math.min(clusters, Math.floor(((await freeMegabytes()) - OTHERS_MB) / SERVER_MB)));
  if (count < clusters) process.stderr.write(`there is memory for ${count} of ${clusters} API servers\n`);
  const started = await startApiServers(count);
  try {
    return await withStack(async (stack) => {
      const { members } = started;
      await registerProvider(stack, PROVIDER);
      for (const member of members) await registerCluster(stack, PROVIDER, member, ['all']);
      const results: Measurement[] = [];
      for (const [name, run] of work) {
        process.stderr.write(`measuring ${name}\n`);
        results.push(...(await run({ stack, members })));
      }
      return results;
    });
  } finally {
    await started.stop();
  }
}

/** Does the work on a stack of its own, which has its servers for itself. */
export async function withStack<T>(work: (stack: MusterStack) => Promise<T>): Promise<T> {
  const stack = await startMusterStack({ MUSTER_DEPLOY_ALLOW_LOOPBACK: '1' }, 'own');
  try {
    return await work(stack);
  } finally {
    await stack.remove();
  }
}

async function freeMegabytes(): Promise<number> {
  const [, kilobytes] = /^MemAvailable:\s+(\d+)/m.exec(await readFile('/proc/meminfo', 'utf8')) ?? [];
  return Number(kilobytes) / 1_000;
}

/** All keep their objects in one etcd, each below a prefix of its own. */
async function startApiServers(count: number): Promise<{ members: Member[]; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), SINGLE_API_SERVER));
  await makeCertificates(dir);
  const store = await startStore(dir);
  const servers: { stop(): Promise<void> }[] = [];
  const members: Member[] = [];
  // An API server takes a quarter less memory with it.
  const usual = process.env.GOGC;
  process.env.GOGC = '30';
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await store.stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    for (let at = 0; at < count; at += AT_ONCE) {
      const names = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => `m${at + index}`);
      const started = await Promise.allSettled(
        names.map(async (name) => {
          const place = { dir, store: store.url, prefix: `/${name}`, kubeconfig: join(dir, `${name}.kubeconfig`) };
          servers.push(await startServer(place));
          members.push({ name, kubeconfig: await readFile(place.kubeconfig, 'utf8') });
        }),
      );
      // None may still be starting when all are stopped.
      for (const one of started) if (one.status === 'rejected') throw one.reason;
    }
  } catch (error) {
    await stop();
    throw error;
  } finally {
    if (usual === undefined) delete process.env.GOGC;
    else process.env.GOGC = usual;
  }
  return { members: members.sort((one, other) => (one.name < other.name ? -1 : 1)), stop };
}

export async function registerProvider(stack: MusterStack, provider: string): Promise<void> {
  expectBelow(300, await stack.call('POST', '/v2/cluster-providers', named(provider)));
}

export async function registerCluster(
  stack: MusterStack,
  provider: string,
  { name, kubeconfig }: Member,
  labels: readonly string[],
): Promise<void> {
  const path = `/v2/cluster-providers/${provider}/clusters`;
  const body = formOf(named(name), kubeconfig);
  const answer = await fetch(stack.url + path, { method: 'POST', headers: FORM_HEADERS, body });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  for (const label of labels) await labelCluster(stack, provider, name, label);
}

export async function labelCluster(stack: MusterStack, provider: string, name: string, label: string): Promise<void> {
  const path = `/v2/cluster-providers/${provider}/clusters/${name}/labels`;
  expectBelow(300, await stack.call('POST', path, { 'label-name': label }));
}

/** Makes a deployment whose apps all go to the clusters that an element chooses. */
export async function makeDeployment(
  stack: MusterStack,
  name: string,
  apps: readonly App[],
  where: { provider: string; label: string } | { provider: string; cluster: string },
  more: object = {},
): Promise<void> {
  const placement = { all_of: [where] };
  const body = { name, apps: apps.map(({ name: app, manifests }) => ({ name: app, manifests, placement })), ...more };
  expectBelow(300, await stack.call('POST', '/api/v1/deployments', body));
}

export async function ask(
  stack: MusterStack,
  name: string,
  call: 'approve' | 'instantiate' | 'terminate' | 'stop',
): Promise<void> {
  expectBelow(300, await stack.call('POST', `/api/v1/deployments/${name}/${call}`));
}

/** Returns the state of the AppContext of a deployment, and the counts of its resources. */
export async function readSummary(
  stack: MusterStack,
  name: string,
): Promise<{ status: string; counts: Record<string, number> }> {
  const answer = await stack.call('GET', `/api/v1/deployments/${name}/status?output=summary`);
  expectBelow(300, answer);
  return { status: answer.body.status, counts: answer.body['rsync-status'] ?? {} };
}

/** Waits until the AppContext of a deployment is in a state. Throws where it has failed. */
export async function untilState(
  stack: MusterStack,
  name: string,
  state: 'Instantiated' | 'Terminated',
  lookMs: number,
): Promise<void> {
  for (;;) {
    const { status, counts } = await readSummary(stack, name);
    if (status === state) return;
    if (/Failed$/.test(status)) throw new Error(`${name} is ${status}: ${JSON.stringify(counts)}`);
    await delay(lookMs);
  }
}

/** Takes a deployment off its clusters, and removes it. */
export async function removeDeployment(stack: MusterStack, name: string): Promise<void> {
  const path = `/api/v1/deployments/${name}`;
  for (;;) {
    const answer = await stack.call('DELETE', path);
    if (answer.status === 404) return;
    // While its AppContext is at work, it cannot be removed.
    if (answer.status !== 409) expectBelow(300, answer);
    await delay(250);
  }
}

/** Returns how long a piece of work takes, s. */
export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

function expectBelow(status: number, answer: Answer): void {
  if (answer.status >= status) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
}
