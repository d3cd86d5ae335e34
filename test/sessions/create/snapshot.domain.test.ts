import { describe, expect, test } from '@jest/globals';
import type { Configuration } from '../../../domain/configurations/schema.ts';
import { buildSnapshot, type SnapshotInput, sourcesOf } from '../../../domain/sessions/snapshot.ts';

const A = 'a'.repeat(40);
const configuration: Configuration = {
  name: 'web',
  last_updated: '2026-11-21T10:00:00Z',
  layers: [
    { name: 'base', clone_url: 'https://git/base.git', playbook: 'site.yml', commit: A, branch: 'main' },
    { source: 'apps', playbook: 'app.yml', special_parameters: { ims_require_dkms: true } },
    { clone_url: 'https://git/base.git', playbook: '' },
  ],
};
const options = {
  default_playbook: 'site.yml',
  additional_inventory_url: '',
  additional_inventory_source: '',
};
const input: SnapshotInput = {
  configurationName: 'web',
  configuration,
  debugNames: true,
  limit: '',
  ansibleConfig: 'cfg',
  options,
  sources: new Map([
    ['apps', { clone_url: 'https://git/apps.git' }],
    ['inventory', { clone_url: 'https://git/inventory.git' }],
  ]),
};

test('layers with the URL of their source, their commit and index', () => {
  expect(buildSnapshot(input)).toEqual({
    layers: [
      {
        index: 0,
        name: 'base',
        url: 'https://git/base.git',
        source: null,
        commit: A,
        playbook: 'site.yml',
        require_dkms: true,
      },
      {
        index: 1,
        name: null,
        url: 'https://git/apps.git',
        source: 'apps',
        commit: null,
        playbook: 'app.yml',
        require_dkms: true,
      },
      {
        index: 2,
        name: null,
        url: 'https://git/base.git',
        source: null,
        commit: null,
        playbook: 'site.yml',
        require_dkms: true,
      },
    ],
    additional_inventory: null,
    debug_playbook: null,
    ansible_config: 'cfg',
  });
});

test('the tenant whose configuration it is', () => {
  const ofTenant = { ...configuration, tenant_name: 'blue' };
  expect(buildSnapshot({ ...input, configuration: ofTenant }).tenant_name).toBe('blue');
});

test('DKMS counts for images when any layer of the configuration asks for it, whatever is selected', () => {
  const dkms = (limit: string, of = configuration) =>
    buildSnapshot({ ...input, limit, configuration: of }).layers.map((layer) => layer.require_dkms);
  expect(dkms('0')).toEqual([true]);
  expect(dkms('')).toEqual([true, true, true]);
  expect(dkms('0', { ...configuration, layers: configuration.layers.slice(0, 1) })).toEqual([false]);
});

test('a limit keeps the index; one that selects nothing gives no layers', () => {
  expect(buildSnapshot({ ...input, limit: '2,1' }).layers.map((layer) => layer.index)).toEqual([1, 2]);
  expect(buildSnapshot({ ...input, limit: 'nothing' }).layers).toEqual([]);
});

describe('additional inventory', () => {
  const both = {
    ...options,
    additional_inventory_url: 'https://git/url.git',
    additional_inventory_source: 'inventory',
  };
  const own = {
    ...configuration,
    additional_inventory: { clone_url: 'https://git/own.git', commit: A, branch: 'main' },
  };
  test.each([
    [
      "the configuration's own wins",
      { configuration: own, options: both },
      { url: 'https://git/own.git', source: null, commit: A },
    ],
    [
      'then the option for a source',
      { options: both },
      { url: 'https://git/inventory.git', source: 'inventory', commit: null },
    ],
    [
      'then the option for a URL',
      { options: { ...both, additional_inventory_source: '' } },
      { url: 'https://git/url.git', source: null, commit: null },
    ],
    [
      'also by source in the configuration',
      { configuration: { ...configuration, additional_inventory: { source: 'apps' } } },
      { url: 'https://git/apps.git', source: 'apps', commit: null },
    ],
  ])('%s', (_name, change, inventory) => {
    expect(buildSnapshot({ ...input, ...change }).additional_inventory).toEqual(inventory);
  });
  test('names the sources that have to be read', () => {
    expect(sourcesOf({ ...configuration, additional_inventory: { source: 'x' } }, both)).toEqual([
      'apps',
      'x',
      'inventory',
    ]);
    expect(sourcesOf(null, options)).toEqual([]);
  });
});

describe('names without a configuration', () => {
  test('debug_ names run a built-in playbook', () => {
    const snapshot = buildSnapshot({ ...input, configurationName: 'debug_fail', configuration: null });
    expect(snapshot).toMatchObject({ layers: [], debug_playbook: 'fail' });
  });
  test('a stored configuration of such a name wins', () => {
    const stored = { ...configuration, name: 'debug_fail' };
    const snapshot = buildSnapshot({ ...input, configurationName: 'debug_fail', configuration: stored });
    expect(snapshot.debug_playbook).toBeNull();
    expect(snapshot.layers).toHaveLength(3);
  });
  test('others are refused', () => {
    expect(() => buildSnapshot({ ...input, configurationName: 'nope', configuration: null })).toThrow(
      expect.objectContaining({ code: 'configuration_invalid', message: 'No configurations exist named nope' }),
    );
  });
  test('a source that is gone is refused', () => {
    expect(() => buildSnapshot({ ...input, sources: new Map() })).toThrow(
      expect.objectContaining({ code: 'source_unknown', message: 'The source apps does not exist.' }),
    );
  });
});
