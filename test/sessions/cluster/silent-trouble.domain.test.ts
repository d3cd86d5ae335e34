import { describe, expect, jest, test } from '@jest/globals';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import { openEvents } from '../../../drivers/kubernetes-runner/events.ts';
import { jobView } from '../../../drivers/kubernetes-runner/job-view.ts';
import type { EventObject, JobObject, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';
import { isSilent } from '../../../drivers/kubernetes-runner/silent-trouble.ts';

const job: JobObject = { metadata: { name: 'cfs-1' }, spec: { suspend: false }, status: {} };
const waiting = { reason: 'PodInitializing' };
/** As a node writes it while it makes neither volumes nor network. */
const pod: PodObject = {
  metadata: { name: 'cfs-1-abcde' },
  spec: { nodeName: 'dev', initContainers: [{ name: 'git-clone' }], containers: [{ name: 'ansible' }] },
  status: {
    phase: 'Pending',
    initContainerStatuses: [{ name: 'git-clone', state: { waiting } }],
    containerStatuses: [{ name: 'ansible', state: { waiting } }],
  },
};
const mount = (why: string) => `MountVolume.SetUp failed for volume "session" : ${why}`;

const said = (reason: string, message: string, second: number, type = 'Warning'): EventObject => ({
  metadata: { name: reason },
  type,
  reason,
  message,
  lastTimestamp: `2026-11-22T10:00:${String(second).padStart(2, '0')}Z`,
});
const scheduled = said('Scheduled', 'Successfully assigned', 9, 'Normal');

describe('a pod whose containers cannot be made', () => {
  test.each([
    ['FailedMount', mount('secret "cfs-1" not found'), 'impossible'],
    ['FailedMount', mount('configmap "ca" not found'), 'impossible'],
    ['FailedMount', mount('references non-existent secret key: token'), 'impossible'],
    ['FailedMount', mount('mount failed: exit status 32'), 'waiting'],
    ['FailedAttachVolume', 'Multi-Attach error for volume "pvc-1"', 'waiting'],
    ['FailedCreatePodSandBox', 'plugin type="bridge" failed (add)', 'waiting'],
  ])('%s: %s', (reason, message, kind) => {
    const { trouble, phase } = jobView(job, [pod], null, [scheduled, said(reason, message, 3)]);
    expect(trouble).toEqual({ code: 'container_config_invalid', kind, message: `${reason}: ${message}` });
    expect(phase).toBe('waiting');
  });

  test('what does not pass by itself is told, not what sums it up', () => {
    const events = [
      said('FailedMount', mount('secret "cfs-1" not found'), 3),
      said(
        'FailedMount',
        'Unable to attach or mount volumes: unmounted volumes=[session]: context deadline exceeded',
        8,
      ),
    ];
    expect(jobView(job, [pod], null, events).trouble).toMatchObject({
      kind: 'impossible',
      message: expect.stringMatching(/not found/),
    });
  });

  test('a trouble that has passed is none', () => {
    const events = [
      said('FailedMount', mount('secret "cfs-1" not found'), 3),
      said('Pulling', 'Pulling image', 4, 'Normal'),
    ];
    expect(jobView(job, [pod], null, events).trouble).toBeNull();
    expect(jobView(job, [pod], null, [scheduled, said('BackOff', 'of something else', 5)]).trouble).toBeNull();
  });

  test("the container's own word counts more", () => {
    const own = { reason: 'CreateContainerConfigError', message: 'no such user' };
    const told = {
      ...pod,
      status: { ...pod.status, initContainerStatuses: [{ name: 'git-clone', state: { waiting: own } }] },
    };
    const events = [said('FailedMount', mount('secret "cfs-1" not found'), 3)];
    expect(jobView(job, [told], null, events).trouble?.message).toBe(
      'container git-clone: CreateContainerConfigError: no such user',
    );
  });
});

describe('a Job that gets no pod', () => {
  const quota = (requested: string, used: string, limited: string) =>
    `pods "cfs-1-" is forbidden: exceeded quota: small, requested: ${requested}, used: ${used}, limited: ${limited}`;

  test.each([
    ['pods "cfs-1-" is forbidden: exceeded quota: small', 'unschedulable', 'waiting'],
    [quota('limits.cpu=8', 'limits.cpu=2', 'limits.cpu=8'), 'unschedulable', 'waiting'],
    [quota('limits.cpu=8', 'limits.cpu=0', 'limits.cpu=4'), 'unschedulable', 'impossible'],
    [quota('limits.cpu=500m', 'limits.cpu=0', 'limits.cpu=1'), 'unschedulable', 'waiting'],
    [quota('requests.memory=4Gi', 'requests.memory=0', 'requests.memory=4G'), 'unschedulable', 'impossible'],
    [
      quota('limits.cpu=2,limits.memory=6Gi', 'limits.cpu=3,limits.memory=0', 'limits.cpu=4,limits.memory=4Gi'),
      'unschedulable',
      'impossible',
    ],
    [
      quota('limits.cpu=2,limits.memory=6Gi', 'limits.cpu=3,limits.memory=3Gi', 'limits.cpu=4,limits.memory=8Gi'),
      'unschedulable',
      'waiting',
    ],
    [quota('count/pods=1', 'count/pods=3', 'count/pods=3'), 'unschedulable', 'waiting'],
    [quota('limits.cpu=many', 'limits.cpu=0', 'limits.cpu=4'), 'unschedulable', 'waiting'],
    ['pods "cfs-1-" is forbidden: violates PodSecurity "restricted:latest"', 'container_config_invalid', 'impossible'],
    ['error looking up service account x/y: serviceaccount "y" not found', 'container_config_invalid', 'impossible'],
  ])('%s', (message, code, kind) => {
    const { trouble } = jobView(job, [], null, [said('FailedCreate', `Error creating: ${message}`, 1)]);
    expect(trouble).toEqual({ code, kind, message: `FailedCreate: Error creating: ${message}` });
  });
});

test('a quota that was too small for a pod and is larger now has only no room', () => {
  const refused = (limited: string, second: number) => {
    const words = `exceeded quota: small, requested: limits.cpu=8, used: limits.cpu=4, limited: limits.cpu=${limited}`;
    return said('FailedCreate', `Error creating: pods "cfs-1-" is forbidden: ${words}`, second);
  };
  expect(jobView(job, [], null, [refused('4', 1)]).trouble?.kind).toBe('impossible');
  expect(jobView(job, [], null, [refused('4', 1), refused('10', 2)]).trouble?.kind).toBe('waiting');
});

describe('whether a Job waits in silence', () => {
  const begun = { running: { startedAt: '2026-11-22T10:00:00Z' } };
  test.each<[string, JobObject, PodObject | null, boolean]>([
    ['without a pod', job, null, true],
    ['with a pod that a node has', job, pod, true],
    ['with a pod that no node has', job, { ...pod, spec: {} }, false],
    ['suspended', { ...job, spec: { suspend: true } }, null, false],
    ['deleted', { ...job, metadata: { name: 'cfs-1', deletionTimestamp: '2026-11-22T10:00:00Z' } }, pod, false],
    ['failed', { ...job, status: { conditions: [{ type: 'Failed', status: 'True' }] } }, null, false],
    [
      'with a container that runs',
      job,
      { ...pod, status: { phase: 'Pending', initContainerStatuses: [{ name: 'git-clone', state: begun }] } },
      false,
    ],
  ])('%s', (_, object, its, silent) => {
    expect(isSilent(object, its)).toBe(silent);
  });
});

describe('reading events', () => {
  /** A cluster that answers every request with the same. */
  function asked(status: number, body: object): { client: ClusterClient; requests: ClusterRequest[] } {
    const requests: ClusterRequest[] = [];
    const client = {
      ask: async (request: ClusterRequest) => {
        requests.push(request);
        return { status, body };
      },
    } as unknown as ClusterClient;
    return { client, requests };
  }

  test('begins when the silence has lasted, and of the pod where there is one', async () => {
    const { client, requests } = asked(200, { items: [scheduled] });
    const events = openEvents(client, clusterPaths('runs'));
    jest.useFakeTimers({ now: 1_000_000 });
    try {
      expect(await events.for(job, pod)).toBeNull();
      jest.setSystemTime(1_004_000);
      expect(await events.for(job, pod)).toBeNull();
      jest.setSystemTime(1_006_000);
      expect(await events.for(job, pod)).toEqual([scheduled]);
      expect(await events.for(job, null)).toEqual([scheduled]);
      expect(requests.map(({ path, query }) => [path, query?.fieldSelector])).toEqual([
        ['/api/v1/namespaces/runs/events', 'involvedObject.kind=Pod,involvedObject.name=cfs-1-abcde'],
        ['/api/v1/namespaces/runs/events', 'involvedObject.kind=Job,involvedObject.name=cfs-1'],
      ]);
      // An answer serves for some seconds; a Job that begins is forgotten.
      await events.for(job, pod);
      expect(requests).toHaveLength(2);
      expect(await events.for({ ...job, spec: { suspend: true } }, pod)).toBeNull();
      expect(await events.for(job, pod)).toBeNull();
    } finally {
      jest.useRealTimers();
    }
  });

  test('is not tried again for long where it is not allowed', async () => {
    const { client, requests } = asked(403, {});
    const events = openEvents(client, clusterPaths('runs'));
    jest.useFakeTimers({ now: 1_000_000 });
    try {
      await events.for(job, pod);
      for (const now of [1_010_000, 1_020_000, 1_030_000]) {
        jest.setSystemTime(now);
        expect(await events.for(job, pod)).toBeNull();
      }
      expect(requests).toHaveLength(1);
    } finally {
      jest.useRealTimers();
    }
  });
});
