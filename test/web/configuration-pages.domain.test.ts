/** What the pages of configurations, rollouts and drift make of URLs, forms and records. */
import { describe, expect, test } from '@jest/globals';
import {
  policyText,
  resumeRefusal,
  shareText as rolloutShare,
  stopRefusal,
} from '../../web/src/batches/rollout-text.ts';
import { readRolloutSearch } from '../../web/src/batches/search.ts';
import { compareDrafts } from '../../web/src/configurations/both-versions.ts';
import { withoutCredentials } from '../../web/src/configurations/clone-address.ts';
import { applyCommand, putCommand } from '../../web/src/configurations/commands.ts';
import { layerChange, valueText } from '../../web/src/configurations/diff-text.ts';
import {
  asksTheSame,
  bodyOf,
  draftLayer,
  draftOf,
  emptyDraft,
  freeKey,
  moved,
  restoredBody,
} from '../../web/src/configurations/draft.ts';
import { restoreRefusal } from '../../web/src/configurations/restore-refusal.ts';
import { readConfigurationListSearch, readConfigurationSearch } from '../../web/src/configurations/search.ts';
import { shareText } from '../../web/src/configurations/share-text.ts';
import { changedText, checkBody, checkCommand } from '../../web/src/schedules/drift-text.ts';
import { readDriftSearch } from '../../web/src/schedules/search.ts';

const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const URL = 'https://git.example.test/one.git';

describe('URLs', () => {
  test.each<[(given: Record<string, unknown>) => object, Record<string, unknown>, object]>([
    [readConfigurationListSearch, { in_use: true, new: true }, { in_use: true, new: true }],
    [readConfigurationListSearch, { in_use: 'maybe', after_id: 7 }, { after_id: '7', dropped: ['in_use'] }],
    [readConfigurationListSearch, { after_id: 'n'.repeat(61) }, { dropped: ['after_id'] }],
    [
      readConfigurationSearch,
      { tab: 'history', from: '17-4', to: 'current' },
      { tab: 'history', from: '17-4', to: 'current' },
    ],
    [
      readConfigurationSearch,
      { tab: 'x', from: 'earliest', to: 'newest' },
      { from: 'earliest', dropped: ['tab', 'to'] },
    ],
    [readConfigurationSearch, { after_id: '1795772580000-12' }, { after_id: '1795772580000-12' }],
    [
      readRolloutSearch,
      { state: 'stopped', configuration: 5, all: true },
      { state: 'stopped', configuration: '5', all: true },
    ],
    [readConfigurationSearch, { after_id: 'earliest' }, { dropped: ['after_id'] }],
    [readRolloutSearch, { state: 'running', after_id: 'x' }, { dropped: ['state', 'after_id'] }],
    [
      readDriftSearch,
      { status: 'drifted', config_name: 'web', component: 'x1' },
      { status: 'drifted', config_name: 'web', component: 'x1' },
    ],
    [readDriftSearch, { status: 'bad', component: ['x1'] }, { dropped: ['status', 'component'] }],
  ])('%p of %j', (read, given, expected) => expect(read(given)).toEqual(expected));
});

