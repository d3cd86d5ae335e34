import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  APP_OF_LABEL_MAX,
  checkLabelLength,
  clusterName,
  labelValue,
  parseClusterName,
  parseLabelValue,
} from '../../../domain/deployments/naming.ts';
import {
  candidatesFor,
  checkCloudHas,
  type KnownCluster,
  type Placement,
  placeApp,
} from '../../../domain/deployments/placement.ts';
import { refusalOf } from './refusal.ts';

const known: KnownCluster[] = [
  { provider: 'lab', cluster: 'south', labels: ['edge', 'arm'] },
  { provider: 'lab', cluster: 'north', labels: ['edge'] },
  { provider: 'lab', cluster: 'west', labels: [] },
  { provider: 'site', cluster: 'north', labels: ['edge'] },
];
const byName = (cluster: string, provider = 'lab') => ({ 'provider-name': provider, 'cluster-name': cluster });
const byLabel = (label: string, provider = 'lab') => ({ 'provider-name': provider, 'cluster-label-name': label });
const placed = (placement: Placement) => placeApp('store', placement, known).map(clusterName);

describe('placement', () => {
  test.each<[string, Placement, string[]]>([
    ['by name', { allOf: [byName('west')] }, ['lab+west']],
    ['by label', { allOf: [byLabel('edge')] }, ['lab+north', 'lab+south']],
    ['of each provider its own', { allOf: [byLabel('edge', 'site')] }, ['site+north']],
    ['twice counts once', { allOf: [byName('north'), byLabel('edge')] }, ['lab+north', 'lab+south']],
    ['any of several', { anyOf: [byName('south'), byName('north')] }, ['lab+north']],
    ['any of several labels and names', { anyOf: [byLabel('arm'), byName('west')] }, ['lab+south']],
    [
      'each inner element is a group',
      { allOf: [{ anyOf: [byLabel('edge'), byName('west')] }] },
      ['lab+north', 'lab+west'],
    ],
    [
      'inner groups beside their element',
      { allOf: [{ ...byName('west'), anyOf: [byLabel('arm')] }] },
      ['lab+south', 'lab+west'],
    ],
    ['all and any', { allOf: [byName('west')], anyOf: [byLabel('edge')] }, ['lab+north', 'lab+west']],
    [
      'name and label select nothing',
      { allOf: [{ ...byName('west'), ...byLabel('edge') }, byName('north')] },
      ['lab+north'],
    ],
    ['neither selects nothing', { allOf: [{ 'provider-name': 'lab' }, byName('north')] }, ['lab+north']],
  ])('%s', (_title, placement, expected) => {
    expect(placed(placement)).toEqual(expected);
  });

  test.each<[Placement, string]>([
    [{}, 'no_clusters'],
    [{ allOf: [byLabel('nowhere')] }, 'no_clusters'],
    [{ allOf: [{ 'provider-name': 'lab' }] }, 'no_clusters'],
    [{ allOf: [byName('east')] }, 'no_such_cluster'],
    [{ anyOf: [byName('north'), byName('east')] }, 'no_such_cluster'],
    [{ allOf: [byName('south', 'site')] }, 'no_such_cluster'],
  ])('%j is refused as %s', (placement, code) => {
    const refused = refusalOf(() => placed(placement));
    expect(refused?.code).toBe(code);
    expect(refused?.detail).toContain("'store'");
  });

  test.each<[string, Placement]>([
    ['of all', { allOf: Array(1_000).fill(byLabel('edge')) }],
    ['of inner groups', { allOf: [{ anyOf: Array(1_000).fill(byLabel('edge')) }] }],
    ['of any', { anyOf: Array(1_000).fill(byLabel('edge')) }],
  ])('looks at each cluster a few times, however often an intent has the same element: %s', (_title, placement) => {
    let looks = 0;
    const watched = Array.from({ length: 50 }, (_, number) => ({
      ...{ provider: 'lab', cluster: `c${String(number).padStart(2, '0')}` },
      get labels() {
        looks += 1;
        return ['edge'];
      },
    }));
    const isOne = placement.allOf?.[0]?.anyOf !== undefined || placement.anyOf !== undefined;
    expect(placeApp('store', placement, watched).map(clusterName)).toHaveLength(isOne ? 1 : 50);
    expect(candidatesFor('store', placement, watched)).toHaveLength(50);
    expect(looks).toBeLessThan(500);
  });

  test('knows a cloud’s clusters by provider and name', () => {
    const cloud = [{ provider: 'lab', cluster: 'north' }];
    expect(refusalOf(() => checkCloudHas('default', cloud, cloud))).toBeNull();
    const other = refusalOf(() => checkCloudHas('default', cloud, [{ provider: 'lab', cluster: 'south' }]));
    expect(other).toMatchObject({
      code: 'logical_cloud_lacks_clusters',
      detail: expect.stringContaining("'lab+south'"),
    });
  });

  test('does not depend on the order of clusters, and chooses each once', () => {
    const element = fc.oneof(
      fc.constantFrom('edge', 'arm').map((label) => byLabel(label)),
      fc.constantFrom('north', 'south', 'west').map((name) => byName(name)),
    );
    fc.assert(
      fc.property(
        fc.array(element),
        fc.array(element),
        fc.shuffledSubarray(known, { minLength: known.length }),
        (allOf, anyOf, shuffled) => {
          const choose = (clusters: KnownCluster[]) => placeApp('a', { allOf, anyOf }, clusters).map(clusterName);
          if (allOf.length + anyOf.length === 0) return;
          const chosen = choose(known);
          expect(choose(shuffled)).toEqual(chosen);
          expect(new Set(chosen).size).toBe(chosen.length);
          expect(chosen.toSorted()).toEqual(chosen);
        },
      ),
    );
  });
});

/** A name as long as a record may have it. */
const LONGEST = 'n'.repeat(128);

describe('names', () => {
  test.each([
    ['lab+north', { provider: 'lab', cluster: 'north' }],
    ['north', null],
    ['lab+', null],
    ['+north', null],
    ['lab+north+1', null],
    ['lab north', null],
    ['-lab+north', null],
    [`${LONGEST}+${LONGEST}`, { provider: LONGEST, cluster: LONGEST }],
    [`lab+${LONGEST}n`, null],
  ])('of a cluster: %j', (text, expected) => {
    expect(parseClusterName(text)).toEqual(expected);
  });

  test.each([
    ['12-agent', { context: '12', app: 'agent' }],
    ['12-a-b', { context: '12', app: 'a-b' }],
    ['-agent', null],
    ['123-', null],
    ['123', null],
    ['', null],
  ])('of a label: %j', (text, expected) => {
    expect(parseLabelValue(text)).toEqual(expected);
  });

  test('of an app fit into the label with any id, and longer ones are refused', () => {
    expect(labelValue('9223372036854775806', 'a'.repeat(APP_OF_LABEL_MAX))).toHaveLength(63);
    expect(refusalOf(() => checkLabelLength(['a'.repeat(43)]))).toBeNull();
    expect(refusalOf(() => checkLabelLength(['agent', 'a'.repeat(44)]))).toMatchObject({ code: 'label_too_long' });
  });
});
