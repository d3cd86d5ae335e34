import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createStatusReader } from '../../control/components/desired-layers.ts';
import { selectComponents } from '../../control/components/select-components.ts';
import { CONFIGURATION_STATUSES, type Component, LAYER_STATES } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { WRITABLE_MEMBERS } from '../../domain/components/write-component.ts';
import { pageComponentsByStatus } from '../../store/components/component-status.ts';
import { pageComponents, updateComponents, upsertComponents } from '../../store/components/components.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const NOW = new Date('2026-11-21T10:00:00Z');

/** Few values, so that layers and entries often meet; some that quoting, collation or encoding could confuse. */
const url = fc.constantFrom<string[]>(
  'u',
  'v',
  '',
  'u"',
  "u'; --",
  'ü',
  'u\u0301',
  '\u{1F642}',
  '\\u0041',
  'A',
  '["u"]',
);
const playbook = fc.constantFrom<string[]>('site.yml', 'net.yml', '', ' site.yml', 'SITE.YML', 'p","a');
const commit = fc.constantFrom<string[]>('a', 'b', '', 'a ', 'A', '\\', '\u{10FFFF}');
const entry = fc.record({
  clone_url: url,
  playbook,
  commit,
  status: fc.constantFrom(...LAYER_STATES),
  session_name: fc.constantFrom('s', ''),
  last_updated: fc.constant('2026-11-21T10:00:00Z'),
});
const names = ['', 'one', 'two', 'three', 'gone', 'ONE', '\u{1F642}'];
const record = fc.record({
  state: fc.oneof(fc.array(entry, { maxLength: 5 }), fc.array(entry, { minLength: 40, maxLength: 60 })),
  desired_config: fc.constantFrom(...names),
  error_count: fc.oneof(fc.integer({ min: -2, max: 5 }), fc.constantFrom(2 ** 53 - 1, -(2 ** 53 - 1))),
  retry_policy: fc.option(fc.oneof(fc.integer({ min: -2, max: 5 }), fc.constant(2 ** 53 - 1)), { nil: undefined }),
  enabled: fc.boolean(),
  tags: fc.constantFrom<Record<string, string>[]>({}, { k: 'v' }, { k: 'w', '': '' }),
});
const layer = fc.record(
  { clone_url: url, source: fc.constantFrom<string[]>('s1', 's2', 'unknown', ''), playbook, commit },
  { requiredKeys: [] },
);
const configuration = fc.oneof(
  { weight: 4, arbitrary: fc.array(layer, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.array(layer, { minLength: 20, maxLength: 30 }) },
);
/** Layers that are reached now and then, so that not everything is behind. */
const world = fc.record({
  configurations: fc.dictionary(fc.constantFrom('one', 'two', 'three', 'ONE', '\u{1F642}'), configuration),
  sources: fc.dictionary(fc.constantFrom('s1', 's2'), url),
  options: fc.record({
    default_batcher_retry_policy: fc.integer({ min: 0, max: 4 }),
    default_playbook: fc.constantFrom<string[]>('site.yml', 'net.yml', ''),
  }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

async function build({ configurations, sources }: World): Promise<void> {
  const { db } = database;
  await db.deleteFrom('configurations').execute();
  await db.deleteFrom('sources').execute();
  for (const [name, layers] of Object.entries(configurations)) {
    const text = JSON.stringify({ name, layers, last_updated: '' });
    await db.insertInto('configurations').values({ name, record: text, updated_at: NOW, actor: null }).execute();
  }
  for (const [name, clone_url] of Object.entries(sources)) {
    const text = JSON.stringify({ name, clone_url });
    await db.insertInto('sources').values({ name, record: text, updated_at: NOW, actor: null }).execute();
  }
}

const withIds = (records: (Omit<Component, 'id' | 'retry_policy'> & { retry_policy: number | undefined })[]) =>
  records.map(
    ({ retry_policy, ...rest }, index): Component => ({
      id: `c${index}`,
      ...rest,
      ...(retry_policy === undefined ? {} : { retry_policy }),
    }),
  );

async function idsByRule(options: StatusOptions, matches: (component: Component) => boolean) {
  const components = await pageComponents(database.db, {}, '', 100_000);
  const reader = createStatusReader(database.db, options);
  await reader.prepare(components);
  return (status: string) =>
    components.filter((one) => reader.of(one).status === status && matches(one)).map((one) => one.id);
}

async function compare(options: StatusOptions): Promise<void> {
  const expected = await idsByRule(options, () => true);
  const narrow = await idsByRule(options, (one) => one.enabled && one.desired_config === 'one' && one.tags.k === 'v');
  for (const status of CONFIGURATION_STATUSES) {
    const selection = { status, options };
    const found = await pageComponentsByStatus(database.db, selection, '', 100_000);
    expect(found.map((one) => one.id)).toEqual(expected(status));
    const some = { ...selection, enabled: true, desiredConfig: 'one', tags: [['k', 'v']] as const };
    const few = await pageComponentsByStatus(database.db, some, '', 100_000);
    expect(few.map((one) => one.id)).toEqual(narrow(status));
  }
}

describe('the filter by status is the rule of the domain', () => {
  test('for any components, configurations, sources and options, and after any of them changed', async () => {
    const scenario = fc.record({
      components: fc.array(record, { minLength: 40, maxLength: 60 }),
      worlds: fc.tuple(world, world),
      changed: fc.array(record, { minLength: 10, maxLength: 10 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ components, worlds, changed }) => {
        await database.db.deleteFrom('components').execute();
        await upsertComponents(database.db, withIds(components), NOW, null);
        for (const one of worlds) {
          await build(one);
          await compare(one.options);
          await updateComponents(database.db, withIds(changed), {
            now: NOW,
            actor: null,
            members: new Set(WRITABLE_MEMBERS),
          });
          await compare(one.options);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('when states are made of the layers themselves', async () => {
    const layers = fc.array(fc.record({ clone_url: fc.constantFrom<string[]>('u', 'v'), playbook, commit }), {
      maxLength: 4,
    });
    const scenario = layers.chain((desired) =>
      fc.record({
        desired: fc.constant(desired),
        states: fc.array(
          fc.tuple(
            ...desired.map((one) => fc.option(entry.map(({ status, ...rest }) => ({ ...rest, status, ...one })))),
          ),
          { minLength: 20, maxLength: 40 },
        ),
        counts: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 40, maxLength: 40 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ desired, states, counts }) => {
        await database.db.deleteFrom('components').execute();
        const options = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };
        await build({ configurations: { one: desired }, sources: {}, options });
        const components = states.map(
          (state, index): Component => ({
            id: `c${index}`,
            state: state.filter((one) => one !== null).map((one) => ({ ...one, playbook: one.playbook || 'site.yml' })),
            desired_config: 'one',
            error_count: counts[index] ?? 0,
            enabled: true,
            tags: {},
          }),
        );
        await upsertComponents(database.db, components, NOW, null);
        await compare(options);
      }),
      { numRuns: 30 },
    );
  });
});

describe.each([
  ['few', 5],
  ['many', 250],
])('pages by status of %s standings', (_, kinds) => {
  const options = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };
  const make = (id: string, desired_config: string, reached: string[]): Component => ({
    id,
    state: reached.map((commit) => ({
      clone_url: 'u',
      playbook: 'p',
      commit,
      status: 'applied',
      session_name: '',
      last_updated: '',
    })),
    desired_config,
    error_count: 0,
    enabled: false,
    tags: {},
  });

  beforeAll(async () => {
    await database.db.deleteFrom('components').execute();
    const layers = [{ clone_url: 'u', playbook: 'p', commit: 'a' }];
    await build({ configurations: { one: layers, two: layers }, sources: {}, options });
    const ids = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const components = ids.map((id, index) =>
      make(id, index % 2 ? 'one' : 'two', index % 3 ? ['a'] : [`x${index % kinds}`]),
    );
    await upsertComponents(
      database.db,
      [...components, make('\uFFFD', 'one', []), make('\u{1F642}', 'two', [])],
      NOW,
      null,
    );
  });

  test('come in the order of code points across configurations and standings, each page after the last', async () => {
    const expected = (await idsByRule(options, () => true))('pending');
    expect(expected.slice(-2)).toEqual(['\uFFFD', '\u{1F642}']);
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const page = await pageComponentsByStatus(database.db, { status: 'pending', options }, after, 7);
      seen.push(...page.map((one) => one.id));
      if (page.length < 7) break;
      after = page.at(-1)?.id ?? '';
    }
    expect(seen).toEqual(expected);
  });

  test('follow a configuration that is gone at once', async () => {
    const pages = selectComponents({
      db: database.db,
      options,
      selection: {},
      status: 'pending',
      afterId: '',
      lock: 'none',
    });
    const before = (await idsByRule(options, () => true))('pending');
    expect((await pages.next()).value?.components.map((one: Component) => one.id)).toEqual(before);
    await build({ configurations: {}, sources: {}, options });
    const after = selectComponents({
      db: database.db,
      options,
      selection: {},
      status: 'pending',
      afterId: '',
      lock: 'none',
    });
    expect((await after.next()).value).toBeUndefined();
  });
});

test('a standing is a function of the row: it follows every way of writing', async () => {
  const { db } = database;
  await db.deleteFrom('components').execute();
  await upsertComponents(
    db,
    withIds([{ state: [], desired_config: 'a', error_count: 0, retry_policy: undefined, enabled: true, tags: {} }]),
    NOW,
    null,
  );
  const standing = async () =>
    (await db.selectFrom('components').select('standing').executeTakeFirstOrThrow()).standing;
  const first = await standing();
  await db.updateTable('components').set({ desired_config: 'b' }).execute();
  const second = await standing();
  expect(second).not.toBe(first);
  await db.updateTable('components').set({ error_count: 7, enabled: false }).execute();
  expect(await standing()).toBe(second);
  await db.updateTable('components').set({ desired_config: 'a', state: '[{"clone_url":"u"}]' }).execute();
  expect(await standing()).not.toBe(first);
});
