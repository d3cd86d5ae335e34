import { describe, expect, test } from '@jest/globals';
import { readPrecondition, requireVersion, tagOf } from '../../domain/configurations/version-tag.ts';

const at = new Date('2026-11-21T10:00:00.000Z');
const stored = { revision: 7, updatedAt: at, actor: 'token/ops' };
const tag = tagOf(stored);

test('a tag is strong, and differs with the revision and with the time', () => {
  expect(tag).toMatch(/^"7-[0-9a-z]+"$/);
  expect(tagOf({ ...stored, revision: 8 })).not.toBe(tag);
  expect(tagOf({ ...stored, updatedAt: new Date(at.getTime() + 1) })).not.toBe(tag);
});

describe('If-Match', () => {
  test.each([
    [undefined, null],
    ['*', { exists: true }],
    [' * ', { exists: true }],
    ['"a"', { tags: ['"a"'] }],
    ['"a", W/"b" ,"c"', { tags: ['"a"', 'W/"b"', '"c"'] }],
    ['""', { tags: ['""'] }],
  ])('%s', (header, precondition) => {
    expect(readPrecondition({ ifMatch: header })).toEqual(precondition);
  });

  test.each(['', '7', 'a"', '"a" "b"', '"a",', 'w/"a"', '*, "a"'])('%s is refused', (header) => {
    expect(() => readPrecondition({ ifMatch: header })).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });
});

describe('If-None-Match', () => {
  test('* demands that there is none', () => {
    const absent = readPrecondition({ ifNoneMatch: ' * ' });
    expect(absent).toEqual({ exists: false });
    expect(() => requireVersion('web', undefined, absent)).not.toThrow();
    expect(() => requireVersion('web', stored, absent)).toThrow(
      expect.objectContaining({
        code: 'changed_since',
        detail:
          'There is a configuration web already, written by token/ops at 2026-11-21T10:00:00.000Z; you demand that there is none',
      }),
    );
  });

  test.each([
    { ifNoneMatch: '' },
    { ifNoneMatch: tag },
    { ifNoneMatch: '*, "a"' },
    { ifNoneMatch: '*', ifMatch: '*' },
    { ifNoneMatch: '*', ifMatch: tag },
  ])('%j is refused', (headers) => {
    expect(() => readPrecondition(headers)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });
});

describe('a version', () => {
  const check = (header: string | undefined, version: typeof stored | undefined = stored) =>
    requireVersion('web', version, readPrecondition({ ifMatch: header }));
  test.each([undefined, '*', tag, `"other", ${tag}`])('%s is met', (header) => {
    expect(() => check(header)).not.toThrow();
  });

  test('that is another is refused with both', () => {
    expect(() => check('"6-x"')).toThrow(
      expect.objectContaining({
        code: 'changed_since',
        detail: `Configuration web has changed since: your version is "6-x", the stored one is ${tag}, written by token/ops at 2026-11-21T10:00:00.000Z`,
      }),
    );
  });

  test('is compared strongly', () => {
    expect(() => check(`W/${tag}`)).toThrow(expect.objectContaining({ code: 'changed_since' }));
  });

  test.each(['*', tag])('that is gone does not meet %s', (header) => {
    expect(() => requireVersion('web', undefined, readPrecondition({ ifMatch: header }))).toThrow(
      expect.objectContaining({ code: 'changed_since' }),
    );
    expect(() => requireVersion('web', undefined, null)).not.toThrow();
  });
});
