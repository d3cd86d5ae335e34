import { describe, expect, test } from '@jest/globals';
import type { NodeObject, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';
import { troubleOf } from '../../../drivers/kubernetes-runner/pod-trouble.ts';
import { quantity } from '../../../drivers/kubernetes-runner/quantities.ts';
import { schedulingKind } from '../../../drivers/kubernetes-runner/scheduling.ts';

describe('quantities of Kubernetes', () => {
  test.each([
    ['2', 2],
    ['500m', 0.5],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['4Gi', 4 * 2 ** 30],
    ['6G', 6e9],
    ['24632896Ki', 24_632_896 * 1024],
    ['1e3', 1000],
    ['1E', 1e18],
    ['1E2', 100],
    ['100n', 1e-7],
  ])('%s', (text, value) => {
    expect(quantity(text)).toBeCloseTo(value, 9);
  });

  test.each(['', 'Gi', '4 Gi', '4gi', '1e', 'NaN'])('%j is none', (text) => {
    expect(quantity(text)).toBeNaN();
  });
});

const node = (
  more: Partial<NodeObject['spec']> & { labels?: Record<string, string>; memory?: string } = {},
): NodeObject => ({
  metadata: { name: 'one', labels: more.labels ?? {} },
  spec: { taints: more.taints ?? [] },
  status: { allocatable: { cpu: '2', memory: more.memory ?? '8Gi', pods: '110' } },
});

const pod = (requests: Record<string, string> = {}, more: PodObject['spec'] = {}): PodObject => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'inventory' }, { name: 'ansible', resources: { requests } }], ...more },
});

describe('whether a node will ever run a pod, by the nodes', () => {
  test.each<[string, PodObject, NodeObject[], 'waiting' | 'impossible']>([
    ['room that others have', pod({ memory: '4Gi' }), [node()], 'waiting'],
    ['exactly what there is', pod({ memory: '8Gi', cpu: '2' }), [node()], 'waiting'],
    ['more memory than any has', pod({ memory: '9Gi' }), [node()], 'impossible'],
    ['more cpu than any has', pod({ cpu: '2001m' }), [node()], 'impossible'],
    ['one of two is large enough', pod({ memory: '9Gi' }), [node(), node({ memory: '16Gi' })], 'waiting'],
    ['something that no node has', pod({ 'example.com/gpu': '1' }), [node()], 'impossible'],
    [
      'two containers that fit alone only',
      pod({}, { containers: ['a', 'b'].map((name) => ({ name, resources: { requests: { cpu: '1500m' } } })) }),
      [node()],
      'impossible',
    ],
    [
      'a first container that needs more than those after it',
      pod({ cpu: '1' }, { initContainers: [{ name: 'i', resources: { requests: { cpu: '3' } } }] }),
      [node()],
      'impossible',
    ],
    ['a label that no node has', pod({}, { nodeSelector: { disk: 'ssd' } }), [node()], 'impossible'],
    [
      'a label with another value',
      pod({}, { nodeSelector: { disk: 'ssd' } }),
      [node({ labels: { disk: 'hdd' } })],
      'impossible',
    ],
    [
      'a label that a node has',
      pod({}, { nodeSelector: { disk: 'ssd' } }),
      [node({ labels: { disk: 'ssd' } })],
      'waiting',
    ],
    [
      'a taint of the site',
      pod(),
      [node({ taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] })],
      'impossible',
    ],
    [
      'a taint that it tolerates',
      pod({}, { tolerations: [{ key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' }] }),
      [node({ taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] })],
      'waiting',
    ],
    [
      'a taint that it tolerates with another value',
      pod({}, { tolerations: [{ key: 'team', value: 'b' }] }),
      [node({ taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }] })],
      'impossible',
    ],
    [
      'every taint is tolerated',
      pod({}, { tolerations: [{ operator: 'Exists' }] }),
      [node({ taints: [{ key: 'team', effect: 'NoExecute' }] })],
      'waiting',
    ],
    ['a wish of a taint', pod(), [node({ taints: [{ key: 'team', effect: 'PreferNoSchedule' }] })], 'waiting'],
    [
      'a node that is away',
      pod(),
      [node({ taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }] })],
      'waiting',
    ],
    [
      'a node that is too small and away',
      pod({ cpu: '4' }),
      [node({ taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] })],
      'impossible',
    ],
    ['no node at all', pod(), [], 'waiting'],
  ])('%s', (_, wanted, nodes, kind) => {
    expect(schedulingKind(wanted, '', nodes)).toBe(kind);
  });
});

describe("whether a node will ever run a pod, by the scheduler's words", () => {
  const unhelpful = (count: number) =>
    `preemption: 0/${count} nodes are available: ${count} Preemption is not helpful for scheduling.`;

  test.each<[string, 'waiting' | 'impossible']>([
    [`0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, ${unhelpful(1)}`, 'impossible'],
    [
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
      'waiting',
    ],
    [
      `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.`,
      'waiting',
    ],
    [`0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. ${unhelpful(1)}`, 'impossible'],
    [`0/2 nodes are available: 2 node(s) had untolerated taint(s). ${unhelpful(2)}`, 'waiting'],
    [
      `0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector. ${unhelpful(3)}`,
      'waiting',
    ],
    [`0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 Insufficient cpu. ${unhelpful(2)}`, 'waiting'],
    [`0/2 nodes are available: 2 node(s) had untolerated taint(s) {team: a}. ${unhelpful(2)}`, 'impossible'],
    [`0/2 nodes are available: 2 node(s) had untolerated taint {team: a}. ${unhelpful(2)}`, 'impossible'],
    [
      `0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }. ${unhelpful(1)}`,
      'waiting',
    ],
    [`0/1 nodes are available: 1 node(s) were unschedulable. ${unhelpful(1)}`, 'waiting'],
    [
      '0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
      'waiting',
    ],
    ['0/2 nodes are available: 2 Insufficient memory.', 'waiting'],
    ['no nodes available to schedule pods', 'waiting'],
  ])('%s', (message, kind) => {
    expect(schedulingKind(pod(), message, null)).toBe(kind);
  });
});

describe('what is said of taints that the scheduler does not name', () => {
  const job = { metadata: { name: 'cfs-1' } };
  const unplaced = (message: string): PodObject => ({
    ...pod(),
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
  });
  const unnamed = '0/1 nodes are available: 1 node(s) had untolerated taint(s).';
  const site = { key: 'team', value: 'a', effect: 'NoSchedule' };

  test('that it is not known whether they pass, where nodes are unreadable', () => {
    expect(troubleOf(job, unplaced(unnamed), null, null)).toEqual({
      code: 'unschedulable',
      kind: 'waiting',
      message: `${unnamed} (whether these taints pass is not known: Muster cannot read nodes, see runner.readNodes)`,
    });
  });

  test('nothing where nodes are read, or the taint is named', () => {
    expect(troubleOf(job, unplaced(unnamed), [node({ taints: [site] })], null)).toMatchObject({
      kind: 'impossible',
      message: unnamed,
    });
    const named = '0/1 nodes are available: 1 node(s) had untolerated taint {team: a}.';
    expect(troubleOf(job, unplaced(named), null, null)).toMatchObject({ kind: 'impossible', message: named });
  });
});
