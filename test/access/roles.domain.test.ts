import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bearerOf, looksLikeJwt } from '../../domain/access/bearer.ts';
import { callerOfClaims, roleOfClaims } from '../../domain/access/claims.ts';
import { type Caller, membersDeniedToNode, ROLES, type RouteAccess, refusal } from '../../domain/access/roles.ts';

const caller = (role: Caller['role']): Caller => ({ actor: 'a', role, component: role === 'node' ? 'x1' : null });

describe('roles', () => {
  test.each<[RouteAccess, string | undefined, string]>([
    [{ least: 'public' }, undefined, 'admin operator reader node'],
    [{ least: 'reader' }, undefined, 'admin operator reader'],
    [{ least: 'operator' }, undefined, 'admin operator'],
    [{ least: 'admin' }, undefined, 'admin'],
    [{ least: 'reader', ownComponent: true }, 'x1', 'admin operator reader node'],
    [{ least: 'operator', ownComponent: true }, 'x1', 'admin operator node'],
    [{ least: 'operator', ownComponent: true }, 'x2', 'admin operator'],
    [{ least: 'operator', ownComponent: true }, undefined, 'admin operator'],
    [{ least: 'reader' }, 'x1', 'admin operator reader'],
  ])('%j of %s is for %s', (access, component, who) => {
    const allowed = ROLES.filter((role) => refusal(access, caller(role), component) === null);
    expect(allowed.join(' ')).toBe(who);
  });

  test('a node without component has none', () => {
    const nobody: Caller = { actor: 'a', role: 'node', component: null };
    expect(refusal({ least: 'operator', ownComponent: true }, nobody, undefined)).not.toBeNull();
  });
});

test.each([
  [{ state: [], enabled: true }, []],
  [{ state_append: {}, error_count: 0 }, []],
  [{ stateAppend: {}, errorCount: 0 }, []],
  [{ desired_config: '', state: [] }, ['desired_config']],
  [{ tags: {}, retry_policy: 1, desiredConfig: '' }, ['tags', 'retry_policy', 'desiredConfig']],
  [{ state: [], muster: { boot: 'b' } }, []],
  [{ muster: { boot: 'b', rollout: {} } }, ['muster.rollout']],
  [{ muster: 1 }, []],
  [JSON.parse('{"__proto__": 1}'), ['__proto__']],
  [[{ tags: {} }], []],
  [null, []],
  ['text', []],
])('of %j a node may not write %j', (body, denied) => expect(membersDeniedToNode(body)).toEqual(denied));

describe('the Authorization header', () => {
  test.each([
    [undefined, 'none'],
    ['', 'none'],
    ['  ', 'none'],
    ['Bearer abc', 'bearer'],
    ['bearer abc', 'bearer'],
    ['Bearer\tabc', 'bearer'],
    ['Bearer', 'unusable'],
    ['Basic abc', 'unusable'],
    ['Bearer a b', 'unusable'],
    ['Bearer a,b', 'unusable'],
    ['Bearerabc', 'unusable'],
  ])('%j is %s', (header, kind) => expect(bearerOf(header).kind).toBe(kind));
  test('whatever it is, it never fails, and what is wrong is said without it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), (text) => {
        const credential = bearerOf(`Bearer ${text}`);
        if (credential.kind === 'unusable') expect(credential.reason).not.toContain(text);
      }),
    );
  });
  test.each([
    ['a.b.c', true],
    ['a.b.', true],
    ['a.b', false],
    ['a.b.c.d.e', false],
    ['.b.c', false],
    ['a b.c.d', false],
  ])('%s has the form of a signed token: %s', (token, expected) => expect(looksLikeJwt(token)).toBe(expected));
});

describe('claims', () => {
  const rules = { rolesClaim: 'a.b', roleMap: undefined, componentClaim: 'node.id' };
  test.each([
    [{ a: { b: ['reader', 'admin'] } }, 'admin'],
    [{ a: { b: 'operator reader' } }, 'operator'],
    [{ a: { b: ['node', 'reader'] } }, 'reader'],
    [{ a: { b: ['node'] } }, 'node'],
    [{ 'a.b': ['operator'], a: { b: ['admin'] } }, 'operator'],
    [{ a: { b: [] } }, null],
    [{ a: { b: [1, null, {}] } }, null],
    [{ a: null }, null],
    [{ a: 'b' }, null],
    [{}, null],
  ])('%j gives %s', (claims, role) => expect(roleOfClaims(claims, rules)).toBe(role));
  test('any claims are borne', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (claims, rolesClaim) => {
        callerOfClaims(claims as Record<string, unknown>, { ...rules, rolesClaim });
      }),
    );
  });
  test('a node is its component', () => {
    expect(callerOfClaims({ sub: 's', a: { b: 'node' }, node: { id: 'x1' } }, rules)).toEqual({
      actor: 'oidc/s',
      role: 'node',
      component: 'x1',
    });
  });
});
