/** What apps and resources wait for. */
import { describe, expect, test } from '@jest/globals';
import { standingOf, waitsIn } from '../../../domain/deployments/app-standing.ts';
import type { Phase } from '../../../domain/deployments/context-state.ts';
import { allBefore, inDependencyOrder } from '../../../domain/deployments/dependencies.ts';
import { AppSchema } from '../../../domain/deployments/record-schema.ts';
import type { RsyncStatus } from '../../../domain/deployments/resource-status.ts';
import { checkResourceWaits, inWaitOrder, resourceWaits } from '../../../domain/deployments/resource-waits.ts';
import { refusalOf } from './refusal.ts';

const WAITS = { store: ['agent'], view: ['store'] };

describe('an app', () => {
  const standing = (phase: Phase, app: string, statuses: Record<string, RsyncStatus[]>) =>
    standingOf(
      phase,
      app,
      waitsIn(phase, WAITS),
      Object.entries(statuses).flatMap(([name, all]) => all.map((status) => ({ app: name, status }))),
    );

  // The first and the third are vectors 57 and 34.
  test.each<[Phase, string, Record<string, RsyncStatus[]>, object]>([
    ['apply', 'store', { agent: ['Applied', 'Retrying'] }, { is: 'waiting', message: 'waits for app agent' }],
    ['apply', 'store', { agent: ['Applied'] }, { is: 'ready' }],
    ['apply', 'store', { agent: ['Applied', 'Failed', 'Pending'] }, { is: 'failed', message: 'app agent failed' }],
    ['apply', 'agent', { agent: ['Pending'], store: ['Failed'] }, { is: 'ready' }],
    ['apply', 'view', { agent: ['Failed'], store: ['Pending'] }, { is: 'failed', message: 'app agent failed' }],
    [
      'apply',
      'view',
      { agent: ['Pending'], store: ['Pending'] },
      { is: 'waiting', message: 'waits for apps store, agent' },
    ],
    ['delete', 'view', { agent: ['Pending'], store: ['Pending'] }, { is: 'ready' }],
    ['delete', 'agent', { store: ['Pending'], view: ['Deleted'] }, { is: 'waiting', message: 'waits for app store' }],
    ['delete', 'agent', { store: ['Deleted'], view: ['Deleted'] }, { is: 'ready' }],
    [
      'delete',
      'agent',
      { store: ['Deleted', 'Failed'], view: ['Deleted'] },
      { is: 'failed', message: 'app store failed' },
    ],
  ])('%s of %s where others are %j', (phase, app, statuses, expected) => {
    expect(standing(phase, app, statuses)).toEqual(expected);
  });

  test('that nothing is said of waits for nothing, whatever its name', () => {
    expect(standingOf('apply', 'constructor', waitsIn('apply', {}), [])).toEqual({ is: 'ready' });
    expect(standingOf('delete', 'constructor', waitsIn('delete'), [])).toEqual({ is: 'ready' });
  });

  test.each([
    ['a text', 'agent'],
    ['numbers', [1]],
    ['an empty name', ['']],
    ['names that are none', ['../x']],
    ['too many', Array.from({ length: 201 }, (_, index) => `app${index}`)],
  ])('cannot depend on %s', (_what, dependsOn) => {
    const read = AppSchema.safeParse({ metadata: { name: 'store' }, spec: { dependsOn } });
    expect(read.error?.issues.map(({ path }) => path.slice(0, 2).join('.'))).toContain('spec.dependsOn');
  });
});

describe('all before a name', () => {
  test('are those that it waits for and those that they wait for, each once, also in a circle', () => {
    const waits = new Map(Object.entries({ a: ['b', 'c'], b: ['d'], c: ['d', 'b'], d: ['e'], e: ['a'] }));
    expect(allBefore('a', waits)).toEqual(['b', 'c', 'd', 'e']);
    expect(allBefore('x', waits)).toEqual([]);
  });

  test('are found through layers in which each waits for each of the former', () => {
    const layer = (number: number) => Array.from({ length: 10 }, (_, index) => `l${number}-${index}`);
    const waits = new Map<string, string[]>();
    for (let number = 1; number < 20; number += 1) for (const name of layer(number)) waits.set(name, layer(number - 1));
    expect(allBefore('l19-0', waits)).toHaveLength(190);
  });
});

describe('resources', () => {
  const resource = (key: string, waits?: unknown) => ({
    key,
    manifest: { metadata: { name: key, annotations: waits === undefined ? {} : { 'muster/wait-on': waits } } },
  });
  const order = (...resources: ReturnType<typeof resource>[]) => {
    const { ordered, problem } = inWaitOrder(resources);
    return [ordered.map(({ key }) => key), problem];
  };

  test.each<[string, ReturnType<typeof resource>[], string[], string | null]>([
    ['stay as they are', [resource('a'), resource('b', ' , ')], ['a', 'b'], null],
    [
      'stand behind what they wait for',
      [resource('a', 'c, b'), resource('b'), resource('c', 'b')],
      ['b', 'c', 'a'],
      null,
    ],
    [
      'name a stranger',
      [resource('a', 'x'), resource('b')],
      ['a', 'b'],
      "resource 'a' waits on 'x', which is not there",
    ],
    [
      'are in a circle',
      [resource('a', 'b'), resource('b', 'a')],
      ['a', 'b'],
      'These wait on each other (resource): a -> b -> a',
    ],
    ['wait for no text', [resource('a', 7)], ['a'], "resource 'a' waits on '7', which is not there"],
  ])('%s', (_what, resources, keys, problem) => {
    expect(order(...resources)).toEqual([keys, problem]);
    const refused = refusalOf(() => checkResourceWaits('store', keys, resourceWaits(resources)));
    expect([refused?.code, refused?.detail]).toEqual(
      problem === null
        ? [undefined, undefined]
        : ['dependency_cycle', problem.replace('resource', 'app store: resource')],
    );
  });

  test('of a very large app are put into order, each before the one that is given behind it', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => `r${index}`);
    const waits = new Map(names.slice(0, -1).map((name, index) => [name, [names[index + 1] as string]]));
    expect(inDependencyOrder(names, waits, 'resource')).toEqual(names.toReversed());
    waits.set(names.at(-1) as string, [names[0] as string]);
    expect(refusalOf(() => inDependencyOrder(names, waits, 'resource'))?.detail).toMatch(/ and 49991 more$/);
  });

  test('show as much of a name as a message holds', () => {
    const refused = refusalOf(() => inDependencyOrder(['a'], new Map([['a', ['x'.repeat(100_000)]]]), 'resource'));
    expect(refused?.detail.length).toBeLessThan(400);
  });
});
