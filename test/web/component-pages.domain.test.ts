/** What the pages of components make of URLs, selections and records. */
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import fc from 'fast-check';
import { type SelectionOptions, selectorOf, withSelection } from '../../cli/commands/components/component-selection.ts';
import type { TimelineEntry } from '../../domain/audit/schema.ts';
import { readHostlist } from '../../domain/components/hostlist.ts';
import { inNaturalOrder } from '../../domain/components/natural-order.ts';
import { actionCommand, actionCurl, hostWord, listCommand, sessionCommand } from '../../web/src/components/commands.ts';
import {
  COMPONENT_STATUSES,
  type ComponentFilters,
  csvPath,
  filtersOf,
  inputPlace,
  isFiltered,
  listPath,
  readComponentListSearch,
} from '../../web/src/components/search.ts';
import {
  type Arguments,
  hostsRefusal,
  isSelected,
  NOTHING,
  runRefusal,
  type Selected,
  selectedCount,
  selectionOf,
  sessionOf,
  tagsOf,
  toggled,
} from '../../web/src/components/selected.ts';
import { entryWords, lastFailure, layersBeside, newestFirst } from '../../web/src/components/timeline.ts';

describe('the URL of the list', () => {
  test.each<[Record<string, unknown>, object]>([
    [{}, {}],
    [
      { hosts: 'n[1-4],!n3', text: 7, status: 'failed', enabled: false, config_name: 'web', tags: 'role=compute' },
      { hosts: 'n[1-4],!n3', text: '7', status: 'failed', enabled: false, config_name: 'web', tags: 'role=compute' },
    ],
    [
      { enabled: 'true', after_id: 'n500' },
      { enabled: true, after_id: 'n500' },
    ],
    [{ status: 'walking', enabled: 'maybe', hosts: ['a'] }, { dropped: ['hosts', 'status', 'enabled'] }],
    [{ text: 'x'.repeat(601) }, { dropped: ['text'] }],
    [{ text: '', other: 1 }, {}],
  ])('%j says %j', (given, read) => expect(readComponentListSearch(given)).toEqual(read));

  test('is what the API is asked for', () => {
    const search = { hosts: 'n[1-2]', enabled: false, after_id: 'n1', dropped: ['x'] };
    expect(listPath(search)).toBe('/components?hosts=n%5B1-2%5D&enabled=false&limit=500&count=true&after_id=n1');
    expect([filtersOf(search), isFiltered(search)]).toEqual([{ hosts: 'n[1-2]', enabled: false }, true]);
    expect(csvPath(search)).toBe('/components?hosts=n%5B1-2%5D&enabled=false&format=csv');
    expect(isFiltered({ after_id: 'n1' })).toBe(false);
  });

  test('places of mistakes are in characters, those of inputs in units of UTF-16', () => {
    expect(inputPlace('a\u{1f600}b', 2)).toBe(3);
    expect(inputPlace('abc', 9)).toBe(3);
  });
});

const ALL: Selected = {
  kind: 'all',
  selection: { id: '5f0c8d0e-1111-4222-8333-123456789abc', count: 5_000, expires_at: '2026-11-21T10:00:00Z' },
};
const ARGS: Record<string, Arguments> = { set_tags: { tags: { k: 'v' } }, set_desired: { desired_config: 'new' } };
const FAILURE = 'f0123456789abcde';

