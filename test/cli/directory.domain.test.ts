/** Rules of directories: which request makes a record as a file says it, names of files, differences by their place. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fileNameOf } from '../../cli/commands/directory/export-directory.ts';
import { type Kind, keptOf, kindOf } from '../../cli/commands/directory/kinds.ts';
import { missingSecrets } from '../../cli/commands/directory/missing-secrets.ts';
import { recordChange } from '../../cli/commands/directory/record-changes.ts';
import type { Document } from '../../cli/input/documents.ts';
import { memberChanges } from '../../cli/output/member-changes.ts';

const change = (kind: Kind, record: Document, stored?: Document) =>
  recordChange(kind, { name: String(record.name ?? record.id ?? 'options'), file: 'one.yaml', record }, stored);

const layer = { name: 'base', source: 'site', playbook: 'site.yml' };
const LAYERS = { pinned: [{ ...layer, commit: 'a' }], branch: [{ ...layer, branch: 'main', commit: 'a' }] };
const credentials = { authentication_method: 'password', secret_name: 's1' };
const source = { name: 'a/b', clone_url: 'https://x.test/a.git', credentials, ca_cert: null };
const schedule = { name: 'day', description: '', cron: '0 3 * * *', jitter: 0, action: { refresh: {} } };
const webhook = { name: 'hook', url: 'https://x.test/***', events: ['session.ended'], enabled: true };
const { credentials: _credentials, name: _sourceName, ...sourceRest } = source;

const SAME: [string, Kind, Document, Document][] = [
  ['a source', 'sources', source, source],
  ['a source that leaves members out', 'sources', { name: 'a/b', clone_url: source.clone_url }, source],
  ['options', 'options', { batch_size: 1 }, { batch_size: 1, batch_window: 2 }],
  ['a configuration', 'configurations', { name: 'c', layers: LAYERS.pinned }, { name: 'c', layers: LAYERS.pinned }],
  ['a component', 'components', { id: 'n', tags: { a: '1' } }, { id: 'n', tags: { a: '1' }, enabled: true }],
  ['a schedule', 'schedules', schedule, { ...schedule, paused: true }],
  ['a schedule that is to be paused', 'schedules', { ...schedule, paused: true }, { ...schedule, paused: false }],
  ['a webhook with a masked address', 'webhooks', webhook, webhook],
];

const CHANGED: [string, Kind, Document, Document | undefined, unknown][] = [
  [
    'a new source of a secret that is there',
    'sources',
    source,
    undefined,
    { method: 'POST', path: '/v3/sources/a%252Fb', body: { ...sourceRest, credentials } },
  ],
  [
    'a new source with a password',
    'sources',
    { ...source, credentials: { username: 'u', password: 'p', secret_name: 's1' } },
    undefined,
    { method: 'POST', path: '/v3/sources', body: { ...source, credentials: { username: 'u', password: 'p' } } },
  ],
  [
    'a source with another address',
    'sources',
    { ...source, clone_url: 'https://y.test/a.git' },
    source,
    { method: 'PATCH', path: '/v3/sources/a%252Fb', body: { clone_url: 'https://y.test/a.git' } },
  ],
  [
    'options',
    'options',
    { batch_size: 3, batch_window: 2 },
    { batch_size: 1, batch_window: 2 },
    { method: 'PATCH', path: '/api/v1/options', body: { batch_size: 3 } },
  ],
  [
    'a configuration with a branch, without the commit of then',
    'configurations',
    { name: 'c d', layers: LAYERS.branch },
    { name: 'c d', layers: LAYERS.pinned },
    { method: 'PUT', path: '/v3/configurations/c%20d', body: { layers: [{ ...layer, branch: 'main' }] } },
  ],
  [
    'a new component',
    'components',
    { id: 'n', tags: {} },
    undefined,
    { method: 'PUT', path: '/v3/components', body: [{ id: 'n', tags: {} }] },
  ],
  [
    'a component: what differs alone, and tags that the file lacks go',
    'components',
    { id: 'n', enabled: true, desired_config: 'c', tags: { a: '2' } },
    { id: 'n', enabled: true, desired_config: '', tags: { a: '1', b: '1' } },
    { method: 'PATCH', path: '/v3/components', body: [{ id: 'n', desired_config: 'c', tags: { a: '2', b: '' } }] },
  ],
  [
    'a new schedule that is paused',
    'schedules',
    { ...schedule, paused: true },
    undefined,
    { method: 'POST', path: '/api/v1/schedules', body: { ...schedule, paused: true } },
  ],
  [
    'a webhook: what differs alone',
    'webhooks',
    { ...webhook, enabled: false },
    webhook,
    { method: 'PATCH', path: '/api/v1/webhooks/hook', body: { enabled: false } },
  ],
];

describe('a record of a file', () => {
  test.each(SAME)('%s that is so already needs no request', (_, kind, record, stored) => {
    expect(change(kind, record, stored)).toBeNull();
  });

  test.each(CHANGED)('%s', (_, kind, record, stored, request) => {
    expect(change(kind, record, stored)).toEqual({ request, unsure: false });
  });

  test.each<[string, Kind, Document, Document]>([
    ['a branch', 'configurations', { name: 'c', layers: LAYERS.branch }, { name: 'c', layers: LAYERS.branch }],
    ['a password', 'sources', { ...source, credentials: { username: 'u', password: 'p' } }, source],
    ['a whole address', 'webhooks', { ...webhook, url: 'https://x.test/key' }, webhook],
    ['members with defaults', 'schedules', { name: 'day', cron: '0 3 * * *', action: { refresh: {} } }, schedule],
  ])('with %s is asked of the server: only it can tell', (_, kind, record, stored) => {
    expect(change(kind, record, stored)).toMatchObject({ unsure: true });
  });

  test.each<[string, Kind, Document, Document | undefined, RegExp]>([
    [
      'another secret',
      'sources',
      { ...source, credentials: { secret_name: 's2' } },
      source,
      /one\.yaml: source a\/b has the secret s1/,
    ],
    ['a masked address, and is new', 'webhooks', webhook, undefined, /one\.yaml: webhook hook is not there/],
    [
      'another masked address',
      'webhooks',
      { ...webhook, url: 'https://y.test/***' },
      webhook,
      /is changed, and not whole/,
    ],
  ])('with %s is refused, with its file', (_, kind, record, stored, words) => {
    expect(() => change(kind, record, stored)).toThrow(words);
  });
});

test('what the API computes is in no file, nor what runs have reached unless it is asked for', () => {
  const component = {
    id: 'n',
    state: [{ commit: 'a', last_updated: 't' }],
    error_count: 2,
    configuration_status: 'failed',
  };
  expect(keptOf('components', component, false)).toEqual({ id: 'n' });
  expect(keptOf('components', component, true)).toEqual({ id: 'n', state: [{ commit: 'a' }], error_count: 2 });
  const computed = { id: 'x', synced: true, sync_error: null, last_run: null, created_at: 't', updated_at: 't' };
  expect(keptOf('schedules', { ...schedule, ...computed, paused: false }, false)).toEqual(schedule);
  expect(keptOf('webhooks', { ...webhook, waiting: 3, created_at: 't', updated_by: null }, false)).toEqual(webhook);
});

test.each([
  ['configurations', 'configurations'],
  ['Configuration', 'configurations'],
  ['options', 'options'],
  ['option', 'options'],
  ['secrets', undefined],
  ['', undefined],
])('the kind %j is %s', (word, kind) => {
  expect(kindOf(word)).toBe(kind);
});

describe('the file of a record', () => {
  test.each([
    ['web', 'web.yaml'],
    ['https://x.test/a.git', 'https%3A%2F%2Fx.test%2Fa.git.yaml'],
    ['..', '%2E..yaml'],
    ['.git', '%2Egit.yaml'],
    ['a*b', 'a%2Ab.yaml'],
  ])('of %j is %s', (name, file) => {
    expect(fileNameOf(name)).toBe(file);
  });

  test('is in its folder, is no hidden file, and is of this record alone', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 400 }),
        fc.string({ minLength: 1, maxLength: 400 }),
        (one, other) => {
          const file = fileNameOf(one);
          expect(file).toMatch(/^[^./\\][^/\\]*\.yaml$/);
          expect(Buffer.byteLength(file)).toBeLessThanOrEqual(255);
          if (one.toWellFormed() !== other.toWellFormed()) expect(fileNameOf(other)).not.toBe(file);
        },
      ),
    );
  });
});

describe('differences', () => {
  test('are named by their place, and a commit with its branch', () => {
    const before = { layers: [{ playbook: 'a.yml', commit: '1', branch: 'main' }], description: 'x' };
    const after = { layers: [{ playbook: 'a.yml', commit: '2', branch: 'main' }, { playbook: 'b.yml' }] };
    expect(memberChanges({ before, after })).toEqual([
      'description: "x" -> nothing',
      'layers[0].commit: "1" -> "2" (branch main)',
      'layers[1]: nothing -> {"playbook":"b.yml"}',
    ]);
  });

  test('of what was made or deleted are none', () => {
    expect(memberChanges({ before: null, after: { a: 1 } })).toEqual([]);
    expect(memberChanges({ before: { a: 1 }, after: null })).toEqual([]);
  });

  test('are none between equal values, and some between others', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(fc.property(value, (one) => memberChanges({ before: one, after: structuredClone(one) }).length === 0));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const plain = (given: unknown) => JSON.parse(JSON.stringify(given));
        const differs = !isDeepStrictEqual(plain(one), plain(other));
        if (differs) expect(memberChanges({ before: { one }, after: { one: other } })).not.toEqual([]);
      }),
    );
  });
});

test('secrets that are missing are named with the command that sets them', () => {
  const named = [
    { name: 'vcs', keys: ['user', 'password'] },
    { name: 'whole', keys: ['key'] },
    { name: 'none', keys: ['key'] },
  ];
  const stored = [
    { name: 'vcs', keys: ['user'] },
    { name: 'whole', keys: ['key', 'more'] },
  ];
  expect(missingSecrets(named, stored)).toEqual([
    'secret vcs has no password: `./muster secret set vcs password=@FILE`',
    'there is no secret none: `./muster secret set none key=@FILE`',
  ]);
});
