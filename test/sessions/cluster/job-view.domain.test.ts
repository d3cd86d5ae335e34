import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createJobCache } from '../../../drivers/kubernetes-runner/job-cache.ts';
import { goneView, jobView } from '../../../drivers/kubernetes-runner/job-view.ts';
import type { JobObject, NodeObject, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';

interface Recorded {
  job: JobObject;
  pod: PodObject;
}

/** Objects as a cluster wrote them, without what nobody reads here. */
const { node, cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures', 'cluster-objects.json'), 'utf8'),
) as { node: NodeObject; cases: Record<string, Recorded> };

function recorded(name: string): Recorded {
  const found = cases[name];
  if (found === undefined) throw new Error(`no recorded ${name}`);
  return structuredClone(found);
}

/** As recorded, but before anybody deleted it. */
function undeleted(name: string): Recorded {
  const { job, pod } = recorded(name);
  delete job.metadata.deletionTimestamp;
  delete pod.metadata.deletionTimestamp;
  return { job, pod };
}

const withCondition = (job: JobObject, type: string, reason: string, at: string, message = ''): JobObject => ({
  ...job,
  status: { ...job.status, conditions: [{ type, status: 'True', reason, message, lastTransitionTime: at }] },
});

describe('what is the matter with a Job', () => {
  test.each([
    ['image_missing', 'image_pull_failed', 'impossible', /container ansible: ImagePullBackOff: .*none:1/],
    ['image_err', 'image_pull_failed', 'impossible', /container ansible: ErrImagePull: /],
    ['image_never', 'image_pull_failed', 'impossible', /ErrImageNeverPull: .*not present with pull policy of Never/],
    ['image_name', 'container_config_invalid', 'impossible', /container git-clone: InvalidImageName: .*UPPER CASE/],
    ['oom', 'out_of_memory', 'over', /container ansible used more memory than its limit/],
    ['request_impossible', 'unschedulable', 'impossible', /Insufficient memory/],
    ['selector_impossible', 'unschedulable', 'impossible', /didn't match Pod's node affinity\/selector/],
    ['cpu_busy', 'unschedulable', 'waiting', /Insufficient cpu/],
    ['deadline', 'deadline_exceeded', 'over', /longer than specified deadline/],
    ['pod_deleted', 'pod_deleted', 'over', /was deleted/],
    ['evicted', 'evicted', 'over', /EvictionByEvictionAPI: Eviction API: evicting/],
  ] as const)('%s is %s', (name, code, kind, words) => {
    const { job, pod } = name === 'pod_deleted' || name === 'deadline' ? recorded(name) : undeleted(name);
    delete job.metadata.deletionTimestamp;
    for (const nodes of [[node], null]) {
      expect(jobView(job, [pod], nodes).trouble).toEqual({ code, kind, message: expect.stringMatching(words) });
    }
  });

  test.each([
    ['suspended', { suspend: true }, /^pod \S+ was deleted, its Job was suspended$/],
    ['told to have no pods', {}, /^pod \S+ was deleted$/],
  ])('a pod that ended because its Job was %s, which does not fail by that', (_, spec, message) => {
    const { job, pod } = recorded('running_being_deleted');
    delete job.metadata.deletionTimestamp;
    const ended = { ...pod, status: { ...pod.status, phase: 'Failed' } };
    const suspended = { ...job, spec };
    expect(jobView(suspended, [pod], [node]).trouble).toBeNull();
    const trouble = { code: 'pod_deleted', kind: 'over', message: expect.stringMatching(message) };
    expect(jobView(suspended, [ended], [node]).trouble).toEqual(trouble);
  });

  test('nothing, when it begins or runs', () => {
    for (const name of ['starting', 'running_being_deleted']) {
      const { job, pod } = undeleted(name);
      expect(jobView(job, [pod], [node])).toMatchObject({ phase: 'running', trouble: null });
    }
  });

  test('nothing, once it was a success', () => {
    const { job, pod } = undeleted('oom');
    expect(jobView(withCondition(job, 'Complete', '', '2026-01-01T00:00:00Z'), [pod], null).trouble).toBeNull();
  });

  test('a deletion of the pod counts once the Job has failed by it, unless the Job is deleted itself', () => {
    const { job, pod } = recorded('pod_deleted');
    delete job.metadata.deletionTimestamp;
    const going = { ...job, status: { ...job.status, conditions: [] } };
    expect(jobView(going, [pod], null).trouble).toBeNull();
    const deleted = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-11-22T03:00:00Z' } };
    expect(jobView(deleted, [pod], null).trouble).toBeNull();
    expect(jobView(job, [], null).trouble).toMatchObject({ code: 'pod_deleted', kind: 'over' });
  });

  test.each([
    ['CreateContainerConfigError', 'container_config_invalid'],
    ['CreateContainerError', 'container_config_invalid'],
    ['RunContainerError', 'container_config_invalid'],
    ['ErrImagePull', 'image_pull_failed'],
    ['ImageInspectError', 'image_pull_failed'],
  ])('a container that waits with %s', (reason, code) => {
    const { job, pod } = undeleted('starting');
    const waiting = [{ name: 'ansible', state: { waiting: { reason, message: 'why' } } }];
    const view = jobView(job, [{ ...pod, status: { phase: 'Pending', containerStatuses: waiting } }], [node]);
    expect(view.trouble).toEqual({ code, kind: 'impossible', message: `container ansible: ${reason}: why` });
  });

  test.each([
    ['StartError', 'exec: "/opt/none": no such file or directory', 'container_config_invalid'],
    ['ContainerCannotRun', 'no such user', 'container_config_invalid'],
    ['StartError', 'container init was OOM-killed (memory limit too low?)', 'out_of_memory'],
  ])('a container that could not be started: %s, %s', (reason, message, code) => {
    const { job, pod } = undeleted('starting');
    const terminated = [{ name: 'ansible', state: { terminated: { reason, message, exitCode: 128 } } }];
    const view = jobView(job, [{ ...pod, status: { phase: 'Running', containerStatuses: terminated } }], [node]);
    expect(view.trouble).toEqual({ code, kind: 'over', message: `container ansible: ${reason}: ${message}` });
  });

  test('nothing, when a container that lost a process for want of memory has still done its work', () => {
    const { job, pod } = undeleted('starting');
    const terminated = { reason: 'OOMKilled', exitCode: 0 };
    const statuses = [
      { name: 'inventory', state: { terminated } },
      { name: 'ansible', state: { running: {} } },
    ];
    const view = jobView(job, [{ ...pod, status: { phase: 'Running', containerStatuses: statuses } }], [node]);
    expect(view).toMatchObject({ phase: 'running', trouble: null });
  });

  test.each([
    ['Evicted', 'The node was low on resource: memory.', 'evicted'],
    ['NodeShutdown', 'Pod was terminated in response to imminent node shutdown.', 'node_lost'],
    ['Terminated', 'Pod was terminated in response to imminent node shutdown.', 'node_lost'],
    ['OutOfmemory', 'Node did not have enough resource: memory', 'unschedulable'],
    ['UnexpectedAdmissionError', 'device is gone', 'unschedulable'],
  ])('a pod that failed with %s', (reason, message, code) => {
    const { job, pod } = undeleted('starting');
    const view = jobView(job, [{ ...pod, status: { phase: 'Failed', reason, message } }], [node]);
    expect(view.trouble).toEqual({ code, kind: 'over', message: `${reason}: ${message}` });
  });

  test.each([
    ['DeletionByTaintManager', 'evicted'],
    ['DeletionByPodGC', 'node_lost'],
    ['PreemptionByScheduler', 'evicted'],
    ['TerminationByKubelet', 'evicted'],
  ])('a pod that is disrupted by %s', (reason, code) => {
    const { job, pod } = recorded('running_being_deleted');
    delete job.metadata.deletionTimestamp;
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason, message: 'said so' }];
    const view = jobView(job, [{ ...pod, status: { ...pod.status, conditions } }], [node]);
    expect(view.trouble).toEqual({ code, kind: 'over', message: `${reason}: said so` });
  });
});

