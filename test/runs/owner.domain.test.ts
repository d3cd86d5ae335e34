import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fateOfRun, ownerIdOfRun, ownerOf, ownersByName, runIdOfOwner } from '../../domain/runs/owner.ts';
import { runIdOf, sessionOfRun } from '../../domain/sessions/run-id.ts';

const SESSION = '0b5a1f6e-1111-4222-8333-444455556666';
const session = {
  kind: 'session',
  ownerOfRun: (runId: string) => (/^[0-9a-f-]{36}$/.test(sessionOfRun(runId)) ? sessionOfRun(runId) : null),
};
const toy = { kind: 'toy', ownerOfRun: (runId: string) => ownerIdOfRun('toy', runId) };

describe('the owner of a run', () => {
  test.each([
    [
      { sessionId: SESSION, ownerKind: null, ownerId: null },
      { kind: 'session', id: SESSION },
    ],
    [
      { sessionId: null, ownerKind: 'toy', ownerId: '7' },
      { kind: 'toy', id: '7' },
    ],
    [{ sessionId: null, ownerKind: null, ownerId: null }, null],
    [{ sessionId: null, ownerKind: 'toy', ownerId: null }, null],
    // An older release knows the session alone.
    [
      { sessionId: SESSION, ownerKind: 'toy', ownerId: '7' },
      { kind: 'session', id: SESSION },
    ],
  ])('%j', (row, owner) => expect(ownerOf(row)).toEqual(owner));

  test('is read out of the id that it makes', () => {
    const id = fc.stringMatching(/^[a-z0-9]{1,20}(-[a-z0-9]{1,10}){0,3}$/);
    fc.assert(
      fc.property(id, fc.nat(), (owner, n) => {
        expect(ownerIdOfRun('toy', runIdOfOwner({ kind: 'toy', id: owner }, n))).toBe(owner);
        expect(ownerIdOfRun('other', runIdOfOwner({ kind: 'toy', id: owner }, n))).toBeNull();
      }),
    );
    expect(ownersByName(runIdOf(SESSION, 3, 0), [session, toy])).toEqual([{ kind: 'session', id: SESSION }]);
    expect(ownersByName('toy-7-1', [session, toy])).toEqual([{ kind: 'toy', id: '7' }]);
    expect(ownersByName('stray', [session, toy])).toEqual([]);
  });

  test.each([['../x'], ['a b'], ['A'], [''], ['x'.repeat(100)]])('makes no run id of %j', (id) =>
    expect(() => runIdOfOwner({ kind: 'toy', id }, 1)).toThrow('is no id of a run'),
  );
});

describe('what becomes of a run that a clean-up finds', () => {
  const open = new Set(['toy 7', `session ${SESSION}`]);
  const isOpen = ({ kind, id }: { kind: string; id: string }) => open.has(`${kind} ${id}`);
  test.each([
    ['of an open owner', 'toy-7-1', { owner: { kind: 'toy', id: '7' } }, 'leave'],
    ['of an owner that is over or gone', 'toy-8-1', { owner: { kind: 'toy', id: '8' } }, 'end'],
    ['of a kind that nothing here offers', 'other-8-1', { owner: { kind: 'other', id: '8' } }, 'unknown_kind'],
    ['of nothing', 'bench', { owner: null }, 'leave'],
    ['without a row, of an open owner', 'toy-7-2', null, 'leave'],
    ['without a row, of an open session', runIdOf(SESSION, 1, 0), null, 'leave'],
    ['without a row, of an owner that is over', 'toy-8-2', null, 'remove'],
    ['without a row, of a kind that nothing here offers', 'other-7-1', null, 'remove'],
    ['without a row or a name', 'stray', null, 'remove'],
  ])('%s', (_, runId, recorded, fate) => expect(fateOfRun(runId, recorded, [session, toy], isOpen)).toBe(fate));
});
