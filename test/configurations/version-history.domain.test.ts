/** Versions of a configuration, walked back by changes as the audit has them. */
import { describe, expect, test } from '@jest/globals';
import {
  type Content,
  contentAfter,
  contentBefore,
  notKept,
  type RecordedChange,
  versionAction,
} from '../../domain/configurations/version-history.ts';
import { seededRandom } from '../support/seeded-random.ts';

type Members = Record<string, unknown>;

/** What the audit records of a step from one content to the next: of an update, the members that differ. */
function changeOf(before: Content, after: Content, id: string): RecordedChange {
  const difference = (one: Members, other: Members) =>
    Object.fromEntries(
      Object.entries(one).filter(([name, value]) => JSON.stringify(other[name]) !== JSON.stringify(value)),
    );
  if (before === null || after === null) return { id, before, after };
  return { id, before: difference(before, after), after: difference(after, before) };
}

/** Walks back. Returns the contents after each change, the newest first, and the one before the oldest change. */
function walked(now: Content, changes: readonly RecordedChange[]): Content[] {
  let content = now;
  const found: Content[] = [];
  for (const change of changes) {
    content = contentAfter(change, content);
    found.push(content);
    content = contentBefore(change, content);
  }
  return [...found, content];
}

describe('walking back', () => {
  test('finds each version, whatever was made, changed and deleted in between', () => {
    const random = seededRandom();
    const pick = (most: number) => Math.floor(random.next() * most);
    const content = (): Content => {
      if (pick(5) === 0) return null;
      const members = ['description', 'layers', 'muster'].filter(() => pick(3) > 0);
      return Object.fromEntries(members.map((member) => [member, pick(3)]));
    };
    for (let round = 0; round < 300; round++) {
      const all = Array.from({ length: 2 + pick(8) }, content);
      // A write that changes nothing leaves no record, and nothing is deleted twice.
      const history = all.filter((one, index) => index === 0 || JSON.stringify(one) !== JSON.stringify(all[index - 1]));
      const changes = history
        .slice(1)
        .map((after, index) => changeOf(history[index] ?? null, after, String(index)))
        .reverse();
      const expected = [...history].reverse();
      expect({ seed: random.seed, round, found: walked(history.at(-1) ?? null, changes) }).toEqual({
        seed: random.seed,
        round,
        found: expected,
      });
    }
  });

  test('takes what it knows from later where the audit has cut a value, and says what is not kept', () => {
    const cut = { cut: '[{"clone_url"', length: 90_000, sha256: 'ab' };
    const changes: RecordedChange[] = [
      { id: '3', before: { description: 'two' }, after: { description: 'three' } },
      { id: '2', before: { layers: cut }, after: { layers: cut } },
    ];
    const [third, second, first] = walked({ description: 'three', layers: ['all'] }, changes);
    expect(third).toEqual({ description: 'three', layers: ['all'] });
    expect(second).toEqual({ description: 'two', layers: ['all'] });
    expect(first).toEqual({ description: 'two', layers: cut });
    expect([third, second, first].map((content) => notKept(content ?? null))).toEqual([[], [], ['layers']]);
  });

  test.each([
    [null, {}, 'create'],
    [{}, {}, 'update'],
    [{}, null, 'delete'],
  ] as const)('from %j to %j is %s', (before, after, action) => {
    expect(versionAction({ before, after })).toBe(action);
  });

  test.each([
    [{ layers: [] }, []],
    [{ layers: { cut: 'x', length: 1 } }, []],
    [{ layers: { cut: 'x', length: 1, sha256: 'a', more: 1 } }, []],
    [null, []],
  ])('of %j everything is kept', (content, members) => expect(notKept(content)).toEqual(members));
});
