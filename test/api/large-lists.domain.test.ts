import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { parseJson } from '../../api/server/json-body.ts';
import { checkInSlices, parseLargeJson } from '../../api/server/large-lists.ts';
import { bodyMistake } from '../../api/server/schema-mistakes.ts';
import { ComponentBodySchema } from '../../domain/components/schema.ts';

/** What comes of it: the data as text (numbers that are written with a fraction are objects), or the refusal. */
async function outcome(work: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await work());
  } catch (error) {
    const { code, detail, field } = error as { code: string; detail: string; field?: string };
    return `${code}: ${detail} ${field}`;
  }
}

async function expectSame(text: string | Buffer, size: number): Promise<void> {
  const bytes = Buffer.from(text);
  expect(await outcome(() => parseLargeJson(bytes, size))).toBe(await outcome(() => parseJson(bytes)));
}

const size = fc.integer({ min: 1, max: 30 });

describe('a large array is parsed as a small one', () => {
  test('whatever it holds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        size,
        fc.constantFrom(0, 1, 2),
        async (list, cut, space) => {
          await expectSame(JSON.stringify(list, null, space), cut);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('and broken text is refused like broken text', async () => {
    const list = fc.array(fc.jsonValue(), { minLength: 1, maxLength: 8 });
    const piece = fc.constantFrom(',', '[', ']', '{', '}', '"', '\\', ' ', '1', '\uFEFF', 'x', ',,', '\n');
    await fc.assert(
      fc.asyncProperty(list, piece, fc.nat(), size, fc.boolean(), async (data, added, place, cut, removes) => {
        const text = JSON.stringify(data);
        const at = place % (text.length + 1);
        await expectSame(text.slice(0, at) + added + text.slice(removes ? at + 1 : at), cut);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    '[]',
    ' [ ] ',
    '[1,2,]',
    '[,1,2]',
    '[1,,2]',
    '[1 2]',
    '[1,2]x',
    '[1,2] ',
    '[1,2}',
    '[{"a":1},{"b":2]]',
    '["a","b',
    '["a\\"],","b"]',
    '["\\\\","]"]',
    '{"a":[1,2,3]}',
    '"[1,2,3]"',
    '\uFEFF[1,2,3]',
    '[1,\uFEFF2,3]',
    '',
    '[10.0,1e3,-0.5]',
    '[{"__proto__":1},{"__proto__":1}]',
    '[{"a":{"b":"\\u0000","c":"\\u0000"}},"\\u0000"]',
  ])('%j', async (text) => {
    for (const cut of [1, 2, 3, 5, 100]) await expectSame(text, cut);
  });

  test('bytes that are no text are no JSON', async () => {
    await expectSame(Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x31, 0x5d]), 1);
  });

  test('a text that cannot be stored is named with its place in the whole list; broken JSON goes first', async () => {
    const list = ['{"id":"a"}', '{"id":"b"}', '{"id":"c","tags":{"k":"\\u0000"}}'];
    expect(await outcome(() => parseLargeJson(Buffer.from(`[${list}]`), 5))).toContain(' 2.tags.k');
    await expectSame(`[${list}]`, 5);
    expect(await outcome(() => parseLargeJson(Buffer.from(`[${list},{"id":]`), 5))).toContain('body_not_json');
  });
});

describe('a long list is checked as a short one', () => {
  const schema = z.array(ComponentBodySchema);
  const entries = (count: number): object[] => Array.from({ length: count }, (_, index) => ({ id: `c${index}` }));
  const whole = (list: unknown[]) => {
    const result = schema.safeParse(list);
    if (!result.success) throw bodyMistake(result.error, list, schema);
    return result.data;
  };

  test.each<[string, number, object]>([
    ['a member of the wrong type', 1_234, { id: 'x', tags: { k: 1 } }],
    ['an unknown member', 999, { id: 'x', nope: 1 }],
    ['a missing member', 500, { id: 'x', state_append: { clone_url: 'u' } }],
    ['a read-only member', 1_999, { id: 'x', logs: 'l' }],
    ['a record that is none', 0, []],
  ])('%s is refused with its place', async (_name, place, wrong) => {
    const list = entries(2_000).with(place, wrong);
    const refusal = await outcome(() => checkInSlices(schema, list));
    expect(refusal).toBe(await outcome(() => whole(list)));
    expect(refusal).toContain(`${place}`);
  });

  test('the first mistake counts, and what is right comes out whole', async () => {
    const list = entries(2_000).with(700, { id: 'x', nope: 1 }).with(1_500, { id: 7 });
    expect(await outcome(() => checkInSlices(schema, list))).toContain('700');
    expect(await checkInSlices(schema, entries(2_000))).toEqual(entries(2_000));
  });
});
