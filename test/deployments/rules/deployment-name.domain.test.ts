import { describe, expect, test } from '@jest/globals';
import { deploymentName, placeOfDeployment, shortPlace } from '../../../domain/deployments/deployment-name.ts';
import { candidatesFor } from '../../../domain/deployments/placement.ts';
import { contentOf, placementOf, ShortDeploymentSchema, settingsOf } from '../../../domain/deployments/short-schema.ts';

describe('the name of a deployment', () => {
  test.each([
    ['telemetry', 'projects/default/composite-apps/telemetry/v1/deployment-intent-groups/telemetry'],
    ['p+a+v2+g', 'projects/p/composite-apps/a/v2/deployment-intent-groups/g'],
    ['default+a+v2+a', 'projects/default/composite-apps/a/v2/deployment-intent-groups/a'],
    ['default+a+v1+b', 'projects/default/composite-apps/a/v1/deployment-intent-groups/b'],
  ])('%s leads to %s and back', (name, path) => {
    expect(placeOfDeployment(name)?.path).toBe(path);
    expect(deploymentName(path)).toBe(name);
  });

  test('that is long is that of its path', () => {
    const long = 'a'.repeat(64);
    expect(placeOfDeployment(long)).toBeNull();
    const whole = `default+${long}+v1+${long}`;
    expect(deploymentName(placeOfDeployment(whole)?.path ?? '')).toBe(whole);
    expect(deploymentName(placeOfDeployment('default+a+v1+a')?.path ?? '')).toBe('a');
  });

  test.each(['', '-x', 'a b', 'a/b', 'p+a', 'p+a+v1', 'p+a+v1+', 'p+a+v1+g+more', 'p+a+v1+..'])(
    '%p is none',
    (name) => {
      expect(placeOfDeployment(name)).toBeNull();
    },
  );

  test('has a logical cloud of its own', () => {
    expect(shortPlace('a').cloud).toBe('projects/default/logical-clouds/d-a');
  });
});

describe('a document', () => {
  const placement = { all_of: [{ provider: 'lab', label: 'edge' }, { any_of: [{ provider: 'lab', cluster: 'b' }] }] };
  const document = { name: 'a', apps: [{ name: 'x', manifests: 'a: 1', placement }], muster: { max_retries: 3 } };

  test('places apps as intents do, and has settings as groups have them', () => {
    expect(placementOf(placement)).toEqual({
      allOf: [
        { 'provider-name': 'lab', 'cluster-label-name': 'edge' },
        { anyOf: [{ 'provider-name': 'lab', 'cluster-name': 'b' }] },
      ],
    });
    const all = { max_retries: 1, retry_seconds: 2, retry_backoff: 3, unknown_fields: 'drop', force_conflicts: false };
    expect(settingsOf(all as Parameters<typeof settingsOf>[0])).toEqual({
      ...{ maxRetries: 1, retrySeconds: 2, retryBackoff: 3, unknownFields: 'drop', forceConflicts: false },
    });
    expect(settingsOf({})).toEqual({});
  });

  test('says the same whatever the order of its members, and whatever is to be done at once', () => {
    const read = (given: object) => contentOf(ShortDeploymentSchema.parse(given));
    const { name, apps, muster } = document;
    expect(read({ muster, apps, name, instantiate: false })).toBe(read(document));
    expect(read({ ...document, namespace: 'obs' })).not.toBe(read(document));
  });

  test('could go to every cluster that an element names or labels', () => {
    const known = ['a', 'b', 'c'].map((cluster) => ({
      ...{ provider: 'lab', cluster, labels: cluster === 'c' ? ['edge'] : [] },
    }));
    const found = candidatesFor('x', placementOf(placement), known);
    expect(found.map(({ cluster }) => cluster).sort()).toEqual(['b', 'c']);
    expect(() => candidatesFor('x', placementOf({ any_of: [{ provider: 'lab', cluster: 'z' }] }), known)).toThrow();
  });
});