describe('a node that is away', () => {
  const quiet = (status: string): NodeObject => ({ ...node, status: { conditions: [{ type: 'Ready', status }] } });

  test('has lost the pod that its own taint has driven away', () => {
    const { job, pod } = recorded('running_being_deleted');
    delete job.metadata.deletionTimestamp;
    const said = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message: 'said so' };
    const driven = { ...pod, status: { ...pod.status, conditions: [said] } };
    expect(jobView(job, [driven], [quiet('Unknown')]).trouble).toMatchObject({ code: 'node_lost', kind: 'over' });
  });

  test.each([
    ['says nothing any more', [quiet('Unknown')]],
    ['says that it is not ready', [quiet('False')]],
    ['is gone', []],
  ])('%s', (_, nodes) => {
    const { job, pod } = undeleted('running_being_deleted');
    expect(jobView(job, [pod], nodes).trouble).toEqual({
      code: 'node_lost',
      kind: 'waiting',
      message: 'node dev is not ready',
    });
  });

  /** The pod as recorded, which a taint has driven away, with what its node has taken notice of. */
  const drivenAway = (pod: PodObject, generations: { asked?: number; seen?: number }): PodObject => {
    const { asked, seen } = generations;
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'DisruptionTarget') ?? [];
    const message = 'Taint manager: deleting due to NoExecute taint';
    const said = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager', message };
    return {
      ...pod,
      metadata: { ...pod.metadata, ...(asked === undefined ? {} : { generation: asked }) },
      status: {
        ...pod.status,
        conditions: [said, ...others],
        ...(seen === undefined ? {} : { observedGeneration: seen }),
      },
    };
  };
  const SAID = 'DeletionByTaintManager: Taint manager: deleting due to NoExecute taint';

  test('is not seen where nodes cannot be read, before Kubernetes gives up its pod', () => {
    const { job, pod } = undeleted('running_being_deleted');
    expect(jobView(job, [pod], null).trouble).toBeNull();
  });

  describe.each(['running_being_deleted', 'evicted'])('where nodes cannot be read (%s)', (name) => {
    const { job, pod } = recorded(name);
    delete job.metadata.deletionTimestamp;

    test.each([
      ['has lost the pod whose deletion it has not seen', { asked: 2, seen: 1 }, 'node_lost'],
      ['has lost none if it has seen the deletion', { asked: 2, seen: 2 }, 'evicted'],
      ['is not told from another by an old cluster', {}, 'evicted'],
      ['is not told from another by one that only counts what was asked', { asked: 2 }, 'evicted'],
    ])('%s', (_, generations, code) => {
      const driven = drivenAway(pod, generations);
      expect(jobView(job, [driven], null).trouble).toEqual({ code, kind: 'over', message: SAID });
      const cache = createJobCache();
      const known = cache.get(cache.putPod(driven));
      expect(jobView(job, [...(known?.pods.values() ?? [])], null).trouble?.code).toBe(code);
    });

    test('has lost none that was not deleted yet, or had ended before', () => {
      const driven = drivenAway(pod, { asked: 2, seen: 1 });
      const { deletionTimestamp: _, ...metadata } = driven.metadata;
      expect(jobView(job, [{ ...driven, metadata }], null).trouble?.code).toBe('evicted');
      const ended = { ...driven, status: { ...driven.status, phase: 'Failed' } };
      expect(jobView(job, [ended], null).trouble?.code).toBe('evicted');
    });

    test('has lost none that another than a taint has deleted', () => {
      const unseen = { metadata: { ...pod.metadata, generation: 2 }, status: { ...pod.status, observedGeneration: 1 } };
      expect(jobView(job, [{ ...pod, ...unseen }], null).trouble?.code).not.toBe('node_lost');
    });
  });

  test('does not matter to a pod that has ended', () => {
    const { job, pod } = undeleted('starting');
    const over = { ...pod, status: { ...pod.status, phase: 'Failed' } };
    expect(jobView(job, [over], [quiet('Unknown')]).trouble).toBeNull();
  });
});

