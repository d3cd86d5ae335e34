/** What the pages of operators, propagation and deployments make of URLs and records. */
import { describe, expect, test } from '@jest/globals';
import { stepOfGroup } from '../../domain/deployments/lifecycle.ts';
import { allows, PLAN_STATES } from '../../domain/propagation/plan-states.ts';
import {
  callRefusal,
  deploymentPath,
  isOpen,
  openFirst,
  troubleOf,
  whyText as whyDeployment,
} from '../../web/src/deployments/deployment-text.ts';
import { readDeploymentListSearch, readDeploymentSearch } from '../../web/src/deployments/search.ts';
import {
  causeText,
  nameOf,
  resourceCommand,
  verbRefusal as resourceRefusal,
  writeText,
} from '../../web/src/operator/resource-text.ts';
import { layOutGraph, NODE } from '../../web/src/propagation/graph-layout.ts';
import {
  countsText,
  incomingText,
  loopOf,
  type PlanVerb,
  verbRefusal as planRefusal,
  reasonText,
  whyText as whyPlan,
} from '../../web/src/propagation/plan-text.ts';

describe('a resource of an operator', () => {
  const standing = { failures_in_a_row: 0, next_attempt_at: null, paused_until: null, reason: null };
  test.each([
    ['reconcile', { phase: 'waiting', paused: false }, null],
    ['reconcile', { phase: 'paused', paused: true }, 'It is paused: resume it first'],
    ['cancel', { phase: 'waiting', paused: false }, 'No reconcile of it runs or waits'],
    ['cancel', { phase: 'running', paused: true }, null],
    ['pause', { phase: 'running', paused: true }, 'It is paused'],
    ['resume', { phase: 'queued', paused: false }, 'It is not paused'],
    ['resume', { phase: 'gone', paused: true }, 'It is gone'],
  ] as const)('%s of %j: %j', (verb, state, expected) => {
    expect(resourceRefusal(verb, { ...standing, ...state })).toBe(expected);
  });

  test('is named as the command line names it', () => {
    const resource = { kind: 'Widget', namespace: 'n s', name: 'w', operator: '-x' };
    expect(resourceCommand('pause', resource)).toBe("./muster operator pause Widget 'n s/w' --operator=-x");
    expect(nameOf({ namespace: '', name: 'w' })).toBe('w');
  });

  test('has causes and writes in words', () => {
    expect(causeText({ type: 'dependent', object: 'Pod ns/a' })).toBe('dependent Pod ns/a');
    expect(causeText({ type: 'retry', attempt: 3 })).toBe('retry 3');
    expect(causeText({ type: 'manual', by: 'ann' })).toBe('manual by ann');
    const write = { verb: 'update', group: 'apps', version: 'v1', kind: 'Deployment', namespace: 'n', name: 'd' };
    expect(writeText({ ...write, subresource: 'status' })).toBe('update Deployment.apps/status n/d');
    expect(writeText({ ...write, group: '', subresource: '' })).toBe('update Deployment n/d');
  });
});

describe('a plan', () => {
  const VERBS = ['run', 'pause', 'unpause', 'stop', 'abort', 'resume', 'retry', 'abandon', 'delete'] as const;
  /** Verbs that are fulfilled already do nothing, and are no mistake of the API. */
  const does = (verb: PlanVerb, state: (typeof PLAN_STATES)[number]) => {
    try {
      return allows(verb, { id: 'p', state });
    } catch {
      return false;
    }
  };
  test.each(PLAN_STATES.flatMap((state) => VERBS.map((verb) => [verb, state] as const)))(
    '%s of one that is %s is offered where the API does it',
    (verb, state) => expect(planRefusal(verb, { state }) === null).toBe(does(verb, state)),
  );

  test('says how it stands', () => {
    const summary = {
      pending: 1,
      in_progress: 0,
      error_retry: 0,
      success: 0,
      error: 2,
      noop: 0,
      skipped: 0,
      blocked: 3,
    };
    expect(whyPlan({ state: 'failed', wish: null, summary })).toBe('2 nodes failed, and 3 wait for that');
    expect(whyPlan({ state: 'running', wish: null, summary })).toContain('It waits');
    expect(whyPlan({ state: 'running', wish: 'stop', summary })).toContain('It is to stop');
    expect(countsText(summary)).toBe('1 pending, 2 error, 3 blocked');
  });

  test('says why a node stands as it does', () => {
    expect(reasonText({ reason: null, message: 'rc 2', code: 'failed', blocked_by: ['a.run'] })).toBe(
      'rc 2; failed; blocked by a.run',
    );
    const edge = { from: ['a.run'], aggregate: null, verdict: null };
    expect(incomingText({ ...edge, type: 'sequence', on: null })).toBe('a.run (sequence) has not ended');
    expect(incomingText({ ...edge, type: 'react_on', on: 'changed', aggregate: 'ok', verdict: 'quiet' })).toBe(
      'a.run (react_on, on changed) ended with ok, which does not ask for it',
    );
    const cycle = { members: ['b.run'], head: 'b.run', repeated: [], closed_by: [] };
    expect(loopOf({ cycles: [cycle] }, { base: 'b.run' })).toBe(1);
    expect(loopOf({ cycles: [cycle] }, { base: 'c.run' })).toBeNull();
  });
});

