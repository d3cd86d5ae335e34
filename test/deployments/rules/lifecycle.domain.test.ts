import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CloudCall, checkCloudCall, checkCloudReady } from '../../../domain/deployments/cloud-lifecycle.ts';
import {
  CONTEXT_STATES,
  type ContextState,
  changeContext,
  isContextChange,
  isEnded,
  stateAfter,
  stateOfTerminate,
} from '../../../domain/deployments/context-state.ts';
import {
  currentInstance,
  currentState,
  GROUP_STATES,
  type GroupState,
  instancesOf,
  latestInstance,
  NETWORK_STATES,
  type NetworkState,
  type StateAction,
} from '../../../domain/deployments/history.ts';
import { changeOfIntent, type GroupCall, stepOfGroup } from '../../../domain/deployments/lifecycle.ts';
import { checkNetworkChange, type NetworkCall, stepOfNetworks } from '../../../domain/deployments/network-lifecycle.ts';
import { refusalOf } from './refusal.ts';

const CALLS: readonly GroupCall[] = ['approve', 'instantiate', 'terminate', 'stop', 'delete'];

/** What a call answers, in a word: the new state with `*` for a new instance, `-` for nothing new, or the code. */
function answer<State extends string>(step: () => { state: State; instance: string } | 'delete' | 'nothing'): string {
  const refused = refusalOf(step);
  if (refused !== null) return refused.code === 'invalid_state' ? '409' : refused.code;
  const done = step();
  if (done === 'nothing') return '-';
  if (done === 'delete') return 'gone';
  return `${done.state}${done.instance === 'new' ? '*' : done.instance === 'same' ? '=' : ''}`;
}

describe('a deployment intent group', () => {
  // State, its AppContext, and the answers to approve, instantiate, terminate, stop, delete.
  const TABLE: [GroupState, ContextState | null, string, string, string, string, string][] = [
    ['Created', null, 'Approved', '409', '409', '409', 'gone'],
    ['Approved', null, '-', 'Instantiated*', '409', '409', 'gone'],
    ['Instantiated', 'Instantiating', '409', '409', 'Terminated=', 'InstantiateStopped=', '409'],
    ['Instantiated', 'Instantiated', '409', '409', 'Terminated=', '409', '409'],
    ['Instantiated', 'InstantiateFailed', '409', '409', 'Terminated=', '409', '409'],
    ['InstantiateStopped', 'Instantiating', '409', '409', 'Terminated=', '409', '409'],
    ['InstantiateStopped', 'InstantiateFailed', '409', '409', 'Terminated=', '409', '409'],
    ['Terminated', 'PreTerminate', 'context_busy', 'context_busy', '409', 'TerminateStopped=', 'context_busy'],
    ['Terminated', 'Terminating', 'context_busy', 'context_busy', '409', 'TerminateStopped=', 'context_busy'],
    ['Terminated', 'Terminated', 'Approved', 'Instantiated*', '409', '409', 'gone'],
    ['Terminated', 'TerminateFailed', 'Approved', 'Instantiated*', 'Terminated=', '409', 'gone'],
    ['TerminateStopped', 'Terminating', '409', 'context_busy', 'context_busy', '409', 'context_busy'],
    ['TerminateStopped', 'TerminateFailed', '409', 'Instantiated*', 'Terminated=', '409', 'gone'],
    ['TerminateStopped', 'Terminated', '409', 'Instantiated*', '409', '409', 'gone'],
  ];

  test.each(TABLE)('%s with the AppContext %s', (state, context, ...expected) => {
    const isBusy = context !== null && !isEnded(context);
    const answers = CALLS.map((call) => answer(() => stepOfGroup(call, { state, context, isBusy })));
    expect(answers).toEqual(expected);
  });

  test('waits while a former AppContext has not ended, whatever the state says', () => {
    for (const state of ['Created', 'Approved', 'TerminateStopped'] as const) {
      const situation = { state, context: null, isBusy: true };
      expect(answer(() => stepOfGroup('delete', situation))).toBe('context_busy');
    }
    expect(answer(() => stepOfGroup('instantiate', { state: 'Approved', context: null, isBusy: true }))).toBe(
      'context_busy',
    );
  });

  test('says EMCO’s words first where it must be approved', () => {
    const refused = refusalOf(() => stepOfGroup('instantiate', { state: 'Created', context: null, isBusy: false }));
    expect(refused?.detail).toMatch(/^must be approved first/);
  });

  test.each<[GroupState, string]>([
    ['Created', 'no action'],
    ['Approved', 'un-approved'],
    ['Instantiated', '409'],
    ['InstantiateStopped', '409'],
    ['Terminated', 'un-approved'],
    ['TerminateStopped', 'un-approved'],
  ])('%s, and an intent changes: %s', (state, expected) => {
    const refused = refusalOf(() => changeOfIntent({ state, isBusy: false }));
    const found = refused === null ? (changeOfIntent({ state, isBusy: false }) ? 'un-approved' : 'no action') : '409';
    expect(found).toBe(expected);
    if (refused === null) expect(refusalOf(() => changeOfIntent({ state, isBusy: true }))?.code).toBe('context_busy');
  });

  test('never has two AppContexts that have not ended, over any calls and any work of the engine', () => {
    const move = fc.oneof(fc.constantFrom(...CALLS), fc.constantFrom('well' as const, 'ill' as const));
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        const actions: StateAction<GroupState>[] = [{ state: 'Created', instance: '', time: '' }];
        const contexts = new Map<string, ContextState>();
        for (const next of moves) {
          const open = [...contexts].filter(([, state]) => !isEnded(state));
          expect(open.length).toBeLessThanOrEqual(1);
          if (next === 'well' || next === 'ill') {
            for (const [id, state] of open) {
              if (state === 'PreTerminate') contexts.set(id, changeContext(state, 'Terminating'));
              else if (state === 'Instantiating')
                contexts.set(id, changeContext(state, stateAfter('apply', next === 'well')));
              else if (state === 'Terminating')
                contexts.set(id, changeContext(state, stateAfter('delete', next === 'well')));
            }
            continue;
          }
          const state = currentState(actions) as GroupState;
          const instance = currentInstance(actions);
          const context = instance === null ? null : (contexts.get(instance) ?? null);
          const step = () => stepOfGroup(next, { state, context, isBusy: open.length > 0 });
          if (refusalOf(step) !== null) continue;
          const done = step();
          if (done === 'nothing') continue;
          if (done === 'delete') {
            expect(open).toEqual([]);
            return;
          }
          const id =
            done.instance === 'new' ? String(contexts.size + 1) : done.instance === 'same' ? (instance ?? '') : '';
          if (done.instance === 'new') contexts.set(id, 'Instantiating');
          if (done.instance === 'same') expect(id).not.toBe('');
          if (next === 'terminate') contexts.set(id, stateOfTerminate(contexts.get(id) as ContextState));
          actions.push({ state: done.state, instance: id, time: '' });
        }
        expect(instancesOf(actions)).toEqual([...contexts.keys()]);
        expect(latestInstance(actions)).toBe([...contexts.keys()].at(-1) ?? null);
      }),
    );
  });
});