/** Returns what a copied command asks of the API, as the command line reads its words. */
async function chosenBy(command: string) {
  const words = [...command.matchAll(/(?:[^\s'\\]|\\.|'[^']*')+/g)].map(([word]) =>
    word.replace(/\\(.)|'([^']*)'/g, (_, one?: string, quoted?: string) => one ?? quoted ?? ''),
  );
  if (words[0] === 'printf') return JSON.parse(words[2] ?? '').selection;
  const own = words[2] === 'set' ? (['config', 'tag'] as const) : [];
  const parsed = withSelection(new Command('x').exitOverride(), own).option('--yes');
  if (own.length > 0) parsed.option('--config <name>').option('--tag <pair>');
  parsed.parse(words.slice(3), { from: 'user' });
  const { config, tag, ...options } = parsed.opts<SelectionOptions & { yes: boolean }>();
  const { filter } = (await selectorOf({ stdin: Readable.from([]) } as never, parsed.args, {
    ...options,
    ...(own.length > 0 ? {} : { config, tag }),
  } as SelectionOptions)) as { filter: ComponentFilters };
  return { filter: { ...filter, ...(filter.hosts === undefined ? {} : { hosts: filter.hosts.replace(/^\\-/, '-') }) } };
}
const some = (...ids: string[]): Selected => ({ kind: 'ids', ids: new Set(ids) });

describe('a selection', () => {
  test('of ids gains and loses them', () => {
    const one = toggled(NOTHING, 'n1');
    expect([selectedCount(NOTHING), selectedCount(one), isSelected(one, 'n1'), isSelected(one, 'n2')]).toEqual([
      0,
      1,
      true,
      false,
    ]);
    expect(toggled(toggled(one, 'n2'), 'n1')).toEqual(some('n2'));
    expect(selectionOf(some('n1', 'n2'))).toEqual({ ids: ['n1', 'n2'] });
  });

  test('of all that match is whole, and the API knows it', () => {
    expect([selectedCount(ALL), isSelected(ALL, 'any'), toggled(ALL, 'n1')]).toEqual([5_000, true, ALL]);
    expect(selectionOf(ALL)).toBe('5f0c8d0e-1111-4222-8333-123456789abc');
  });
});

test.each<[string, Record<string, string> | null]>([
  ['', null],
  ['role', null],
  ['=x', null],
  ['role=compute', { role: 'compute' }],
  [' role=compute, rack= ,url=a=b', { role: 'compute', rack: '', url: 'a=b' }],
  ['role=compute,rack', null],
])('the tags of %j are %j', (text, tags) => expect(tagsOf(text)).toEqual(tags));

describe('a session on the selected ones', () => {
  test('takes them by name', () => {
    const wanted = { name: 'web-1', configuration_name: 'site', ansible_limit: 'n1,n2' };
    expect(sessionOf(some('n1', 'n2'), 'web-1', 'site')).toEqual(wanted);
    expect(sessionCommand(wanted, 'now')).toBe(
      "./muster session run web-1 --configuration=site --limit='n1,n2' --reason=now",
    );
    expect([sessionOf(NOTHING, 'a', 'b'), sessionOf(some('n1'), '', 'b'), sessionOf(some('n1'), 'a', null)]).toEqual([
      null,
      null,
      null,
    ]);
    expect([runRefusal(some('n1')), runRefusal(ALL), sessionOf(ALL, 'a', 'b')]).toEqual([
      null,
      expect.any(String),
      null,
    ]);
  });

  test('is not made on others than them', () => {
    expect(hostsRefusal(some('n1', 'n2'), { count: 2, unknown: null })).toBeNull();
    for (const hosts of [null, { count: 1, unknown: null }, { count: 0, unknown: 'a pattern' }]) {
      expect(hostsRefusal(some('n1', 'all'), hosts)).toMatch(/Ansible/);
    }
  });
});

describe('commands', () => {
  const told = { action: 'enable', args: null, selected: some('n1', 'n2'), filters: {}, reason: '' } as const;

  test.each<[string, Parameters<typeof actionCommand>[0]]>([
    ["./muster component enable 'n1,n2' --yes", told],
    ["./muster component disable '\\-a,b\\[1\\]' --yes", { ...told, action: 'disable', selected: some('-a', 'b[1]') }],
    ['./muster component reset-errors --all --yes', { ...told, action: 'reset_errors', selected: ALL }],
    [
      "./muster component clear 'n[1-3]' --text=web --status=failed --no-enabled --reason='it is time' --yes",
      {
        ...told,
        action: 'clear_state',
        selected: ALL,
        filters: { hosts: 'n[1-3]', text: 'web', status: 'failed', enabled: false },
        reason: 'it is time',
      },
    ],
    [
      "./muster component set 'n1,n2' --config='' --yes",
      { ...told, action: 'set_desired', args: { desired_config: '' } },
    ],
    [
      `printf %s '{"action":"set_desired","selection":{"filter":{"config_name":"old"}},"args":{"desired_config":"new"}}' | ./muster api POST /api/v1/components/actions -d - --reason=now`,
      {
        ...told,
        action: 'set_desired',
        args: { desired_config: 'new' },
        selected: ALL,
        filters: { config_name: 'old' },
        reason: 'now',
      },
    ],
    [
      "./muster component set 'n1,n2' --tag=role=compute --untag=rack --yes",
      { ...told, action: 'set_tags', args: { tags: { role: 'compute', rack: '' } } },
    ],
  ])('%s', (command, action) => expect(actionCommand(action)).toBe(command));

  test('of a list', () => {
    expect(listCommand({ status: 'failed', tags: 'a=b,c=d', config_name: "it's" })).toBe(
      "./muster component list --status=failed --config='it'\\''s' --tag=a=b --tag=c=d",
    );
    expect(listCommand({ text: 'web 1', enabled: true })).toBe(
      "./muster component list -o name --enabled | grep -iF -- 'web 1'",
    );
    expect(listCommand({ status: 'failed', failure: FAILURE })).toBe(
      `./muster api GET '/api/v1/components?status=failed&failure=${FAILURE}&format=csv'`,
    );
  });

  test('of curl have the filter itself, for the API forgets a selection', () => {
    expect(
      actionCurl('https://m/api', {
        ...told,
        action: 'delete',
        selected: ALL,
        filters: { status: 'failed' },
        reason: 'a b',
      }),
    ).toBe(
      `curl -X POST -H "Authorization: Bearer $MUSTER_TOKEN" -H 'Muster-Reason: a%20b' -H 'Content-Type: application/json' -d '{"action":"delete","selection":{"filter":{"status":"failed"}}}' https://m/api`,
    );
  });

  test('choose what the page has chosen, and never more', async () => {
    const filter = fc.record(
      {
        hosts: fc.constantFrom('n[1-3]', '-a', 'n1,!n2', '@role=web'),
        text: fc.string({ minLength: 1, maxLength: 6 }),
        status: fc.constantFrom(...COMPONENT_STATUSES),
        enabled: fc.boolean(),
        config_name: fc.constantFrom('web', '-x', "it's"),
        tags: fc.constantFrom('a=b', 'a=b,c=d', 'a=b,a=c', "a=it's"),
        failure: fc.constant(FAILURE),
      },
      { requiredKeys: [] },
    );
    const action = fc.constantFrom('delete', 'enable', 'set_tags', 'set_desired');
    await fc.assert(
      fc.asyncProperty(filter, action, async (filters, word) => {
        const command = actionCommand({ ...told, action: word, args: ARGS[word] ?? null, selected: ALL, filters });
        expect(await chosenBy(command)).toEqual({ filter: filters });
        const { status = '', config_name = '', failure = '' } = filters;
        const list = decodeURIComponent(listCommand({ ...filters, text: undefined })).replaceAll("'\\''", "'");
        for (const value of [status, config_name, failure]) expect(list).toContain(value);
      }),
    );
  });

  test('any ids are a hostlist that means them, and no flag', () => {
    const id = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
    const plain = fc.stringMatching(/^[-!@,[\]\\ a0]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.oneof(id, plain), { minLength: 1, maxLength: 8 }), (ids) => {
        const list = ids.map(hostWord).join(',');
        expect(readHostlist(list).names()).toEqual(inNaturalOrder(new Set(ids)));
        expect(list.startsWith('-')).toBe(false);
      }),
    );
  });
});