describe('the graph of a plan', () => {
  const place = (ids: string[], edges: [string, string][]) =>
    layOutGraph(
      ids,
      edges.map(([from, to]) => ({ from, to })),
    );

  test('has each node behind all that it waits for, and nodes never on each other', () => {
    const { nodes, lines, width } = place(
      ['a', 'b', 'c', 'd'],
      [...[['a', 'b'] as [string, string], ['a', 'b'] as [string, string]], ['b', 'c'], ['a', 'c'], ['a', 'gone']],
    );
    const at = Object.fromEntries(nodes.map(({ id, x, y }) => [id, { x, y }]));
    expect(lines.map(({ key }) => key)).toEqual(['a b', 'b c', 'a c']);
    for (const { x1, x2 } of lines) expect(x1).toBeLessThan(x2);
    expect(at.d?.x).toBe(at.a?.x);
    expect(at.d?.y).toBeGreaterThanOrEqual((at.a?.y ?? 0) + NODE.height);
    expect(width).toBeGreaterThanOrEqual((at.c?.x ?? 0) + NODE.width);
  });

  test('is drawn also where what is given follows itself, and where nothing is given', () => {
    const { nodes } = place(
      ['a', 'b'],
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    );
    expect(nodes.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(place([], []).nodes).toEqual([]);
  });
});

describe('a deployment', () => {
  test.each([
    ['p+a+v1+g', '/projects/p/composite-apps/a/v1/deployment-intent-groups/g'],
    ['shop', '/projects/default/composite-apps/shop/v1/deployment-intent-groups/shop'],
    ['p+a/b+v+%2F', '/projects/p/composite-apps/a%2Fb/v/deployment-intent-groups/%252F'],
    ['p+a+..+g', null],
    ['.', null],
    ['p+a', null],
    ['p++v+g', null],
    ['', null],
  ])('%j is at %j', (name, path) => expect(deploymentPath(name)).toBe(path));

  const STATES = [
    'Created',
    'Approved',
    'Instantiated',
    'InstantiateStopped',
    'Terminated',
    'TerminateStopped',
  ] as const;
  const CONTEXTS = [null, 'Instantiating', 'Instantiated', 'Terminating', 'Terminated', 'TerminateFailed'] as const;
  const CALLS = ['approve', 'instantiate', 'terminate', 'stop'] as const;
  test.each(STATES.flatMap((state) => CONTEXTS.map((context) => [state, context] as const)))(
    'that is %s with an AppContext %s offers nothing that the API refuses for its state',
    (state, context) => {
      // What has no AppContext has none in these states, and the others never are without.
      const isWithout = state === 'Created' || state === 'Approved';
      if (isWithout !== (context === null)) return;
      const offered = CALLS.filter(
        (call) => callRefusal(call, { state, ...(context === null ? {} : { status: context }) }) === null,
      );
      for (const call of offered) expect(() => stepOfGroup(call, { state, context, isBusy: false })).not.toThrow();
    },
  );

  test('says what is not well, first', () => {
    const resource = { GVK: { Group: '', Version: 'v1', Kind: 'Pod' }, name: 'p' };
    const good = { ...resource, 'rsync-status': 'Applied', 'ready-status': 'Ready' };
    const bad = { ...resource, 'rsync-status': 'Applied', 'ready-status': 'NotReady' };
    const gone = { ...resource, 'rsync-status': 'Deleted', 'ready-status': 'NotReady' };
    expect([good, bad, gone].map(isOpen)).toEqual([false, true, false]);
    expect(openFirst([good, bad])).toEqual([bad, good]);
    const cluster = { 'cluster-provider': 'p', cluster: 'c' };
    expect(troubleOf({ ...cluster, 'rsync-status': { Applied: 2 }, 'ready-status': { Ready: 2 } })).toBe('');
    expect(
      troubleOf({
        ...{ ...cluster, connectivity: 'Unreachable' },
        ...{ 'rsync-status': { Applied: 1, Failed: 1 }, 'ready-status': { NotReady: 1 } },
      }),
    ).toBe('Unreachable, 1 Failed, 1 NotReady');
    expect(troubleOf({ ...cluster, 'rsync-status': { Deleted: 1 }, 'ready-status': { Unknown: 1 } })).toBe('');
    expect(whyDeployment({ state: 'Terminated', status: 'TerminateFailed' })).toContain('terminate it again');
  });

  test('has an address that says nothing of a version without its application', () => {
    expect(readDeploymentListSearch({ version: 'v1' })).toEqual({});
    expect(readDeploymentListSearch({ project: 'p', app: 'a' })).toEqual({ project: 'p' });
    expect(readDeploymentListSearch({ project: 'p', app: 'a', version: 1 })).toEqual({
      ...{ project: 'p', app: 'a', version: '1' },
    });
    for (const project of ['x'.repeat(129), '..', 'a/b']) {
      expect(readDeploymentListSearch({ project })).toEqual({ dropped: ['project'] });
    }
    expect(readDeploymentSearch({ app: 'a', cluster: {} })).toEqual({ app: 'a', dropped: ['cluster'] });
  });
});