describe('the phase of a Job', () => {
  const { job, pod } = undeleted('starting');
  const at = '2026-11-22T03:10:00Z';
  const deletedAt = (time: string): JobObject => ({ ...job, metadata: { ...job.metadata, deletionTimestamp: time } });

  test.each<[string, JobObject, PodObject[], string]>([
    ['suspended', { ...job, spec: { suspend: true } }, [], 'suspended'],
    ['let run, without a pod', job, [], 'waiting'],
    ['with a pod that nothing ran of', job, [undeleted('cpu_busy').pod], 'waiting'],
    ['with a container that runs', job, [pod], 'running'],
    ['complete', withCondition(job, 'Complete', '', at), [pod], 'complete'],
    ['whose pod has succeeded, before it says so', job, [{ ...pod, status: { phase: 'Succeeded' } }], 'complete'],
    ['whose pod has failed, before it says so', job, [{ ...pod, status: { phase: 'Failed' } }], 'running'],
    ['deleted when its pod has succeeded', deletedAt(at), [{ ...pod, status: { phase: 'Succeeded' } }], 'deleting'],
    ['failed', withCondition(job, 'Failed', 'BackoffLimitExceeded', at), [pod], 'failed'],
    ['being deleted', deletedAt(at), [pod], 'deleting'],
    ['suspended and deleted', { ...deletedAt(at), spec: { suspend: true } }, [], 'deleting'],
    [
      'that failed by being deleted',
      withCondition(deletedAt(at), 'Failed', 'BackoffLimitExceeded', '2026-11-22T03:10:03Z'),
      [pod],
      'deleting',
    ],
    [
      'that failed in the second in which it was deleted',
      withCondition(deletedAt(at), 'Failed', 'BackoffLimitExceeded', at),
      [pod],
      'deleting',
    ],
    [
      'that had failed before it was deleted',
      withCondition(deletedAt(at), 'Failed', 'BackoffLimitExceeded', '2026-11-22T03:09:59Z'),
      [pod],
      'failed',
    ],
    ['that was complete before it was deleted', withCondition(deletedAt(at), 'Complete', '', at), [pod], 'complete'],
  ])('%s', (_, object, pods, phase) => {
    expect(jobView(object, pods, null).phase).toBe(phase);
  });

  test('the reason of a failure, and when it was', () => {
    const failed = withCondition(job, 'Failed', 'BackoffLimitExceeded', at, 'Job has reached the limit');
    expect(jobView(failed, [pod], null)).toMatchObject({
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the limit',
    });
  });

  test('of a Job that is not there', () => {
    expect(goneView('cfs-1')).toMatchObject({ name: 'cfs-1', phase: 'gone', containers: [], trouble: null });
    const { pod } = undeleted('oom');
    const { phase, containers } = goneView('cfs-1', [pod]);
    expect(phase).toBe('gone');
    expect(containers.map(({ name, exitCode }) => [name, exitCode])).toEqual([
      ['git-clone', 0],
      ['inventory', 0],
      ['ansible', 137],
    ]);
  });
});

describe('the containers of a Job', () => {
  test('come in the order of the pod, with what is known of each', () => {
    const { job, pod } = undeleted('oom');
    expect(
      jobView(job, [pod], null).containers.map(({ name, state, reason, exitCode }) => [name, state, reason, exitCode]),
    ).toEqual([
      ['git-clone', 'terminated', 'Completed', 0],
      ['inventory', 'terminated', 'Completed', 0],
      ['ansible', 'terminated', 'OOMKilled', 137],
    ]);
  });

  test('wait while no node has them', () => {
    const { job, pod } = undeleted('cpu_busy');
    expect(jobView(job, [pod], null).containers).toEqual(
      ['git-clone', 'inventory', 'ansible'].map((name) => ({
        name,
        state: 'waiting',
        reason: '',
        message: '',
        exitCode: null,
      })),
    );
  });

  test('are those of the latest pod', () => {
    const first = undeleted('oom');
    const later = { ...first.pod, metadata: { name: 'later', creationTimestamp: '2027-01-01T00:00:00Z' }, status: {} };
    for (const pods of [
      [first.pod, later],
      [later, first.pod],
    ]) {
      expect(jobView(first.job, pods, null).containers.every(({ state }) => state === 'waiting')).toBe(true);
    }
  });
});