describe('network intents of a cluster', () => {
  const NETWORK_CALLS: readonly NetworkCall[] = ['apply', 'terminate', 'stop', 'delete'];
  const TABLE: [NetworkState, ContextState | null, string, string, string, string][] = [
    ['Created', null, 'Applied*', '409', '409', 'gone'],
    ['Applied', 'Instantiating', '-', 'Terminated=', 'InstantiateStopped=', '409'],
    ['Applied', 'Instantiated', '-', 'Terminated=', '409', '409'],
    ['InstantiateStopped', 'InstantiateFailed', '-', 'Terminated=', '409', '409'],
    ['Terminated', 'PreTerminate', 'context_busy', '-', 'TerminateStopped=', 'context_busy'],
    ['Terminated', 'Terminating', 'context_busy', '-', 'TerminateStopped=', 'context_busy'],
    ['Terminated', 'Terminated', 'Applied*', '-', '409', 'gone'],
    ['TerminateStopped', 'Terminating', 'context_busy', '-', '409', 'context_busy'],
    ['TerminateStopped', 'TerminateFailed', 'Applied*', '-', '409', 'gone'],
  ];

  test.each(TABLE)('%s with the AppContext %s', (state, context, ...expected) => {
    const isBusy = context !== null && !isEnded(context);
    expect(NETWORK_CALLS.map((call) => answer(() => stepOfNetworks(call, { state, context, isBusy })))).toEqual(
      expected,
    );
  });

  test('change in few states', () => {
    const allowed = (change: 'create' | 'delete') =>
      NETWORK_STATES.filter(
        (state) => refusalOf(() => checkNetworkChange(change, { state, context: null, isBusy: false })) === null,
      );
    expect(allowed('create')).toEqual(['Created', 'Terminated']);
    expect(allowed('delete')).toEqual(['Created', 'Terminated', 'TerminateStopped']);
    const busy = { state: 'Terminated', context: 'Terminating', isBusy: true } as const;
    expect(refusalOf(() => checkNetworkChange('create', busy))?.code).toBe('context_busy');
  });
});

describe('a logical cloud', () => {
  const allowed = (call: CloudCall) =>
    [null, ...CONTEXT_STATES].filter((context) => refusalOf(() => checkCloudCall(call, context)) === null);

  test('takes each call in the states of its AppContext that the table names', () => {
    expect(allowed('instantiate')).toEqual([null, 'Terminated']);
    expect(allowed('terminate')).toEqual(['Instantiated', 'InstantiateFailed', 'TerminateFailed']);
    expect(allowed('delete')).toEqual([null, 'Terminated', 'TerminateFailed']);
    expect(allowed('stop')).toEqual(['Instantiating', 'PreTerminate', 'Terminating']);
  });

  test('says why it is not ready', () => {
    const said = (context: ContextState | null) => refusalOf(() => checkCloudReady('default', context))?.detail;
    expect(said('Instantiated')).toBeUndefined();
    expect(said(null)).toBe("Logical cloud 'default' was never instantiated");
    expect(said('Terminating')).toBe("Logical cloud 'default' is terminating");
    expect(new Set([null, ...CONTEXT_STATES].map(said)).size).toBeGreaterThan(5);
  });
});

describe('an AppContext', () => {
  test('changes as the table says and in no other way', () => {
    const changes = CONTEXT_STATES.flatMap((from) =>
      CONTEXT_STATES.filter((to) => isContextChange(from, to)).map((to) => `${from} > ${to}`),
    );
    expect(changes).toEqual([
      'Instantiating > Instantiated',
      'Instantiating > InstantiateFailed',
      'Instantiating > PreTerminate',
      'Instantiated > Terminating',
      'InstantiateFailed > Terminating',
      'PreTerminate > Terminating',
      'Terminating > Terminated',
      'Terminating > TerminateFailed',
      'TerminateFailed > Terminating',
    ]);
    expect(() => changeContext('Terminated', 'Instantiating')).toThrow('does not go');
  });

  test('reads an empty history', () => {
    expect([currentState([]), currentInstance([]), latestInstance([]), instancesOf([])]).toEqual([
      'Undefined',
      null,
      null,
      [],
    ]);
    expect(GROUP_STATES).toHaveLength(6);
  });
});
