import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Members } from '../../../domain/deployments/members.ts';
import { whyNotReady } from '../../../domain/deployments/pod-reason.ts';
import { RULED_KINDS, readinessOf, UNREADY_WORDS } from '../../../domain/deployments/readiness.ts';

const condition = (type: string, status: string) => ({ conditions: [{ type, status }] });
const seen = { generation: 2 };

describe('ready', () => {
  const rolled = { observedGeneration: 2, updatedReplicas: 4, availableReplicas: 4 };
  const percent = { rollingUpdate: { maxUnavailable: '30%' } };
  test.each<[string, string, string, object, boolean]>([
    ['Pod', '', 'Pod', { status: condition('Ready', 'True') }, true],
    ['Pod that is not', '', 'Pod', { status: condition('Ready', 'False') }, false],
    ['Pod at its end', '', 'Pod', { status: { phase: 'Succeeded' } }, true],
    ['Pod without a status', '', 'Pod', {}, false],
    ['Pod of another group', 'metrics.k8s.io', 'Pod', {}, true],
    ['Deployment', 'apps', 'Deployment', { metadata: seen, spec: { replicas: 4 }, status: rolled }, true],
    [
      'Deployment that is not observed',
      'apps',
      'Deployment',
      { metadata: { generation: 3 }, spec: { replicas: 4 }, status: rolled },
      false,
    ],
    [
      'Deployment that is paused',
      'apps',
      'Deployment',
      { metadata: seen, spec: { replicas: 4, paused: true }, status: rolled },
      false,
    ],
    [
      'Deployment not updated',
      'apps',
      'Deployment',
      { metadata: seen, spec: { replicas: 4 }, status: { ...rolled, updatedReplicas: 3 } },
      false,
    ],
    [
      'Deployment, percent rounded down',
      'apps',
      'Deployment',
      { metadata: seen, spec: { replicas: 4, strategy: percent }, status: { ...rolled, availableReplicas: 3 } },
      true,
    ],
    [
      'Deployment, too few',
      'apps',
      'Deployment',
      { metadata: seen, spec: { replicas: 4, strategy: percent }, status: { ...rolled, availableReplicas: 2 } },
      false,
    ],
    [
      'Deployment without replicas',
      'apps',
      'Deployment',
      { metadata: seen, spec: { replicas: 0 }, status: { observedGeneration: 2 } },
      true,
    ],
    [
      'DaemonSet',
      'apps',
      'DaemonSet',
      {
        metadata: seen,
        spec: { updateStrategy: { type: 'RollingUpdate', ...percent } },
        status: { observedGeneration: 2, desiredNumberScheduled: 4, updatedNumberScheduled: 4, numberReady: 2 },
      },
      true,
    ],
    [
      'DaemonSet, too few',
      'apps',
      'DaemonSet',
      {
        metadata: seen,
        spec: { updateStrategy: percent },
        status: { observedGeneration: 2, desiredNumberScheduled: 4, updatedNumberScheduled: 4, numberReady: 1 },
      },
      false,
    ],
    ['DaemonSet updated on delete', 'apps', 'DaemonSet', { spec: { updateStrategy: { type: 'OnDelete' } } }, true],
    [
      'StatefulSet',
      'apps',
      'StatefulSet',
      { metadata: seen, status: { observedGeneration: 2, updatedReplicas: 1, readyReplicas: 1 } },
      true,
    ],
    [
      'StatefulSet in parts',
      'apps',
      'StatefulSet',
      {
        metadata: seen,
        spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        status: { observedGeneration: 2, updatedReplicas: 1, readyReplicas: 3 },
      },
      true,
    ],
    [
      'StatefulSet not ready',
      'apps',
      'StatefulSet',
      {
        metadata: seen,
        spec: { replicas: 3 },
        status: { observedGeneration: 2, updatedReplicas: 3, readyReplicas: 2 },
      },
      false,
    ],
    ['Job', 'batch', 'Job', { status: { succeeded: 1 } }, true],
    ['Job at work', 'batch', 'Job', { spec: { completions: 2 }, status: { succeeded: 1 } }, false],
    ['Job that failed', 'batch', 'Job', { spec: { backoffLimit: 0 }, status: { succeeded: 1, failed: 1 } }, false],
    ['Service', '', 'Service', { spec: { clusterIP: '10.0.0.1' } }, true],
    ['Service without address', '', 'Service', { spec: {} }, false],
    ['Service elsewhere', '', 'Service', { spec: { type: 'ExternalName' } }, true],
    ['Service that waits', '', 'Service', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }, false],
    [
      'Service with ingress',
      '',
      'Service',
      { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' }, status: { loadBalancer: { ingress: [{}] } } },
      true,
    ],
    ['claim', '', 'PersistentVolumeClaim', { status: { phase: 'Bound' } }, true],
    ['claim that waits', '', 'PersistentVolumeClaim', { status: { phase: 'Pending' } }, false],
    [
      'definition',
      'apiextensions.k8s.io',
      'CustomResourceDefinition',
      { status: condition('Established', 'True') },
      true,
    ],
    [
      'definition of a taken name',
      'apiextensions.k8s.io',
      'CustomResourceDefinition',
      { status: condition('NamesAccepted', 'False') },
      true,
    ],
    ['definition that is new', 'apiextensions.k8s.io', 'CustomResourceDefinition', {}, false],
    ['other kind with a condition', 'x.io', 'Widget', { status: condition('Ready', 'False') }, false],
    ['other kind that is available', 'x.io', 'Widget', { status: condition('Available', 'True') }, true],
    ['other kind with other conditions', 'x.io', 'Widget', { status: condition('Synced', 'False') }, true],
    ['ConfigMap', '', 'ConfigMap', { data: {} }, true],
    [
      'anything that is being deleted',
      '',
      'ConfigMap',
      { metadata: { deletionTimestamp: '2031-01-01T00:00:00Z' } },
      false,
    ],
  ])('%s', (_title, group, kind, object, isReady) => {
    expect(readinessOf(group, kind, object as Members)).toBe(isReady ? 'Ready' : 'NotReady');
  });

  test('is what an object of a kind without a rule is, unless its text has a word that may say no', () => {
    const status = fc.constantFrom('True', 'False', 'Unknown', '');
    const type = fc.constantFrom('Ready', 'Available', 'Other');
    const object = fc.record(
      {
        metadata: fc.record(
          { name: fc.string(), deletionTimestamp: fc.constantFrom('2031-01-01T00:00:00Z', '') },
          { requiredKeys: [] },
        ),
        spec: fc.dictionary(fc.string(), fc.string()),
        status: fc.record(
          { phase: fc.string(), conditions: fc.array(fc.record({ type, status })) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(object, fc.constantFrom('ConfigMap', 'Thing', 'Role'), (live, kind) => {
        expect(RULED_KINDS).not.toContain(`example.com/${kind}`);
        const text = JSON.stringify(live);
        const mayNot = UNREADY_WORDS.some((word) => text.includes(`"${word}"`));
        expect(mayNot || readinessOf('example.com', kind, live as Members) === 'Ready').toBe(true);
      }),
    );
  });

  test('is a word for anything a cluster may send', () => {
    const kinds = fc.constantFrom('Pod', 'Deployment', 'DaemonSet', 'StatefulSet', 'Job', 'Service', 'Widget');
    fc.assert(
      fc.property(
        kinds,
        fc.constantFrom('', 'apps', 'batch'),
        fc.object({ key: fc.constantFrom('status', 'spec', 'conditions', 'metadata', 'selector') }),
        (kind, group, object) => {
          expect(['Ready', 'NotReady']).toContain(readinessOf(group, kind, object as Members));
          whyNotReady({ kind, ...object }, [object as Members]);
        },
      ),
    );
  });
});

describe('why it is not ready', () => {
  const workload = {
    kind: 'StatefulSet',
    metadata: { namespace: 'obs' },
    spec: { selector: { matchLabels: { app: 'store' } } },
  };
  const pod = (name: string, containers: object[], more: object = {}, labels: object = { app: 'store' }): Members => ({
    metadata: { name, namespace: 'obs', labels },
    status: { containerStatuses: containers, ...more },
  });
  const crashing = {
    name: 'db',
    restartCount: 4,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
  };

  test('is what its first failing pod says', () => {
    expect(
      whyNotReady(workload, [
        pod('store-1', [{ name: 'x', state: { running: {} }, ready: false }]),
        pod('store-0', [crashing]),
      ]),
    ).toEqual({
      reason: 'CrashLoopBackOff',
      message: 'pod store-0, container db: CrashLoopBackOff, 4 restarts, last ended with 137 (OOMKilled)',
    });
  });

  test.each<[string, Members, string]>([
    [
      'has no place',
      pod('p', [], {
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
      }),
      'Unschedulable: pod p: 0/3 nodes',
    ],
    [
      'waits for its image',
      pod('p', [{ name: 'c', state: { waiting: { reason: 'ImagePullBackOff' } } }]),
      'ImagePullBackOff: pod p, container c: ImagePullBackOff',
    ],
    [
      'has an init container that ended',
      pod('p', [crashing], {
        initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      }),
      'CrashLoopBackOff: pod p, container i: CrashLoopBackOff',
    ],
    [
      'ended',
      pod('p', [{ name: 'c', restartCount: 1, state: { terminated: { exitCode: 1, reason: 'Error' } } }]),
      'Error: pod p, container c: Error, 1 restart, last ended with 1 (Error)',
    ],
    [
      'runs and is not ready',
      pod('p', [{ name: 'c', state: { running: {} }, ready: false }]),
      'NotReady: pod p, container c: NotReady',
    ],
  ])('%s', (_title, given, expected) => {
    const why = whyNotReady({ ...given, kind: 'Pod' }, []);
    expect(`${why?.reason}: ${why?.message}`).toBe(expected);
  });

  test('is not said by a pod that begins, is ready, or belongs to others', () => {
    const begins = pod('a', [{ name: 'c', state: { waiting: { reason: 'ContainerCreating' } } }]);
    const strangers = pod('b', [crashing], {}, { app: 'other' });
    const elsewhere = { ...pod('c', [crashing]), metadata: { name: 'c', namespace: 'x', labels: { app: 'store' } } };
    const isReady = pod('d', [crashing], { conditions: [{ type: 'Ready', status: 'True' }] });
    expect(whyNotReady(workload, [begins, strangers, elsewhere, isReady])).toBeNull();
  });

  test('is said by the workload when there is no pod', () => {
    const quota = {
      ...workload,
      status: {
        conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }],
      },
    };
    expect(whyNotReady(quota, [])).toEqual({ reason: 'FailedCreate', message: 'exceeded quota' });
    expect(whyNotReady(workload, [])).toBeNull();
  });

  test('uses expressions of a selector', () => {
    const by = (operator: string, values?: string[]) => ({
      ...workload,
      spec: { selector: { matchExpressions: [{ key: 'app', operator, values }] } },
    });
    const found = (selector: object) => whyNotReady(selector as Members, [pod('p', [crashing])]) !== null;
    expect(
      [by('In', ['store']), by('NotIn', ['store']), by('Exists'), by('DoesNotExist'), by('Other')].map(found),
    ).toEqual([true, false, true, false, false]);
    expect(found({ ...workload, spec: { selector: {} } })).toBe(false);
  });
});
