import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { CoreV1Api, KubeConfig, makeInformer, type V1Pod } from '@kubernetes/client-node';
import { findProgram } from '../find-program.ts';
import { kubeconfigPath } from './dev-cluster.ts';
import type { Manifest } from './helm.ts';
import { type PodAddress, rulesOf } from './policy-rules.ts';

/** Where packets from pods pass: to each other, and to this machine. */
const HOOKS = ['FORWARD', 'INPUT'];
const RESTART_MS = 200;

/** Policies that hold although the cluster's network does not keep any. */
export interface ImposedPolicies {
  /** Takes every rule away again; fails when rules could not be made before. */
  lift(): Promise<void>;
}

/** Imposes policies on the pods of their namespaces, now and those that come, with iptables on this machine, which is the node. */
export async function imposePolicies(policies: Manifest[]): Promise<ImposedPolicies> {
  // With this beginning its chains also go with the cluster, should nobody lift them.
  const chain = `KUBE-TEST-${randomBytes(4).toString('hex')}`;
  await restore(rulesOf(policies, [], chain));
  await restore(['*filter', ...HOOKS.map((hook) => `-I ${hook} 1 -j ${chain}`), 'COMMIT', ''].join('\n'));

  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath());
  const api = config.makeApiClient(CoreV1Api);
  const namespaces = [...new Set(policies.map(({ metadata }) => String(metadata.namespace)))];
  const pods = namespaces.map((namespace) =>
    makeInformer(config, `/api/v1/namespaces/${namespace}/pods`, () => api.listNamespacedPod({ namespace })),
  );
  let last = '';
  let failure: unknown;
  let lifted = false;
  const impose = async () => {
    const addresses = pods.flatMap((ofOne) => ofOne.list().flatMap(addressOf));
    const rules = rulesOf(policies, addresses, chain);
    if (lifted || rules === last) return;
    await restore(rules);
    last = rules;
  };
  let queue = Promise.resolve();
  const refresh = () => {
    queue = queue.then(impose).catch((error) => {
      failure ??= error;
    });
  };
  for (const ofOne of pods) {
    for (const event of ['add', 'update', 'delete'] as const) ofOne.on(event, refresh);
    // The watch has ended: it begins again, until the cluster answers.
    const restart = () => {
      if (!lifted) setTimeout(() => ofOne.start().catch(restart), RESTART_MS);
    };
    ofOne.on('error', restart);
    await ofOne.start();
  }
  return {
    lift: async () => {
      lifted = true;
      await Promise.all(pods.map((ofOne) => ofOne.stop()));
      await queue;
      const chains = [chain, `${chain}-O`, `${chain}-I`];
      const orders = [
        ...HOOKS.map((hook) => `-D ${hook} -j ${chain}`),
        ...chains.map((name) => `-F ${name}`),
        ...chains.map((name) => `-X ${name}`),
      ];
      await restore(['*filter', ...orders, 'COMMIT', ''].join('\n'));
      if (failure !== undefined) throw failure;
    },
  };
}

/** Of a pod that has one: what has ended has given its address back. */
function addressOf({ metadata, status }: V1Pod): PodAddress[] {
  if (status?.podIP === undefined || status.phase === 'Succeeded' || status.phase === 'Failed') return [];
  return [{ namespace: metadata?.namespace ?? '', address: status.podIP, labels: metadata?.labels ?? {} }];
}

async function restore(rules: string): Promise<void> {
  const child = spawn(findProgram('iptables-restore') ?? 'iptables-restore', ['--noflush', '--wait'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(rules);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`iptables-restore ended with ${code}: ${said.trim()}\n${rules}`);
}