describe('the form', () => {
  const record = {
    description: 'all',
    layers: [
      { name: 'base', clone_url: URL, playbook: 'site.yml', branch: 'main', commit: A },
      { source: 'shop', playbook: 'app.yml', commit: B, special_parameters: { ims_require_dkms: true } },
    ],
    additional_inventory: { clone_url: URL, branch: 'main', commit: A },
    tenant_name: 'one',
    muster: { rollout: { canary: { ids: ['x1'] }, max_at_once: '10%', max_failed: 2 } },
  };

  test('asks for the branch where a layer has one, and for the commit of the others', () => {
    expect(bodyOf(draftOf(record))).toEqual({
      body: {
        ...record,
        layers: [{ name: 'base', clone_url: URL, playbook: 'site.yml', branch: 'main' }, record.layers[1]],
        additional_inventory: { clone_url: URL, branch: 'main' },
      },
    });
    expect(draftOf(record).layers.map(({ commit, resolved }) => [commit, resolved])).toEqual([
      ['', A],
      [B, ''],
    ]);
  });

  test('is the same until a word is changed', () => {
    const draft = draftOf(record);
    expect(asksTheSame(draft, draftOf(record))).toBe(true);
    expect(asksTheSame(draft, { ...draft, description: 'some' })).toBe(false);
    expect(asksTheSame(draft, { ...draft, layers: moved(draft.layers, 0, 1) })).toBe(false);
  });

  test('that is empty has one layer and no member that is not written', () => {
    expect(bodyOf(emptyDraft())).toEqual({ body: { layers: [{}] } });
    const blank = draftLayer({ clone_url: ' ', playbook: ' site.yml ' }, 0);
    expect(bodyOf({ ...emptyDraft(), layers: [blank] })).toEqual({ body: { layers: [{ playbook: 'site.yml' }] } });
  });

  test.each([
    ['', undefined],
    ['2', { canary: 2 }],
    [' {"ids": ["x1"]} ', { canary: { ids: ['x1'] } }],
  ])('reads the canary %j', (canary, rollout) => {
    const draft = { ...emptyDraft(), policy: { max_at_once: '', canary, max_failed: '' } };
    expect(bodyOf(draft)).toEqual({ body: { layers: [{}], ...(rollout && { muster: { rollout } }) } });
  });

  test.each(['two', '{"ids": [', '"x"', 'null', '1.5'])('does not read the canary %j', (canary) => {
    const draft = { ...emptyDraft(), policy: { max_at_once: '', canary, max_failed: '' } };
    expect(bodyOf(draft)).toEqual({ mistake: expect.stringContaining('Canary is a number') });
  });

  test('leaves it to the API to judge a share', () => {
    const draft = { ...emptyDraft(), policy: { max_at_once: '10 %', canary: '', max_failed: '3' } };
    expect(bodyOf(draft)).toMatchObject({ body: { muster: { rollout: { max_at_once: '10 %', max_failed: 3 } } } });
  });

  test('moves layers, and never out of the list', () => {
    const layers = [0, 1, 2].map((key) => draftLayer({}, key));
    const keys = (from: number, to: number) => moved(layers, from, to).map(({ key }) => key);
    expect([keys(0, 2), keys(2, 0), keys(0, -1), keys(2, 3), keys(5, 0)]).toEqual([
      [1, 2, 0],
      [2, 0, 1],
      ...[0, 0, 0].map(() => [0, 1, 2]),
    ]);
    expect([freeKey([]), freeKey(layers), freeKey(moved(layers, 2, 0))]).toEqual([0, 3, 3]);
  });

  test('beside a stored version tells what differs', () => {
    const mine = draftOf(record);
    const stored = draftOf({ layers: [{ clone_url: URL, playbook: 'other.yml', commit: A }] });
    const rows = compareDrafts(mine, stored);
    expect(rows.find(({ what }) => what === 'Layer 1, Clone URL')).toMatchObject({ differs: false });
    expect(rows.find(({ what }) => what === 'Layer 1, Playbook')).toEqual({
      ...{ what: 'Layer 1, Playbook', mine: 'site.yml', stored: 'other.yml', differs: true },
    });
    expect(rows.find(({ what }) => what === 'Layer 2, Source')).toMatchObject({ mine: 'shop', stored: '' });
    expect(compareDrafts(mine, mine).some(({ differs }) => differs)).toBe(false);
  });
});

describe('an older version', () => {
  test('is restored at its commits, whatever its branches are now', () => {
    const version = {
      layers: [
        { clone_url: URL, playbook: 'site.yml', branch: 'main', commit: A },
        { clone_url: URL, playbook: 'b.yml', branch: 'main' },
      ],
      additional_inventory: { clone_url: URL, branch: 'main', commit: B },
      muster: { rollout: { canary: 1 } },
      // What only a version of the history has.
      ...{ id: '17-4', version: 'x', time: null, not_kept: [] },
    };
    expect(restoredBody(version)).toEqual({
      layers: [
        { clone_url: URL, playbook: 'site.yml', commit: A },
        { clone_url: URL, playbook: 'b.yml', branch: 'main' },
      ],
      additional_inventory: { clone_url: URL, commit: B },
      muster: { rollout: { canary: 1 } },
    });
  });

  test.each([
    [{ action: 'update', not_kept: [], layers: [] }, false, null],
    [{ action: 'update', not_kept: [], layers: [] }, true, 'It is what is wanted now'],
    [{ action: 'delete', not_kept: [], layers: null }, false, 'There was no configuration then'],
    [{ action: 'update', not_kept: ['layers'], layers: null }, false, 'The audit has not kept all of it (layers)'],
    [{ action: 'unknown', not_kept: [], layers: null }, false, 'Its layers are not known'],
  ] as const)('%j, current %j: %j', (version, isCurrent, refusal) => {
    const { layers } = version;
    const shown = { ...version, not_kept: [...version.not_kept], layers: layers === null ? null : [...layers] };
    expect(restoreRefusal(shown, isCurrent)).toBe(refusal);
  });

  test.each([
    [{ from: null, to: 1 }, 'added'],
    [{ from: 1, to: null }, 'removed'],
    [{ from: 1, to: 0, moved: true }, 'moved from place 2'],
    [{ from: 0, to: 0, members: [{ member: 'branch', before: null, after: 'x' }] }, 'changed'],
    [{ from: 0, to: 0 }, 'same'],
  ])('%j is %s', (layer, words) => expect(layerChange({ moved: false, title: '', members: [], ...layer })).toBe(words));

  test.each([
    [null, 'none'],
    ['', ''],
    [{ a: 1 }, '{"a":1}'],
  ])('the value %j is shown as %s', (value, text) => expect(valueText(value)).toBe(text));
});

