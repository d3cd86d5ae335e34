/** The status of a deployment as the command line shows it. */
import { describe, expect, test } from '@jest/globals';
import { deploymentPath } from '../../../cli/commands/deployments/deployment-path.ts';
import {
  type DeploymentStatus,
  faultsOf,
  type ResourceRow,
  rowsOf,
  waitsFor,
} from '../../../cli/commands/deployments/status-answer.ts';
import { statusTree } from '../../../cli/commands/deployments/status-tree.ts';

const resource = (Kind: string, name: string, applied: string, ready = '', more: object = {}) => ({
  GVK: { Group: '', Version: 'v1', Kind },
  name,
  ...(applied === '' ? {} : { 'rsync-status': applied }),
  ...(ready === '' ? {} : { 'cluster-status': 'Present', 'ready-status': ready }),
  ...more,
});
const STATUS: DeploymentStatus = {
  ...{ name: 'edge', state: 'Instantiated', status: 'Instantiating', ready: false },
  apps: [
    {
      name: 'agent',
      clusters: [
        {
          ...{ 'cluster-provider': 'lab', cluster: 'north' },
          resources: [
            resource('ConfigMap', 'cfg', 'Applied', 'Ready'),
            resource('Deployment', 'agent', 'Applied', 'NotReady', {
              ...{ namespace: 'obs', reason: 'CrashLoopBackOff', message: 'pod a\u001b[31m, 4 restarts' },
            }),
          ],
        },
        {
          ...{
            'cluster-provider': 'lab',
            cluster: 'south',
            connectivity: 'Retrying',
            'last-seen': '2031-03-04T08:00:00Z',
          },
          resources: [resource('ConfigMap', 'cfg', 'Retrying', '', { reason: 'Unreachable', message: 'refused' })],
        },
      ],
    },
  ],
};

test('a tree shows apps, clusters and resources, each with its counts', () => {
  expect(statusTree('p+a+v1+edge', STATUS, false)).toBe(
    [
      'p+a+v1+edge  Instantiated  AppContext Instantiating  2 Applied, 1 Retrying, 1 NotReady  not ready',
      'agent  2 Applied, 1 Retrying, 1 NotReady',
      '  lab+north  2 Applied, 1 NotReady',
      '    ConfigMap cfg     Applied Present Ready',
      '    Deployment agent  Applied Present NotReady  CrashLoopBackOff',
      '  lab+south  1 Retrying  Retrying, last seen 2031-03-04T08:00:00Z',
      '    ConfigMap cfg  Retrying  Unreachable',
      '',
    ].join('\n'),
  );
});

test('a wide tree has namespaces and messages, and nothing of a cluster steers the terminal', () => {
  const tree = statusTree('p+a+v1+edge', STATUS, true);
  expect(tree).toContain(
    'Deployment obs/agent  Applied Present NotReady  CrashLoopBackOff: pod a\\x1b[31m, 4 restarts',
  );
  expect(tree).not.toContain('\u001b');
});

test('a deployment that was never instantiated has one line', () => {
  expect(statusTree('p+a+v1+edge', { name: 'edge', state: 'Created' }, false)).toBe('p+a+v1+edge  Created\n');
});

describe('what is not well', () => {
  const row = (applied: string, ready: string, reason = ''): ResourceRow => ({
    ...{ app: 'agent', cluster: 'lab+north', connectivity: 'Reachable', kind: 'Service', name: 'agent', namespace: '' },
    ...{ applied, present: '', ready, reason, message: '' },
  });
  test.each([
    ['Applied', 'Ready', '', false],
    ['Applied', '', 'TakenOver', false],
    ['Applied', 'NotReady', 'DeletedOutside', true],
    ['Applied', 'Unknown', 'Stale', true],
    ['Failed', '', 'Forbidden', true],
    ['Retrying', 'Unknown', 'Unreachable', true],
    ['Pending', 'Unknown', '', false],
    ['Pending', 'Unknown', 'Waiting', false],
    ['Pending', 'Unknown', 'DependencyFailed', true],
    ['Deleted', 'NotReady', '', false],
    ['', 'NotReady', 'CrashLoopBackOff', true],
  ])('%s %s %s: %p', (applied, ready, reason, isFault) => {
    expect(faultsOf([row(applied, ready, reason)])).toHaveLength(isFault ? 1 : 0);
  });

  test.each([
    ['Retrying', 'Unreachable', 'an answer of lab+north'],
    ['Retrying', 'BeingDeleted', 'the former object to be gone'],
    ['Retrying', 'Unauthorized', 'a credential that lab+north takes'],
    ['Failed', 'Forbidden', ''],
    ['Applied', 'DeletedOutside', ''],
  ])('%s %s waits for: %s', (applied, reason, expected) => {
    expect(waitsFor(row(applied, '', reason))).toBe(expected);
  });

  test('is found in the answer, with where it is', () => {
    expect(faultsOf(rowsOf(STATUS)).map(({ cluster, name }) => `${cluster} ${name}`)).toEqual([
      'lab+north agent',
      'lab+south cfg',
    ]);
  });
});

test('a name leads to a path, with each part encoded', () => {
  expect(deploymentPath('p+a+v1+ed/ge')).toBe('/api/v1/deployments/p%2Ba%2Bv1%2Bed%2Fge');
  expect(() => deploymentPath('')).toThrow('is empty');
});
