import { expect, test } from '@jest/globals';
import type { NodeObject, PodObject } from '../../../drivers/kubernetes-runner/objects.ts';
import { whyUnverified } from '../../../drivers/kubernetes-runner/unverified.ts';

const AWAY = 'node not ready';
const SLOW = 'node n1 has not ended its containers';
const node = (ready: string): NodeObject => ({
  metadata: { name: 'n1' },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
/** Deleted, with what its node has taken notice of. */
const pod = (observedGeneration?: number): PodObject => ({
  metadata: { name: 'p', deletionTimestamp: '2026-11-22T03:08:46Z', ...(observedGeneration ? { generation: 2 } : {}) },
  spec: { nodeName: 'n1' },
  status: { phase: 'Running', ...(observedGeneration ? { observedGeneration } : {}) },
});

test.each([
  ['nodes may not be read, and it has not taken notice', pod(1), null, AWAY],
  ['nodes may not be read, and it has taken notice', pod(2), null, SLOW],
  ['nodes may not be read, and an old cluster does not tell', pod(), null, AWAY],
  ['it is called ready still, and has not taken notice', pod(1), [node('True')], AWAY],
  ['it is ready, and has taken notice', pod(2), [node('True')], SLOW],
  ['it is ready, and an old cluster does not tell', pod(), [node('True')], SLOW],
  ['it was there, and is not ready by now', pod(2), [node('Unknown')], AWAY],
  ['it is gone', pod(2), [], AWAY],
] as const)('of a node: %s', (_, deleted, nodes, expected) => {
  expect(whyUnverified(deleted, nodes)).toBe(expected);
});
