/** What `emcoctl apply -f`, `get -f` and `delete -f` send for a file with one composite app of two apps, in its order and form. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { archiveOf } from './archive-fixture.ts';
import { FORM_HEADERS, formOfArchive, kubeconfigOf } from './cluster-fixtures.ts';
import { MANIFESTS, SECRET_MANIFEST } from './placement-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

/** One document of the file. */
interface Entry {
  anchor: string;
  name?: string;
  spec?: object;
  label?: string;
  file?: Buffer;
}

const APP = 'projects/proj1/composite-apps/collection/v1';
const GROUP = `${APP}/deployment-intent-groups/collection-group`;
const PLACEMENT = `${GROUP}/generic-placement-intents/collection-placement`;
const CLOUD = 'projects/proj1/logical-clouds';
const placed = (app: string) => {
  const allOf = [{ 'provider-name': 'provider1', 'cluster-label-name': 'edge-cluster' }];
  return { 'app-name': app, intent: { allOf } };
};

async function entries(): Promise<Entry[]> {
  const archive = (text: string) => archiveOf([['app/templates/all.yaml', text]]);
  const profile = await archiveOf([['manifest.yaml', 'version: v1\n']]);
  const profiles = `${APP}/composite-profiles/collection-profile/profiles`;
  const groupSpec = { profile: 'collection-profile', version: 'r1', 'logical-cloud': 'default', 'override-values': [] };
  const reference = { 'cluster-provider': 'provider1', 'cluster-name': 'cluster1', 'loadbalancer-ip': '0.0.0.0' };
  return [
    { anchor: 'controllers', name: 'rsync', spec: { host: 'rsync', port: 9031 } },
    { anchor: 'cluster-providers', name: 'provider1' },
    { anchor: 'cluster-providers/provider1/clusters', name: 'cluster1', file: Buffer.from(kubeconfigOf()) },
    { anchor: 'cluster-providers/provider1/clusters/cluster1/labels', label: 'edge-cluster' },
    { anchor: 'projects', name: 'proj1' },
    { anchor: CLOUD, name: 'default', spec: { level: '0' } },
    { anchor: `${CLOUD}/default/cluster-references`, name: 'lc-cl-1', spec: reference },
    { anchor: `${CLOUD}/default/instantiate` },
    { anchor: 'projects/proj1/composite-apps', name: 'collection', spec: { version: 'v1' } },
    { anchor: `${APP}/apps`, name: 'agent', file: await archive(MANIFESTS) },
    { anchor: `${APP}/apps`, name: 'store', file: await archive(SECRET_MANIFEST) },
    { anchor: `${APP}/composite-profiles`, name: 'collection-profile' },
    { anchor: profiles, name: 'agent-profile', spec: { 'app-name': 'agent' }, file: profile },
    { anchor: profiles, name: 'store-profile', spec: { 'app-name': 'store' }, file: profile },
    { anchor: `${APP}/deployment-intent-groups`, name: 'collection-group', spec: groupSpec },
    {
      anchor: `${GROUP}/intents`,
      name: 'collection-intent',
      spec: { intent: { genericPlacementIntent: 'collection-placement' } },
    },
    { anchor: `${GROUP}/generic-placement-intents`, name: 'collection-placement' },
    { anchor: `${PLACEMENT}/app-intents`, name: 'agent-placement', spec: placed('agent') },
    { anchor: `${PLACEMENT}/app-intents`, name: 'store-placement', spec: placed('store') },
    { anchor: `${GROUP}/approve` },
    { anchor: `${GROUP}/instantiate` },
  ];
}

const CALL = /\/(approve|instantiate)$/;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Every body has metadata, where need be with an empty name. */
function bodyOf({ name, spec, label }: Entry): object {
  const texts = name === undefined ? {} : { description: 'test', userData1: 'test1', userData2: 'test2' };
  return {
    metadata: { name: name ?? '', ...texts },
    ...(label === undefined ? {} : { 'label-name': label }),
    ...(spec === undefined ? {} : { spec }),
  };
}

/** Path of the record that an entry makes; a composite app's has its version. */
function pathOf({ anchor, name, label, spec }: Entry): string {
  const version = anchor.endsWith('/composite-apps') ? `/${(spec as { version: string }).version}` : '';
  return `/v2/${anchor}/${name ?? label}${version}`;
}

async function applied(entry: Entry): Promise<number> {
  const url = `/v2/${entry.anchor}`;
  const { status } =
    entry.file === undefined
      ? await api.call('POST', url, bodyOf(entry))
      : await api.call('POST', url, formOfArchive(bodyOf(entry), entry.file), FORM_HEADERS);
  return status;
}

async function read(entry: Entry): Promise<number> {
  const isFile = /\/(apps|profiles|clusters)$/.test(entry.anchor);
  return (await api.call('GET', pathOf(entry), undefined, isFile ? { accept: 'application/json' } : {})).status;
}

/** In reverse order; an instantiate becomes a terminate without a byte, and nothing is waited for. */
async function deleted(entry: Entry): Promise<number | null> {
  if (entry.anchor.endsWith('/approve')) return null;
  if (entry.anchor.endsWith('/instantiate')) {
    return (await api.call('POST', `/v2/${entry.anchor.replace(/instantiate$/, 'terminate')}`, '', JSON_TYPE)).status;
  }
  return (await api.call('DELETE', pathOf(entry))).status;
}

test('a file is applied, read and deleted as emcoctl does it', async () => {
  const all = await entries();
  for (const entry of all) {
    const expected = !CALL.test(entry.anchor) ? 201 : entry.anchor.startsWith(CLOUD) ? 200 : 202;
    expect([entry.anchor, await applied(entry)]).toEqual([entry.anchor, expected]);
  }
  const records = all.filter(({ anchor }) => !CALL.test(anchor));
  for (const entry of records) expect([entry.anchor, await read(entry)]).toEqual([entry.anchor, 200]);
  const status = async () => (await api.call('GET', `/v2/${GROUP}/status?output=summary`)).body;
  const { states } = await status();
  const { instance } = states.actions.at(-1);
  const engine = { db: api.database.db, clock: () => api.now.value };
  await beginPhase(engine, instance);
  await engine.db
    .updateTable('context_resources')
    .set({ status: 'Applied', attempted: true })
    .where('context', '=', instance)
    .execute();
  await finishPhase(engine, instance, 'apply');
  expect(await status()).toMatchObject({ status: 'Instantiated', 'rsync-status': { Applied: 3 } });

  // Everything that is used by the termination that goes on is refused, and stays.
  const first = [];
  for (const entry of all.toReversed()) first.push(await deleted(entry));
  expect(first[0]).toBe(202);
  expect(first.slice(2).every((code) => code === 409 || code === 204)).toBe(true);
  expect(await status()).toMatchObject({ status: 'Terminating' });
  await beginPhase(engine, instance);
  await engine.db.updateTable('context_resources').set({ status: 'Deleted' }).where('context', '=', instance).execute();
  await finishPhase(engine, instance, 'delete');

  // Sent again: what is gone already is 404, and the terminate is refused.
  for (const entry of all.toReversed()) {
    const code = await deleted(entry);
    expect([entry.anchor, code === null || [204, 200, 404, 409].includes(code)]).toEqual([entry.anchor, true]);
  }
  for (const entry of records) expect([entry.anchor, await read(entry)]).toEqual([entry.anchor, 404]);
});
