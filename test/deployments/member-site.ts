/** Muster beside three member clusters: real API servers, each behind a way with faults, the first of them with controllers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ContextEvent } from '../../domain/deployments/event-schema.ts';
import { eventually } from '../support/eventually.ts';
import { type MemberProxy, openMemberProxy } from '../support/kubernetes/member-proxy.ts';
import { startMembers } from '../support/kubernetes/members.ts';
import { cli } from '../support/stack/command-line.ts';
import { type MusterStack, startMusterStack } from '../support/stack/muster-stack.ts';

export const LABEL = 'emco/deployment-id';
export const MEMBERS = ['north', 'south', 'west'] as const;
export type MemberName = (typeof MEMBERS)[number];
/** Retries each second: tests cut connections. */
const QUICK = { retry_seconds: 1, retry_backoff: 1 };
/** Collections that the manifests of tests are in. */
const COLLECTIONS = [
  ...['/api/v1/configmaps', '/api/v1/services', '/api/v1/secrets', '/api/v1/namespaces'],
  ...['/apis/apps/v1/daemonsets', '/apis/apps/v1/statefulsets', '/apis/apps/v1/deployments'],
];

export interface AppOf {
  name: string;
  manifests: string;
  depends_on?: string[];
  placement?: object;
}

export interface MemberSite {
  stack: MusterStack;
  members: Record<MemberName, MemberProxy>;
  /** Runs a command; fails unless it exits with 0, or as told. */
  muster(args: string[], more?: { stdin?: string; exit?: number }): Promise<{ out: string; err: string }>;
  /** Makes a namespace in all members, and returns a document whose objects go there. */
  document(name: string, apps: readonly AppOf[]): Promise<object>;
  apply(document: object, ...more: string[]): Promise<void>;
  /** State of the AppContext and counts of its resources. */
  status(name: string): Promise<Record<string, unknown>>;
  /** Waits until `status` is this. */
  untilCounts(name: string, counts: Record<string, unknown>): Promise<void>;
  /** Waits for a state of the AppContext; returns what `status` does. */
  until(name: string, state: string): Promise<Record<string, unknown>>;
  /** Statuses with their reasons, by `app cluster Kind name`. */
  resources(name: string, query?: string): Promise<Record<string, string>>;
  events(name: string): Promise<ContextEvent[]>;
  /** Objects with the label of Muster, of the kinds of these tests. */
  labelled(member: MemberName): Promise<string[]>;
  remove(): Promise<void>;
}

/** Starts all, and registers the members as `lab+north`, `lab+south` (label `edge`) and `lab+west` (label `far`). */
export async function openMemberSite(
  settings: Record<string, string> = {},
  servers: 'own' | 'shared' = 'shared',
): Promise<MemberSite> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-member-site-'));
  const [running, stack] = await Promise.all([
    startMembers(MEMBERS.length, dir, 1),
    startMusterStack({ MUSTER_DEPLOY_ALLOW_LOOPBACK: '1', ...settings }, servers),
  ]);
  const ways = await Promise.all(Object.values(running.kubeconfigs).map(openMemberProxy));
  const members = Object.fromEntries(MEMBERS.map((name, at) => [name, ways[at]])) as Record<MemberName, MemberProxy>;

  const read = async (path: string) => {
    const { status, body } = await stack.call('GET', `/api/v1/deployments/${path}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const site: MemberSite = {
    stack,
    members,
    muster: async (args, { stdin = '', exit = 0 } = {}) => {
      const said = await cli(args, { url: stack.url, stdin });
      if (said.exit !== exit) throw new Error(`${args.join(' ')}: exit ${said.exit}\n${said.out}\n${said.err}`);
      return said;
    },
    document: async (name, apps) => {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      for (const member of Object.values(members)) {
        const { status } = await member.ask('POST', '/api/v1/namespaces', namespace);
        if (status !== 201 && status !== 409) throw new Error(`namespace ${name}: ${status}`);
      }
      const placement = { all_of: [{ provider: 'lab', label: 'edge' }] };
      return { name, namespace: name, muster: QUICK, apps: apps.map((app) => ({ placement, ...app })) };
    },
    apply: async (document, ...more) => {
      await site.muster(['deployment', 'apply', '-f', '-', ...more], { stdin: JSON.stringify(document) });
    },
    status: async (name) => {
      const body = await read(`${name}/status?output=summary`);
      return { status: body.status, ...body['rsync-status'] };
    },
    untilCounts: async (name, counts) => {
      const isSo = async () => isDeepStrictEqual(await site.status(name), counts);
      await eventually(`${name} is ${JSON.stringify(counts)}`, isSo, 180_000, () => site.resources(name));
    },
    until: async (name, state) => {
      const reached = async () => (await site.status(name)).status === state;
      await eventually(`${name} is ${state}`, reached, 180_000, () => site.resources(name));
      return await site.status(name);
    },
    resources: async (name, query = '') => {
      const body = await read(`${name}/status?${query}`);
      const found: Record<string, string> = {};
      for (const app of body.apps ?? [])
        for (const { cluster, resources = [] } of app.clusters)
          for (const { GVK, name: object, reason, ...one } of resources) {
            const words = [one['rsync-status'], one['cluster-status'], one['ready-status'], reason];
            found[`${app.name} ${cluster} ${GVK.Kind} ${object}`] = words
              .filter((word) => word !== undefined)
              .join(' ');
          }
      return found;
    },
    events: async (name) => {
      const all: ContextEvent[] = [];
      for (let after = 0; ; ) {
        const { events, cursor, next } = await read(`${name}/events?after=${after}`);
        all.push(...events);
        if (next === null) return all;
        after = cursor;
      }
    },
    labelled: async (member) => {
      const found: string[] = [];
      for (const path of COLLECTIONS) {
        const { body } = await members[member].ask('GET', `${path}?labelSelector=${encodeURIComponent(LABEL)}`);
        for (const { metadata } of body.items) found.push(`${path} ${metadata.namespace ?? ''}/${metadata.name}`);
      }
      return found;
    },
    remove: async () => {
      await stack.remove();
      for (const way of ways) await way.close();
      await running.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
  for (const [name, label] of [
    ['north', 'edge'],
    ['south', 'edge'],
    ['west', 'far'],
  ] as const) {
    const stdin = members[name].kubeconfig();
    await site.muster(['cluster', 'add', name, '--provider', 'lab', '-f', '-', '--label', label], { stdin });
  }
  return site;
}

/** Returns a manifest of a ConfigMap; `more`: further members of its metadata. */
export const config = (name: string, more = '') => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}${more}}
data: {color: blue}
---
`;

const service = (name: string) => `
apiVersion: v1
kind: Service
metadata: {name: ${name}}
spec: {ports: [{port: 80}], selector: {app: ${name}}}
---
`;

const workload = (kind: string, name: string, spec = '') => `
apiVersion: apps/v1
kind: ${kind}
metadata: {name: ${name}}
spec:
  selector: {matchLabels: {app: ${name}}}${spec}
  template:
    metadata: {labels: {app: ${name}}}
    spec: {containers: [{name: main, image: 'registry.example.com/none:1'}]}
---
`;

/** The two apps of the vectors: five resources on each cluster. */
export const AGENT: AppOf = {
  name: 'agent',
  manifests: config('cfg') + service('agent') + workload('DaemonSet', 'agent'),
};
export const STORE: AppOf = {
  name: 'store',
  manifests: service('store') + workload('StatefulSet', 'store', '\n  serviceName: store'),
};
