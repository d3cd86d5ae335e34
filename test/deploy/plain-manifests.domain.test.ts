import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadEnvironment } from '../../config/environment.ts';
import { type Manifest, manifestsOf } from '../support/kubernetes/helm.ts';
import { readFlows } from '../support/kubernetes/network-flows.ts';
import {
  environmentOf,
  permissionMistakes,
  podTemplates,
  rightsMistakes,
} from '../support/kubernetes/pod-templates.ts';
import { ROOT } from '../support/source-tree.ts';

const FOLDER = join(ROOT, 'deploy', 'kustomize');
const objectsIn = (folder: string) =>
  readdirSync(join(FOLDER, folder))
    .filter((name) => name !== 'kustomization.yaml')
    .flatMap((name) => manifestsOf(readFileSync(join(FOLDER, folder, name), 'utf8')));
const objects = ['base', 'migrate', 'uninstall'].flatMap(objectsIn);
const pods = podTemplates(objects);
const of = (kind: string) => objects.filter((object) => object.kind === kind);
const flows = readFlows();
const SECRETS = { 'muster-database/url': 'postgres://muster:secret@db:5432/muster' };

test('there are the parts of Muster', () => {
  expect(pods.map(({ part }) => part).sort()).toEqual(['api', 'migrate', 'uninstall', 'worker']);
});

describe('what containers may do', () => {
  test('is what Pod Security calls restricted, with bounds', () => {
    expect(permissionMistakes(objects)).toEqual([]);
  });
  test('a pod that may do more is noticed', () => {
    const bare = { metadata: { labels: {} }, spec: { hostNetwork: true, containers: [{ env: [] }] } };
    expect(permissionMistakes([{ kind: 'Job', spec: { template: bare } }]).length).toBeGreaterThan(5);
  });
  test('a token of the cluster is in those pods alone that ask the cluster', () => {
    const withToken = pods.filter(({ pod }) => pod.automountServiceAccountToken !== false).map(({ part }) => part);
    expect(withToken.sort()).toEqual(['api', 'uninstall', 'worker']);
    expect(of('ServiceAccount').every((account) => account.automountServiceAccountToken === false)).toBe(true);
  });
});

describe('rights', () => {
  test('none is for the whole cluster, for everything, or lists secrets', () => {
    expect(rightsMistakes(objects)).toEqual([]);
  });
  test('one that is too wide is noticed', () => {
    const rule = (resources: string[], verbs: string[]): Manifest => ({
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources, verbs }],
    });
    expect(rightsMistakes([rule(['secrets'], ['get', 'list'])])).toEqual(['r: may list secrets']);
    expect(rightsMistakes([rule(['pods/exec'], ['create'])])).toEqual(['r: pods/exec']);
    expect(rightsMistakes([rule(['*'], ['get'])])).toEqual(['r: all of']);
  });
  test('one role for Jobs, and for the removal two: what it ends, and what it scales down', () => {
    const roles = Object.fromEntries(of('Role').map(({ metadata, rules }) => [metadata.name, rules]));
    expect(Object.keys(roles)).toEqual(['muster', 'muster-uninstall', 'muster-uninstall-scale']);
    expect(roles['muster-uninstall-scale']).toEqual([
      {
        apiGroups: ['apps'],
        resources: ['deployments/scale'],
        resourceNames: of('Deployment').map(({ metadata }) => metadata.name),
        verbs: ['get', 'patch'],
      },
    ]);
    const resources = (role: string) => roles[role].map(({ resources: [one] }: Manifest) => one);
    expect(resources('muster')).toEqual(['jobs', 'pods', 'pods/log', 'secrets', 'configmaps', 'events']);
    expect(resources('muster-uninstall')).toEqual(['jobs', 'pods', 'secrets']);
  });
  test('the removal may do nothing that Muster may not do in the namespace of Jobs', () => {
    const [muster, removal] = of('Role').map(({ rules }) => rules as Manifest[]);
    const wider = removal?.filter(({ resources: [resource], verbs }) => {
      const own = muster?.find(({ resources }) => resources[0] === resource)?.verbs ?? [];
      return verbs.some((verb: string) => !own.includes(verb));
    });
    expect(wider).toEqual([]);
  });
  test('every account that is named is there', () => {
    const accounts = of('ServiceAccount').map(({ metadata }) => metadata.name);
    const named = [
      ...pods.flatMap(({ pod }) => (pod.serviceAccountName === undefined ? [] : [pod.serviceAccountName])),
      ...of('RoleBinding').flatMap(({ subjects }) => subjects.map(({ name }: Manifest) => name)),
    ];
    expect(named.filter((name) => !accounts.includes(name))).toEqual([]);
  });
});

