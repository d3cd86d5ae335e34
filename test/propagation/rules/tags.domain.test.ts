import { describe, expect, test } from '@jest/globals';
import { matches, parseTags, storedTag } from '../../../domain/propagation/tags.ts';

const TAGS = ['web', 'env=prod', 'zone=eu-west/1', 'empty='];

describe('a tag expression', () => {
  test.each([
    ['web', true],
    ['web=', true],
    ['web=*', true],
    ['env', false],
    ['env=prod', true],
    ['env=*', true],
    ['env=pro', false],
    ['zone=eu-west/1', true],
    ['zone=*', true],
    ['empty', true],
    ['none=*', false],
    ['web&env=prod', true],
    ['web,env=prod', true],
    ['web&env=test', false],
    ['env=test|web', true],
    ['env=test|none&web', false],
    ['web|none&none', true],
    ['none&none|web', true],
    ['(web|none)&none', false],
    ['((web|none),(env=prod))', true],
    ['none|none|none|env=*', true],
  ])('%s of web, env=prod, zone=eu-west/1: %s', (expression, expected) => {
    expect(matches(expression, TAGS)).toBe(expected);
  });

  test('AND binds tighter than OR', () => {
    expect(parseTags('a|b&c|d')).toEqual({
      any: [
        { key: 'a', value: '' },
        {
          all: [
            { key: 'b', value: '' },
            { key: 'c', value: '' },
          ],
        },
        { key: 'd', value: '' },
      ],
    });
  });

  test('of a list is the OR of its members, and of an empty list matches nothing', () => {
    expect(matches(['none', 'web'], TAGS)).toBe(true);
    expect(matches(['none', 'env=test'], TAGS)).toBe(false);
    expect(matches([], TAGS)).toBe(false);
  });

  test.each([
    ['', 1],
    ['&', 1],
    ['a&', 3],
    ['a b', 2],
    ['a|(b', 5],
    ['a)', 2],
    ['a==b', 3],
    ['a=*b', 4],
    ['rmq.1', 4],
    [`${'('.repeat(200)}a${')'.repeat(200)}`, 102],
  ])('%j is refused at column %d', (expression, column) => {
    expect(() => parseTags(expression)).toThrow(
      expect.objectContaining({ code: 'tag_syntax', message: expect.stringContaining(`column ${column},`) }),
    );
  });

  test('a very long expression is refused, a long one is read', () => {
    expect(() => parseTags('a&'.repeat(3_000))).toThrow(expect.objectContaining({ code: 'tag_syntax' }));
    expect(matches(`${'none|'.repeat(800)}web`, TAGS)).toBe(true);
  });
});

test.each([
  ['web', 'web='],
  ['web=', 'web='],
  ['name=rmq.1', 'name=rmq.1'],
  ['a=b=c', null],
  ['=a', null],
  ['', null],
  ['a b', null],
])('the tag %j is stored as %j', (text, stored) => {
  expect(storedTag(text)).toBe(stored);
});
