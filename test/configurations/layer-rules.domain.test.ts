import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conflictingLayers, layerMistake, layersOf, withoutEmpty } from '../../domain/configurations/layer-rules.ts';
import type { Layer } from '../../domain/configurations/schema.ts';
import { ownerOfPut, refuseForeign } from '../../domain/configurations/tenancy.ts';

const A = 'a'.repeat(40);
const URLS = new Map([
  ['t', 'u of t'],
  ['also t', 'u of t'],
]);

test.each<[string, Partial<Layer>, string | null]>([
  ['a URL', { clone_url: 'u' }, null],
  ['a source', { source: 'known' }, null],
  ['a URL and an empty source', { clone_url: 'u', source: '' }, null],
  ['an empty URL and a source', { clone_url: '', source: 'known' }, null],
  ['neither branch nor commit', { clone_url: 'u' }, null],
  ['an empty branch and a commit', { clone_url: 'u', branch: '', commit: A }, null],
  ['both repositories', { clone_url: 'u', source: 'known' }, 'source_or_url'],
  ['both repositories, unknown', { clone_url: 'u', source: 'other' }, 'source_or_url'],
  ['no repository', {}, 'source_or_url'],
  ['empty repositories', { clone_url: '', source: '' }, 'source_or_url'],
  ['no repository, branch and commit', { branch: 'b', commit: A }, 'source_or_url'],
  ['branch and commit', { clone_url: 'u', branch: 'b', commit: A }, 'branch_and_commit'],
  ['branch and commit of an unknown source', { source: 'other', branch: 'b', commit: A }, 'branch_and_commit'],
  ['an unknown source', { source: 'other' }, 'source_unknown'],
  ['a playbook in a folder', { clone_url: 'u', playbook: './plays/../plays/..site.yml' }, null],
  ['a playbook above the repository', { clone_url: 'u', playbook: '../x.yml' }, 'bad_request'],
  ['a playbook that climbs out later', { clone_url: 'u', playbook: 'plays/../../x.yml' }, 'bad_request'],
  ['an absolute playbook', { clone_url: 'u', playbook: '/etc/x.yml' }, 'bad_request'],
])('a layer with %s', (_title, layer, code) => {
  const mistake = layerMistake({ layer, path: 'layers.3' }, new Set(['known']));
  expect(mistake?.code ?? null).toBe(code);
});

test('layers come before the additional inventory, each with its place', () => {
  const body = { layers: [{ playbook: 'a' }, { playbook: 'b' }], additional_inventory: { clone_url: 'u' } };
  expect(layersOf(body).map(({ path }) => path)).toEqual(['layers.0', 'layers.1', 'additional_inventory']);
});

test.each<[string, Layer[], boolean]>([
  ['none', [], false],
  ['one', [{ clone_url: 'u', playbook: 'p' }], false],
  [
    'two playbooks',
    [
      { clone_url: 'u', playbook: 'p' },
      { clone_url: 'u', playbook: 'q' },
    ],
    false,
  ],
  [
    'two repositories',
    [
      { clone_url: 'u', playbook: 'p' },
      { clone_url: 'v', playbook: 'p' },
    ],
    false,
  ],
  [
    'a source and a URL',
    [
      { source: 's', playbook: 'p' },
      { clone_url: 'u', playbook: 'p' },
    ],
    false,
  ],
  [
    'a source and its URL',
    [
      { clone_url: 'u of t', playbook: 'p' },
      { source: 't', playbook: 'p' },
    ],
    true,
  ],
  [
    'two sources of one URL',
    [
      { source: 't', playbook: 'p' },
      { source: 'also t', playbook: 'p' },
    ],
    true,
  ],
  [
    'a source and a URL that is its name',
    [
      { source: 't', playbook: 'p' },
      { clone_url: 't', playbook: 'p' },
    ],
    false,
  ],
  [
    'a source and its URL, but two playbooks',
    [
      { clone_url: 'u of t', playbook: 'p' },
      { source: 't', playbook: 'q' },
    ],
    false,
  ],
  [
    'equal URLs',
    [
      { clone_url: 'u', playbook: 'p', commit: A },
      { clone_url: 'u', playbook: 'p' },
    ],
    true,
  ],
  [
    'equal sources',
    [
      { source: 's', playbook: 'p' },
      { source: 's', playbook: 'p' },
    ],
    true,
  ],
  ['no playbooks', [{ clone_url: 'u' }, { clone_url: 'u' }], true],
  ['no playbook and the default one', [{ clone_url: 'u' }, { clone_url: 'u', playbook: 'site.yml' }], true],
  [
    'an empty playbook and the default one',
    [
      { clone_url: 'u', playbook: '' },
      { clone_url: 'u', playbook: 'site.yml' },
    ],
    true,
  ],
  ['no playbook and another one', [{ clone_url: 'u' }, { clone_url: 'u', playbook: 'other.yml' }], false],
])('layers with %s conflict: %#', (_title, layers, conflict) => {
  expect(conflictingLayers(layers, URLS, 'site.yml')?.code ?? null).toBe(conflict ? 'conflicting_layers' : null);
});

test('layers conflict exactly when fewer different pairs than layers are left', () => {
  const word = fc.constantFrom('a', 'b', '"', ',', 'a","b');
  const layer = fc.record({ clone_url: word, playbook: fc.option(word, { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 6 }), (layers) => {
      const pairs = layers.map(({ clone_url, playbook }) =>
        JSON.stringify({ clone_url, playbook: playbook ?? 'site.yml' }),
      );
      expect(conflictingLayers(layers, new Map(), 'site.yml') !== null).toBe(new Set(pairs).size < layers.length);
    }),
  );
});

test('empty texts go, everything else stays', () => {
  const layer = { clone_url: '', source: 's', branch: '', playbook: '', name: 'n', commit: A };
  expect(withoutEmpty(layer)).toEqual({ source: 's', playbook: '', name: 'n', commit: A });
});

describe('tenants', () => {
  test.each<[string | null, string | undefined, string | undefined]>([
    [null, undefined, undefined],
    [null, '', ''],
    [null, 'any', 'any'],
    ['blue', undefined, 'blue'],
    ['blue', '', 'blue'],
    ['blue', 'blue', 'blue'],
  ])('what %j writes as %j belongs to %j', (tenant, asked, owner) => expect(ownerOfPut(tenant, asked)).toBe(owner));
  test.each(['red', 'Blue', ' ', 'blue '])('blue cannot write as %j', (asked) => {
    expect(() => ownerOfPut('blue', asked)).toThrow(expect.objectContaining({ code: 'tenant_forbidden' }));
  });
  test.each<[string | null, string | undefined, boolean]>([
    [null, undefined, true],
    [null, 'blue', true],
    ['blue', 'blue', true],
    ['blue', 'red', false],
    ['blue', 'Blue', false],
    ['blue', '', false],
    ['blue', undefined, false],
  ])('%j may touch what belongs to %j: %s', (tenant, tenant_name, may) => {
    const record = { name: 'c', ...(tenant_name === undefined ? {} : { tenant_name }) };
    const touch = () => refuseForeign(tenant, record);
    if (may) expect(touch).not.toThrow();
    else expect(touch).toThrow(expect.objectContaining({ code: 'tenant_forbidden' }));
  });
});