test('what is removed with Muster has no volume with images: they are a folder of their own', () => {
  const removed = ['base', 'migrate', 'uninstall', 'images'].flatMap(objectsIn);
  expect(removed.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
  expect(objectsIn('claims').map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['PersistentVolumeClaim', 'muster-images'],
    ['PersistentVolumeClaim', 'muster-images-jobs'],
  ]);
});

test('what a Job needs before the rest is there, and before it goes, comes with it', () => {
  const kinds = (folder: string) => objectsIn(folder).map(({ kind }) => kind);
  expect(kinds('migrate').sort()).toEqual(['Job', 'NetworkPolicy']);
  expect(new Set(kinds('uninstall'))).toEqual(
    new Set(['Job', 'NetworkPolicy', 'Role', 'RoleBinding', 'ServiceAccount']),
  );
});

describe('settings', () => {
  test.each(pods)('of $part are settings of Muster', ({ containers: [container] }) => {
    expect(() => loadEnvironment(environmentOf(container ?? {}, SECRETS))).not.toThrow();
  });
  test('nobody who can reach the API is let in without a token', () => {
    const api = pods.find(({ part }) => part === 'api')?.containers[0] ?? {};
    expect(loadEnvironment(environmentOf(api, SECRETS))).toMatchObject({
      MUSTER_AUTH: 'token',
      MUSTER_ADMIN_TOKEN_FILE: '/etc/muster/admin-token/token',
      MUSTER_SECRETS: 'kubernetes',
      MUSTER_RUNNER: 'kubernetes',
    });
  });
  test('API and worker agree', () => {
    const [api, worker] = ['api', 'worker'].map((part) =>
      environmentOf(pods.find((one) => one.part === part)?.containers[0] ?? {}, SECRETS),
    );
    const differing = Object.keys({ ...api, ...worker }).filter((name) => api?.[name] !== worker?.[name]);
    expect(differing.filter((name) => !/^MUSTER_(API|INGEST|PUBLIC|ALLOWED|AUTH|ADMIN|WORKER)/.test(name))).toEqual([]);
  });
  test('files that settings name are mounted, and what is written is', () => {
    for (const { containers } of pods) {
      for (const container of containers) {
        const mounts = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath);
        const files = Object.entries(environmentOf(container, SECRETS)).filter(([, value]) => value.startsWith('/'));
        const outside = files.filter(
          ([, value]) => !mounts.some((mount: string) => `${value}/`.startsWith(`${mount}/`)),
        );
        expect(outside).toEqual([]);
      }
    }
  });
});