describe('numbers in words', () => {
  const counts = [{ configuration: 'web', count: 3, configured: 2 }];
  test.each([
    ['web', counts, '2 of 3 (66 %)'],
    ['db', counts, 'no component'],
    ['db', Array.from({ length: 100 }, () => ({ configuration: 'x', count: 1, configured: 1 })), 'see its page'],
    ['web', undefined, ''],
  ])('share of %s', (name, known, text) => expect(shareText(name, known)).toBe(text));

  test('of rollouts', () => {
    expect(rolloutShare({ configured: 1, components: 3 })).toBe('1 of 3 (33 %)');
    expect(rolloutShare({ configured: 0, components: 0 })).toBe('0 of 0');
    expect(policyText({ canary: { ids: ['x1'] }, max_at_once: '10%', max_failed: 0 })).toBe(
      'canary {"ids":["x1"]}, 10% at once, stops above 0 failed',
    );
    expect([policyText({}), policyText(null)]).toEqual(['no limit', 'none: it is not current']);
  });

  test.each([
    [{ current: true, state: 'rolling' }, null, 'It is not stopped'],
    [{ current: true, state: 'stopped' }, 'It is stopped', null],
    [{ current: true, state: 'done' }, 'It is done', 'It is not stopped'],
    [{ current: false, state: 'done' }, 'It is not current', 'It is not current'],
  ] as const)('a rollout %j can be stopped: %j, resumed: %j', (rollout, stop, resume) => {
    expect([stopRefusal(rollout), resumeRefusal(rollout)]).toEqual([stop, resume]);
  });

  test('of drift', () => {
    expect([changedText({ changed: 2, uncertain: 0 }), changedText({ changed: 0, uncertain: 1 })]).toEqual([
      '2',
      '0 (and 1 uncertain)',
    ]);
  });
});

describe('commands', () => {
  const body = { layers: [{ clone_url: URL, playbook: "it's.yml" }] };
  test('keep what a shell would change', () => {
    expect(applyCommand('web', body, 'a b')).toBe(
      `printf %s '{"name":"web","layers":[{"clone_url":"${URL}","playbook":"it'\\''s.yml"}]}' | ./muster configuration apply -f - --reason 'a b'`,
    );
    expect(putCommand('http://h/v3/configurations/web', { layers: [] }, '"7-x$&"', '')).toContain(
      `curl -X PUT -H 'If-Match: "7-x$&"' -H "Authorization: Bearer $MUSTER_TOKEN"`,
    );
    expect(putCommand('http://h/v3/configurations/web', { layers: [] }, null, '')).toContain(
      "curl -X PUT -H 'If-None-Match: *' -H",
    );
  });

  test.each([
    [null, false, '', { filter: {} }, './muster drift check --all'],
    [
      'web',
      true,
      'why not',
      { configuration: 'web', reconfigure: true },
      "./muster drift check --config web --reconfigure --reason 'why not'",
    ],
  ])('a check of %j', (configuration, reconfigure, reason, sent, command) => {
    expect(checkBody(configuration, reconfigure)).toEqual(sent);
    expect(checkCommand(configuration, reconfigure, reason)).toBe(command);
  });
});

test.each([
  ['https://git.example.test/one.git', 'https://git.example.test/one.git'],
  ['https://user@git.example.test/one.git', 'https://git.example.test/one.git'],
  ['https://user:a@b@git.example.test/one@two.git', 'https://git.example.test/one@two.git'],
  ['https://git.example.test?at=a@b', 'https://git.example.test?at=a@b'],
  ['git@git.example.test:one.git', 'git@git.example.test:one.git'],
])('the address %j is shown as %j', (address, shown) => expect(withoutCredentials(address)).toBe(shown));
