import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ARCHIVE_LIMITS,
  archiveCheck,
  checkNoChart,
  isManifestFile,
} from '../../../domain/deployments/archive-rules.ts';
import { MASKED, manifestToApply, withoutSecretValues } from '../../../domain/deployments/manifest-cleaning.ts';
import { INSTALL_ORDER, inInstallOrder } from '../../../domain/deployments/manifest-order.ts';
import { networkManifests } from '../../../domain/deployments/network-objects.ts';
import { type ReadDocument, readManifests } from '../../../domain/deployments/read-manifests.ts';
import { refusalOf } from './refusal.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

const object = (kind: string, name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});
const documents = (...data: unknown[]): ReadDocument[] =>
  data.map((each, document) => ({ data: each, path: 'a.yaml', document }));
const keys = (...data: unknown[]) => readManifests(documents(...data)).manifests.map(({ key }) => key);

describe('an archive', () => {
  const check = (...entries: [path: string, type?: string, size?: number][]) =>
    refusalOf(() => {
      const next = archiveCheck();
      for (const [path, type = 'file', size = 1] of entries) next({ path, type, size });
    });

  test.each<[string, string, number]>([
    ['../a.yaml', 'file', 1],
    ['a/../../b.yaml', 'file', 1],
    ['/etc/passwd', 'file', 1],
    ['a\\..\\b.yaml', 'file', 1],
    ['link', 'symlink', 0],
    ['hard', 'link', 0],
    ['dev', 'character-device', 0],
    ['pipe', 'fifo', 0],
    ['a.yaml', 'file', ARCHIVE_LIMITS.manifestBytes + 1],
    ['big.bin', 'file', ARCHIVE_LIMITS.unpackedBytes + 1],
  ])('with %s (%s) is refused', (path, type, size) => {
    expect(check([path, type, size])?.code).toBe('render_failed');
  });

  test('may hold other files, folders and names with dots', () => {
    expect(
      check(['a/', 'directory', 0], ['a/..b.yaml'], ['README.md', 'file', ARCHIVE_LIMITS.manifestBytes + 1]),
    ).toBeNull();
    expect(['a.yaml', 'b/c.YML', 'yaml', 'a.yaml.txt'].map(isManifestFile)).toEqual([true, true, false, false]);
  });

  test.each<[string, string[], boolean]>([
    ['a chart at its top', ['templates/a.yaml', 'Chart.yaml', 'values.yaml'], true],
    ['a chart in a folder', ['./deploy/agent/Chart.yaml', './deploy/agent/templates/NOTES.txt'], true],
    ['a chart in a folder of templates', ['templates/a/Chart.yaml', 'templates/a/templates/b.yaml'], true],
    ['a Chart.yaml without templates', ['Chart.yaml', 'other/templates/a.yaml'], false],
    ['templates without a Chart.yaml', ['templates/a.yaml', 'MyChart.yaml'], false],
  ])('with %s: %j (refused: %p)', (_what, paths, isRefused) => {
    const refused = refusalOf(() => checkNoChart(paths));
    expect(refused?.code).toBe(isRefused ? 'render_failed' : undefined);
    if (isRefused) expect(refused?.detail).toContain("pack the output of 'helm template'");
  });

  test('is limited in entries and in all bytes together', () => {
    const many = Array.from({ length: ARCHIVE_LIMITS.entries + 1 }, (_, index) => [`${index}`] as [string]);
    expect(check(...many)?.detail).toContain('more than 10000 entries');
    const half = Math.ceil(ARCHIVE_LIMITS.unpackedBytes / 2) + 1;
    expect(check(['one', 'file', half], ['two', 'file', half])?.detail).toContain('larger than');
  });
});