describe('life', () => {
  const served = pods.filter(({ part }) => part === 'api' || part === 'worker');
  test.each(served)('$part is asked whether it has begun, lives and is ready', ({ containers: [container] }) => {
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((name) => container?.[name]?.httpGet?.path);
    expect(paths).toEqual(['/livez', '/livez', '/readyz']);
  });
  test('the worker has more time to stop than it takes', () => {
    const source = readFileSync(join(ROOT, 'worker', 'engine.ts'), 'utf8');
    const seconds = [...source.matchAll(/shutdown(?:Grace|Force)Time: '([0-9]+)s'/g)].map(([, number]) =>
      Number(number),
    );
    expect(seconds.length).toBe(2);
    const grace = pods.find(({ part }) => part === 'worker')?.pod.terminationGracePeriodSeconds;
    expect(grace).toBeGreaterThan(seconds.reduce((sum, one) => sum + one, 0));
  });
  test('a replica more comes before one goes, and one at a time is taken away', () => {
    for (const { spec } of of('Deployment')) {
      expect(spec.replicas).toBeGreaterThanOrEqual(2);
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      expect(spec.template.spec.topologySpreadConstraints.length).toBeGreaterThan(0);
    }
    const budgets = of('PodDisruptionBudget');
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual([1, 1]);
    const selectors = of('Deployment').map(({ spec }) => spec.selector);
    expect(budgets.map(({ spec }) => spec.selector)).toEqual(selectors);
  });
  test('services lead to ports that there are', () => {
    const ports = pods.find(({ part }) => part === 'api')?.containers[0]?.ports;
    const names = ports.map(({ name }: Manifest) => name);
    const targets = of('Service').flatMap(({ spec }) => spec.ports.map(({ targetPort }: Manifest) => targetPort));
    expect(targets.filter((target) => !names.includes(target))).toEqual([]);
    const numbers = Object.fromEntries(ports.map(({ name, containerPort }: Manifest) => [name, containerPort]));
    expect(numbers).toEqual({ api: flows.ports.api, ingest: flows.ports.ingest });
  });
});

describe('who talks to whom', () => {
  const policies = of('NetworkPolicy');
  const partOf = ({ matchLabels }: Manifest) =>
    matchLabels['app.kubernetes.io/name'] === 'cray-cfs-aee' ? 'runner' : matchLabels['app.kubernetes.io/component'];
  const numbersOf = (flow: { port: string }) =>
    flow.port in flows.ports ? [flows.ports[flow.port]] : flows.defaults[flow.port];
  // In the base there are no metrics of the SDK, no images and no gateway to the ingest port, and runners do not record components themselves.
  const open = flows.flows.filter(
    ({ from, to, port }) =>
      port !== 'metrics' &&
      !(from === 'runner' && port === 'api') &&
      !(from === 'client' && port === 'ingest') &&
      from !== 'images' &&
      to !== 'images',
  );

  test('every flow is between those that are known', () => {
    const known = { ...flows.parts, ...flows.outside };
    expect(flows.flows.filter(({ from, to }) => !(from in known) || !(to in known))).toEqual([]);
    expect(flows.flows.filter((flow) => numbersOf(flow) === undefined)).toEqual([]);
  });

  test.each(Object.keys(flows.parts).filter((part) => part !== 'images'))(
    '%s has a policy with its flows and no other',
    (part) => {
      const policy = policies.find(({ spec }) => partOf(spec.podSelector) === part);
      expect(policy?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
      const told = (rules: Manifest[], side: 'from' | 'to') =>
        rules.map((rule) => ({
          peer: rule[side]?.map((peer: Manifest) => partOf(peer.podSelector))[0] ?? 'everybody',
          ports: rule.ports.filter(({ protocol }: Manifest) => protocol === 'TCP').map(({ port }: Manifest) => port),
        }));
      const wanted = (side: 'from' | 'to') =>
        open
          .filter((flow) => (side === 'from' ? flow.to : flow.from) === part)
          .map((flow) => ({
            peer: flow[side] in flows.parts ? flow[side] : 'everybody',
            ports: numbersOf(flow),
          }));
      expect(told(policy?.spec.ingress ?? [], 'from')).toEqual(wanted('from'));
      expect(told(policy?.spec.egress ?? [], 'to')).toEqual(wanted('to'));
    },
  );

  test('only names are asked by UDP', () => {
    const udp = policies.flatMap(({ spec }) =>
      [...spec.ingress, ...spec.egress].flatMap(({ ports }: Manifest) =>
        ports.filter(({ protocol }: Manifest) => protocol === 'UDP').map(({ port }: Manifest) => port),
      ),
    );
    expect(new Set(udp)).toEqual(new Set(flows.defaults.dns));
  });
});
