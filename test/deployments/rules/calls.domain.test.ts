import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ClusterAnswer, hasEnded } from '../../../domain/deployments/answer-class.ts';
import { isComing, isDefinedHere, isDefinition } from '../../../domain/deployments/new-kinds.ts';
import { clusterWorkflowId, contextWorkflowId } from '../../../domain/deployments/workflow-id.ts';

const MOST = 255;

describe('the id of the work on a cluster', () => {
  test('is its name, as long as there is room', () => {
    expect(clusterWorkflowId('77', 'apply', 'lab+north')).toBe('appcontext/77/apply/lab+north');
    const just = 'a'.repeat(MOST - 'appcontext/77/apply/'.length);
    expect(clusterWorkflowId('77', 'apply', just)).toBe(`appcontext/77/apply/${just}`);
  });

  test('is never too long, begins with that of the AppContext, and differs for names that differ in their end', () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9]{1,128}\+[a-zA-Z0-9]{1,128}$/);
    fc.assert(
      fc.property(name, name, fc.constantFrom('apply' as const, 'delete' as const), (one, other, phase) => {
        const [id, second] = [one, other].map((cluster) => clusterWorkflowId('9223372036854775806', phase, cluster));
        expect(id?.length).toBeLessThanOrEqual(MOST);
        expect(id?.startsWith(`${contextWorkflowId('9223372036854775806')}/${phase}/`)).toBe(true);
        expect(id === second).toBe(one === other);
      }),
    );
    const long = `${'p'.repeat(128)}+${'c'.repeat(127)}`;
    const [one, other] = ['1', '2'].map((end) => clusterWorkflowId('9223372036854775806', 'delete', long + end));
    expect(one).toHaveLength(MOST);
    expect(one).not.toBe(other);
  });
});

describe('a call', () => {
  const answer = (httpStatus: number): ClusterAnswer => ({ httpStatus, retryAfter: null, body: { kind: 'object' } });

  test.each([
    ['accepted', answer(200), true],
    ['refused', answer(422), true],
    ['put off', answer(429), true],
    ['answered by a server with a fault', answer(500), true],
    ['answered by a server that is not ready', answer(503), true],
    ['answered by what stands in front of the server', answer(502), false],
    ['answered because its time is over', answer(504), false],
    ['without an answer', { noAnswer: 'connection', message: 'socket hang up' } as const, false],
  ])('that is %s has ended or may still be carried out', (_what, given, expected) => {
    expect(hasEnded(given)).toBe(expected);
  });
});

describe('a kind that is not served', () => {
  const at = new Date('2031-03-04T08:00:00Z');
  const after = (ms: number) => new Date(at.getTime() + ms);

  test.each([
    ['whose definition was applied a moment ago', 'example.com', 29_999, true],
    ['whose definition is old', 'example.com', 30_000, false],
    ['of another group', 'other.com', 0, false],
    ['of a group above that of the definition', 'com', 0, false],
    ['of the core', '', 0, false],
  ])('%s may still come or not', (_what, group, ms, expected) => {
    const definitions = [{ name: 'things.example.com', at }];
    expect(isComing(definitions, group, after(ms))).toBe(expected);
    expect(isDefinedHere(definitions, group)).toBe(group === 'example.com');
  });

  test('has no definition', () => {
    expect(isComing([], 'example.com', at)).toBe(false);
    expect(isDefinedHere([], 'example.com')).toBe(false);
    expect(isDefinition({ group: 'example.com', kind: 'CustomResourceDefinition' })).toBe(false);
    expect(isDefinition({ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' })).toBe(true);
  });
});