const layerEntry = (more: object = {}) =>
  ({
    ...{
      id: '1',
      time: '2026-11-21T10:00:00Z',
      type: 'layer',
      session: 'night',
      session_id: 'i',
      configuration: 'web',
    },
    ...{ layer: 0, clone_url: 'u', playbook: 'site.yml', commit: 'c', attempt: 1, status: 'failed', is_check: false },
    ...{ taken_as: 'failed', message: 'Install: no disk', ok: 1, changed: 0, failures: 1, unreachable: 0 },
    ...{ skipped: 0, rescued: 0, ignored: 0 },
    ...more,
  }) as TimelineEntry;
const changeEntry = (more: object) =>
  ({
    ...{
      id: '2',
      time: '2026-11-21T10:00:00Z',
      type: 'change',
      actor: 'token/ci',
      action: 'update',
      before: { enabled: true },
    },
    ...{ after: { enabled: false }, request_id: null, via: null, reason: null },
    ...more,
  }) as TimelineEntry;
const entry = (playbook: string, status: 'applied' | 'failed', session_name = 'night') => ({
  ...{ clone_url: 'u', playbook, commit: 'c'.repeat(40), status, session_name },
  last_updated: '2026-11-21T10:00:00Z',
});

describe('the timeline', () => {
  test.each<[string, TimelineEntry]>([
    ['layer 1 site.yml: failed: Install: no disk', layerEntry()],
    ['check of layer 1 site.yml: applied', layerEntry({ is_check: true, status: 'applied', message: null })],
    ['changed enabled by token/ci', changeEntry({})],
    ['deleted: it is old', changeEntry({ action: 'delete', actor: null, reason: 'it is old' })],
    ['imported', changeEntry({ action: 'imported', actor: null })],
  ])('%s', (words, one) => expect(entryWords(one).what).toBe(words));

  test('leads to the session', () => {
    expect(entryWords(layerEntry()).session).toEqual({ id: 'i', name: 'night' });
    expect(entryWords(layerEntry({ session: null })).session).toBeNull();
  });

  test('has the last failure of a layer that is still bad', () => {
    const entries = [layerEntry({ is_check: true }), layerEntry({ session: 'other' }), layerEntry()];
    const reached = [entry('site.yml', 'failed')];
    expect(lastFailure({ reached }, entries)).toMatchObject({
      message: 'Install: no disk',
      session: { name: 'night' },
    });
    expect(lastFailure({ reached: [entry('site.yml', 'applied')] }, entries)).toBeNull();
    expect(lastFailure({ reached: [] }, entries)).toBeNull();
  });

  test('is put together of several types, the newest first', () => {
    const at = (minute: number, id: string) => layerEntry({ id, time: `2026-11-21T10:0${minute}:00Z` });
    expect(newestFirst([at(3, 'c'), at(1, 'a'), at(2, 'b')]).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  });
});

test('layers stand beside what was reached of them', () => {
  const desired = [
    { clone_url: 'u', playbook: 'site.yml', commit: 'd'.repeat(40), status: 'pending' as const },
    { clone_url: 'u', playbook: 'net.yml', commit: 'e'.repeat(40), status: 'pending' as const },
  ];
  const pairs = layersBeside({ desired, reached: [entry('old.yml', 'applied'), entry('site.yml', 'failed')] });
  expect(pairs.map(({ name, desired: wanted, reached }) => [name, wanted?.status, reached?.status])).toEqual([
    ['layer 1/2 site.yml', 'pending', 'failed'],
    ['layer 2/2 net.yml', 'pending', undefined],
    ['not desired: old.yml', undefined, 'applied'],
  ]);
});