describe('documents', () => {
  test('become manifests in install order, lists flattened', () => {
    const list = { apiVersion: 'v1', kind: 'List', items: [object('Service', 's'), object('ConfigMap', 'c')] };
    expect(keys(object('Widget', 'w'), list, null, object('Namespace', 'n'))).toEqual([
      'n+Namespace',
      'c+ConfigMap',
      's+Service',
      'w+Widget',
    ]);
  });

  test('that say no kind are left out with a warning, empty ones without', () => {
    const read = readManifests(documents(null, { values: 1 }, 'text', object('ConfigMap', 'c')));
    expect(read.manifests).toHaveLength(1);
    expect(read.warnings).toEqual([
      'a.yaml, document 1 has no apiVersion and kind and was left out',
      'a.yaml, document 2 has no apiVersion and kind and was left out',
    ]);
  });

  test.each<[string, unknown]>([
    ['no metadata.name', { apiVersion: 'v1', kind: 'ConfigMap' }],
    ['cannot be part of a path', object('ConfigMap', 'a/b')],
    ['cannot be part of a path', object('ConfigMap', 'a%2fb')],
    ['cannot be part of a path', object('ConfigMap', '..')],
    ['cannot be part of a path', object('ConfigMap', '.')],
    ['cannot be part of a path', { ...object('ConfigMap', 'c'), metadata: { name: 'c', namespace: 'a/b' } }],
    ['selects by the label', object('Service', 's', { spec: { selector: { 'emco/deployment-id': '1-a' } } })],
    [
      'selects by the label',
      object('Deployment', 'd', { spec: { selector: { matchLabels: { 'emco/deployment-id': '1-a' } } } }),
    ],
    [
      'selects by the label',
      object('Deployment', 'd', {
        spec: { selector: { matchExpressions: [{ key: 'emco/deployment-id', operator: 'Exists' }] } },
      }),
    ],
    ['no metadata.name', { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Secret' }] }],
  ])('are refused: %s', (words, data) => {
    const refused = refusalOf(() => keys(object('Namespace', 'n'), data));
    expect(refused).toMatchObject({ code: 'render_failed', detail: expect.stringContaining(words) });
    expect(refused?.detail).toContain('a.yaml, document 1');
  });

  test('may share a key, but not an identity', () => {
    const other = { ...object('Role', 'r'), apiVersion: 'rbac.example/v1', metadata: { name: 'r', namespace: 'x' } };
    expect(keys(object('Role', 'r'), other)).toEqual(['r+Role', 'r+Role+rbac.example+x']);
    const twice = refusalOf(() => keys(object('Role', 'r'), { ...object('Role', 'r'), apiVersion: 'v2' }));
    expect(twice).toMatchObject({
      code: 'render_failed',
      detail: "Role 'r' is there twice: in a.yaml, document 0 and in a.yaml, document 1",
    });
  });

  test('of one kind keep their order', () => {
    const kinds = fc.constantFrom(...INSTALL_ORDER, 'Widget', 'Gadget');
    const each = fc.record({ kind: kinds, path: fc.constantFrom('a', 'b'), document: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(each), (given) => {
        const ordered = inInstallOrder(given);
        expect(ordered).toHaveLength(given.length);
        const places = ordered.map(({ kind }) =>
          INSTALL_ORDER.includes(kind) ? INSTALL_ORDER.indexOf(kind) : INSTALL_ORDER.length,
        );
        expect(places).toEqual(places.toSorted((one, other) => one - other));
      }),
    );
  });
});

describe('a manifest to apply', () => {
  const template = { metadata: { labels: { app: 'store' } }, spec: {} };

  test('has our label wherever pods are made from it, and nothing of the server', () => {
    const given = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'd',
        uid: 'x',
        managedFields: [],
        labels: { 'emco/deployment-id': 'other' },
        annotations: null,
      },
      spec: { template, paused: null },
      status: { replicas: 1 },
    };
    expect(manifestToApply(given, '12-store', 'obs')).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'obs', labels: { 'emco/deployment-id': '12-store' } },
      spec: { template: { metadata: { labels: { app: 'store', 'emco/deployment-id': '12-store' } }, spec: {} } },
    });
    expect(given.metadata.labels['emco/deployment-id']).toBe('other');
    const cron = { kind: 'CronJob', spec: { jobTemplate: { spec: { template } } } };
    expect(JSON.stringify(manifestToApply(cron, '12-store', null)).match(/12-store/g)).toHaveLength(2);
  });

  test('keeps the namespace that it names', () => {
    const own = { kind: 'ConfigMap', metadata: { name: 'c', namespace: 'own' } };
    expect(manifestToApply(own, 'l', 'obs')).toMatchObject({ metadata: { namespace: 'own' } });
    expect(manifestToApply({ kind: 'Namespace', metadata: { name: 'n' } }, 'l', null).metadata).not.toHaveProperty(
      'namespace',
    );
  });

  test('is shown without the values of a Secret', () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      data: { a: 'aHVudGVyMg==' },
      stringData: { b: 'hunter2' },
      type: 'Opaque',
    };
    expect(withoutSecretValues(secret)).toEqual({ ...secret, data: { a: MASKED }, stringData: { b: MASKED } });
    expect(withoutSecretValues({ kind: 'Secret', apiVersion: 'v1', data: 'aHVudGVyMg==' }).data).toBe(MASKED);
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } };
    expect(withoutSecretValues(configMap)).toBe(configMap);
    const foreign = { apiVersion: 'example.org/v1', kind: 'Secret', data: { a: 'b' } };
    expect(withoutSecretValues(foreign)).toBe(foreign);
  });

  test('is shown without the values that kubectl repeats in an annotation, or under a version that means the same', () => {
    const metadata = { name: 's', annotations: { [LAST_APPLIED]: '{"data":{"a":"aHVudGVyMg=="}}', team: 'a' } };
    const shown = withoutSecretValues({ apiVersion: 'v1', kind: 'Secret', metadata, data: { a: 'aHVudGVyMg==' } });
    expect(shown).toEqual({
      ...{ apiVersion: 'v1', kind: 'Secret', data: { a: MASKED } },
      metadata: { name: 's', annotations: { [LAST_APPLIED]: MASKED, team: 'a' } },
    });
    expect(JSON.stringify(withoutSecretValues({ apiVersion: '/v1', kind: 'Secret', data: { a: 'x' } }))).toContain(
      MASKED,
    );
  });

  test.each(['Secret', 'ConfigMap'])('of kind %s is taken without what kubectl repeats of it, a list too', (kind) => {
    const of = (name: string, annotations: object) => ({ apiVersion: 'v1', kind, metadata: { name, annotations } });
    const items = [of('a', { [LAST_APPLIED]: '{"data":{}}' }), of('b', { [LAST_APPLIED]: '{}', team: 'b' })];
    const read = readManifests([{ path: 'l.yaml', document: 0, data: { apiVersion: 'v1', kind: 'List', items } }]);
    expect(read.manifests.map(({ manifest }) => manifest.metadata)).toEqual([
      { name: 'a' },
      { name: 'b', annotations: { team: 'b' } },
    ]);
  });
});

test('network intents become objects, networks first', () => {
  const spec = { cniType: 'ovn4nfv', vlan: { vlanID: '100', logicalInterfaceName: 'eth0.100' } };
  const made = networkManifests([
    { kind: 'provider-network', metadata: { name: 'up-net', description: 'up' }, spec },
    { kind: 'network', metadata: { name: 'data-net', description: '' }, spec: { cniType: 'ovn4nfv' } },
  ]);
  expect(made).toEqual([
    {
      apiVersion: 'k8s.plugin.opnfv.org/v1alpha1',
      kind: 'Network',
      metadata: { name: 'data-net' },
      spec: { cniType: 'ovn4nfv' },
    },
    {
      apiVersion: 'k8s.plugin.opnfv.org/v1alpha1',
      kind: 'ProviderNetwork',
      metadata: { name: 'up-net', annotations: { 'muster/description': 'up' } },
      spec: { cniType: 'ovn4nfv', vlan: { vlanId: '100', logicalInterfaceName: 'eth0.100' } },
    },
  ]);
});
