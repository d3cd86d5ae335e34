import { describe, expect, test } from '@jest/globals';
import { objectPath } from '../../../domain/deployments/object-path.ts';
import { groupNames, nameInPath, projectOf, recordPath } from '../../../domain/deployments/record-path.ts';
import { GroupSettingsSchema } from '../../../domain/deployments/record-schema.ts';
import { ruleOf } from '../../../domain/deployments/retry-rule.ts';

describe('the path of a record', () => {
  const group = recordPath('projects/acme/composite-apps/telemetry/v1', 'group', 'edge');
  test('holds the keys of its parents', () => {
    expect(recordPath(null, 'project', 'acme')).toBe('projects/acme');
    expect(group).toBe('projects/acme/composite-apps/telemetry/v1/deployment-intent-groups/edge');
    expect([nameInPath(group), projectOf(group)]).toEqual(['edge', 'projects/acme']);
    expect(groupNames(group)).toEqual({ project: 'acme', app: 'telemetry', version: 'v1', name: 'edge' });
  });
});

describe('the path of an object', () => {
  const of = (group: string, namespace: string, name: string, isNamespaced = true) =>
    objectPath({ group, version: 'v1', kind: 'X', namespace, name }, { plural: 'xs', isNamespaced }, 'obs');
  test.each([
    [of('', '', 'cfg'), '/api/v1/namespaces/obs/xs/cfg'],
    [of('apps', 'own', 'cfg'), '/apis/apps/v1/namespaces/own/xs/cfg'],
    [of('', 'own', 'ns', false), '/api/v1/xs/ns'],
    [of('', '', 'a:b?c#d'), '/api/v1/namespaces/obs/xs/a%3Ab%3Fc%23d'],
  ])('is %s', (path, expected) => expect(path).toBe(expected));
});

describe('the rule of retries', () => {
  const installation = { firstSeconds: 2, backoff: 1.5, maxSeconds: 60, maxRetries: 7 };
  test.each([
    [{}, installation],
    [{ maxRetries: -1 }, { ...installation, maxRetries: null }],
    [{ maxRetries: 0 }, { ...installation, maxRetries: 0 }],
    [
      { retrySeconds: 90, retryBackoff: 1 },
      { firstSeconds: 90, backoff: 1, maxSeconds: 90, maxRetries: 7 },
    ],
  ])('of settings %j', (settings, expected) => expect(ruleOf(settings, installation)).toEqual(expected));

  test.each([{ retrySeconds: 0.01 }, { retryBackoff: 11 }, { maxRetries: 1.5 }, { other: 1 }])(
    'takes no settings %j',
    (settings) => expect(GroupSettingsSchema.safeParse(settings).success).toBe(false),
  );
});
