import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { archiveOf } from './archive-fixture.ts';
import { FORM_HEADERS, formOfArchive, kubeconfigOf, named } from './cluster-fixtures.ts';
import {
  appForm,
  groupBody,
  MANIFESTS,
  type Made,
  makeDeployment,
  SECRET_MANIFEST,
  type Wanted,
} from './placement-fixtures.ts';

let api: TokenApi;
let count = 0;
/** Ids of the workflows that Temporal was told of. */
const told: string[] = [];
beforeAll(async () => {
  api = await createTokenApi({ tell: async (wanted) => void told.push(...wanted.map(({ workflowId }) => workflowId)) });
});
afterAll(() => api.close());

const admin = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.admin, method, url, body, headers);
const operator = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.operator, method, url, body, headers);
const deployment = async (wanted: Wanted = {}) => makeDeployment(admin, `d-${++count}`, wanted);
const statusOf = async (group: string) => (await operator('GET', `${group}/status?output=summary`)).body;
const codeOf = async (method: string, url: string, body?: unknown) => {
  const answer = await operator(method, url, body);
  return [answer.status, answer.body?.code ?? null];
};

describe('a deployment intent group', () => {
  test('is Created, approved once, instantiated with a frozen AppContext, and Temporal is told', async () => {
    const { group } = await deployment({ clusters: { north: kubeconfigOf(), south: kubeconfigOf() } });
    expect(await codeOf('POST', `${group}/instantiate`)).toEqual([409, 'invalid_state']);
    expect(await statusOf(group)).toEqual({
      ...{ project: `d-${count}`, 'composite-app-name': 'telemetry', 'composite-app-version': 'v1' },
      ...{ 'composite-profile-name': 'base', name: 'edge', state: 'Created' },
      states: { actions: [{ state: 'Created', instance: '', time: expect.any(String) }] },
    });
    // EMCO's client sends this body, or none with a type.
    expect((await operator('POST', `${group}/approve`, { metadata: { name: '' } })).status).toBe(202);
    const empty = await operator('POST', `${group}/approve`, '', { 'content-type': 'application/json' });
    expect([empty.status, empty.body]).toEqual([202, { state: 'Approved', instance: '' }]);
    const accepted = await operator('POST', `${group}/instantiate`);
    expect([accepted.status, accepted.body.state]).toEqual([202, 'Instantiated']);
    const id = accepted.body.instance;
    expect(id).toMatch(/^[0-9]{1,19}$/);
    expect(told).toContain(contextWorkflowId(id));
    const status = await statusOf(group);
    expect(status).toMatchObject({ status: 'Instantiating', 'rsync-status': { Pending: 4 } });
    expect(status.states.actions.map(({ state }: { state: string }) => state)).toEqual([
      'Created',
      'Approved',
      'Instantiated',
    ]);
    const resources = await api.database.db
      .selectFrom('context_resources')
      .select(['key', 'cluster'])
      .where('context', '=', id)
      .orderBy('cluster')
      .orderBy('number')
      .execute();
    expect(resources.map(({ key, cluster }) => `${cluster} ${key}`)).toEqual([
      ...['north cfg+ConfigMap', 'north agent+Service', 'south cfg+ConfigMap', 'south agent+Service'],
    ]);
  });

  test('is frozen: what changes afterwards changes nothing, and what it uses stays', async () => {
    const { group, compositeApp, cloud, provider } = await deployment();
    await operator('POST', `${group}/approve`);
    await operator('POST', `${group}/instantiate`);
    expect(await codeOf('DELETE', `${compositeApp}/apps/agent`)).toEqual([409, 'in_use']);
    expect(await codeOf('POST', `${cloud}/terminate`)).toEqual([409, 'in_use']);
    const cluster = await admin('DELETE', `/v2/cluster-providers/${provider}/clusters/north`);
    expect([cluster.status, cluster.body.code]).toEqual([409, 'in_use']);
    await operator('POST', `${compositeApp}/apps`, await appForm('later'), FORM_HEADERS);
    expect((await statusOf(group))['rsync-status']).toEqual({ Pending: 2 });
    expect(await codeOf('POST', `${group}/instantiate`)).toEqual([409, 'invalid_state']);
    expect(await codeOf('POST', `${group}/intents`, { ...named('x'), spec: { intent: {} } })).toEqual([
      409,
      'invalid_state',
    ]);
    expect(await codeOf('DELETE', `${group}?cascade=true`)).toEqual([409, 'invalid_state']);
  });

  test('of two calls at the same moment one instantiates it', async () => {
    const { group } = await deployment();
    await operator('POST', `${group}/approve`);
    const answers = await Promise.all([1, 2, 3].map(() => operator('POST', `${group}/instantiate`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });

  test('is terminated while it is applied: PreTerminate until the calls in flight have ended', async () => {
    const { group } = await deployment();
    await operator('POST', `${group}/approve`);
    const { instance } = (await operator('POST', `${group}/instantiate`)).body;
    const terminated = await operator('POST', `${group}/terminate`, '', { 'content-type': 'application/json' });
    expect(terminated.body).toEqual({ state: 'Terminated', instance });
    expect(await statusOf(group)).toMatchObject({ state: 'Terminated', status: 'PreTerminate' });
    expect(await codeOf('POST', `${group}/approve`)).toEqual([409, 'context_busy']);
    expect(await codeOf('DELETE', group)).toEqual([409, 'context_busy']);
  });

  test('is set back to Created by a change of its intents', async () => {
    const { group } = await deployment();
    await operator('POST', `${group}/approve`);
    expect(await codeOf('DELETE', `${group}/intents/all`)).toEqual([204, null]);
    expect(await statusOf(group)).toMatchObject({ state: 'Created' });
    await operator('POST', `${group}/approve`);
    expect(await codeOf('POST', `${group}/instantiate`)).toEqual([400, 'no_placement_intent']);
  });

  test('is removed with its intents, or after them', async () => {
    const { group } = await deployment();
    expect(await codeOf('DELETE', group)).toEqual([409, 'has_children']);
    expect(await codeOf('DELETE', `${group}?cascade=true`)).toEqual([204, null]);
    expect(await codeOf('GET', group)).toEqual([404, 'not_found']);
  });

  test('goes nowhere without a ready cloud, a cluster, or room in the label', async () => {
    const away = await deployment();
    await operator('POST', `${away.cloud}/terminate`);
    await operator('POST', `${away.group}/approve`);
    expect(await codeOf('POST', `${away.group}/instantiate`)).toEqual([409, 'logical_cloud_not_ready']);
    const long = await deployment({ apps: { ['a'.repeat(44)]: MANIFESTS } });
    await operator('POST', `${long.group}/approve`);
    expect(await codeOf('POST', `${long.group}/instantiate`)).toEqual([400, 'label_too_long']);
    const unplaced = await deployment();
    await operator('DELETE', `${unplaced.group}/generic-placement-intents/where/app-intents/agent-where`);
    await operator('POST', `${unplaced.group}/approve`);
    expect(await codeOf('POST', `${unplaced.group}/instantiate`)).toEqual([400, 'no_clusters']);
    expect(await statusOf(unplaced.group)).toMatchObject({ state: 'Approved' });
    const contexts = await api.database.db
      .selectFrom('deployment_contexts')
      .select('id')
      .where('owner', '=', unplaced.group.slice('/v2/'.length))
      .execute();
    expect(contexts).toEqual([]);
  });

  test.each([
    ['unknown members of its settings', { maxRetry: 3 }, 400, 'bad_request'],
    ['retries that are no number', { maxRetries: 'many' }, 400, 'bad_request'],
    ['dropped fields', { unknownFields: 'drop' }, 501, 'not_supported'],
    ['conflicts', { forceConflicts: false }, 501, 'not_supported'],
    ['waves', { waves: [{ label: 'canary', bakeSeconds: 600 }] }, 501, 'not_supported'],
    ['a limit of clusters at once', { maxParallelClusters: 2 }, 501, 'not_supported'],
    ['a limit of failures', { failureLimit: 0 }, 501, 'not_supported'],
    ['self-healing', { reconcile: 'repair' }, 501, 'not_supported'],
  ])('is refused with %s', async (_what, muster, status, code) => {
    const { compositeApp } = await deployment();
    const refused = await codeOf('POST', `${compositeApp}/deployment-intent-groups`, groupBody('other', muster));
    expect(refused).toEqual([status, code]);
  });

  test.each([
    ['type=foo', 400, 'bad_request'],
    ['output=long', 400, 'bad_request'],
    ['instance=', 400, 'bad_request'],
    ['output=summary&instance=9007199254740993', 404, 'not_found'],
    ['app=-x', 400, 'bad_request'],
    ['cluster=north', 400, 'bad_request'],
    ['format=new', 400, 'bad_request'],
    ['type=cluster', 200, null],
    ['type=all&type=rsync', 200, null],
    ['format=legacy', 200, null],
    ['format=legacy&output=rsync', 200, null],
    ['format=legacy&type=all', 400, 'bad_request'],
    ['output=detail', 200, null],
    ['type=rsync&type=all', 200, null],
  ])('answers a status query with %s', async (query, status, code) => {
    const { group } = await deployment();
    expect(await codeOf('GET', `${group}/status?${query}`)).toEqual([status, code]);
  });
});

describe('the status of a deployment', () => {
  const shown = async (group: string, query: string) => (await operator('GET', `${group}/status?${query}`)).body;

  test('goes from counts down to each manifest, and filters narrow both', async () => {
    const clusters = { north: kubeconfigOf(), south: kubeconfigOf() };
    const { group, provider } = await deployment({ clusters, apps: { store: SECRET_MANIFEST, agent: MANIFESTS } });
    await operator('POST', `${group}/approve`);
    const { instance } = (await operator('POST', `${group}/instantiate`)).body;
    const { db } = api.database;
    await db
      .updateTable('context_resources')
      .set({ status: 'Failed', reason: 'Forbidden', message: 'no', sent_namespace: 'obs' })
      .where('context', '=', instance)
      .where('cluster', '=', 'south')
      .where('key', '=', 'cfg+ConfigMap')
      .execute();
    const all = await shown(group, 'output=all');
    expect(all['rsync-status']).toEqual({ Pending: 5, Failed: 1 });
    // In the order in which the apps were added; clusters and resources by name.
    expect(all.apps.map(({ name }: { name: string }) => name)).toEqual(['store', 'agent']);
    const away = { 'cluster-provider': provider, connectivity: 'Unreachable' };
    const service = { GVK: { Group: '', Version: 'v1', Kind: 'Service' }, name: 'agent', 'rsync-status': 'Pending' };
    const config = { GVK: { Group: '', Version: 'v1', Kind: 'ConfigMap' }, name: 'cfg' };
    expect(all.apps[1].clusters).toEqual([
      { ...away, cluster: 'north', resources: [service, { ...config, 'rsync-status': 'Pending' }] },
      {
        ...away,
        cluster: 'south',
        resources: [
          service,
          { ...config, namespace: 'obs', 'rsync-status': 'Failed', reason: 'Forbidden', message: 'no' },
        ],
      },
    ]);
    expect((await shown(group, 'output=apps')).apps).toEqual([
      { name: 'store', 'rsync-status': { Pending: 2 } },
      { name: 'agent', 'rsync-status': { Pending: 3, Failed: 1 } },
    ]);
    const south = `cluster=${provider}%2Bsouth`;
    const narrow = await shown(group, `output=clusters&app=agent&app=nosuch&${south}&resource=cfg`);
    expect(narrow).toMatchObject({ status: 'Instantiating', 'rsync-status': { Failed: 1 } });
    expect(narrow.apps).toEqual([
      { name: 'agent', clusters: [{ ...away, cluster: 'south', 'rsync-status': { Failed: 1 } }] },
    ]);
    expect(await shown(group, 'output=summary&app=nosuch')).not.toHaveProperty('rsync-status');
    expect(await shown(group, `output=summary&${south}`)).toMatchObject({ 'rsync-status': { Pending: 2, Failed: 1 } });
  });

  test('shows manifests as they are sent, without the values of Secrets', async () => {
    const { group } = await deployment({ apps: { store: SECRET_MANIFEST } });
    await operator('POST', `${group}/approve`);
    const { instance } = (await operator('POST', `${group}/instantiate`)).body;
    const answer = await shown(group, 'output=detail');
    expect(answer.apps[0].clusters[0].resources[0].detail).toEqual({
      metadata: { name: 'keys', labels: { 'emco/deployment-id': `${instance}-store` } },
      stringData: { password: '***' },
    });
    // Its older spelling.
    expect(await shown(group, 'output=rsync')).toEqual(answer);
  });

  test('shows and stores no value of a Secret that kubectl has exported, nor one that was stored with it before', async () => {
    const kept = { 'kubectl.kubernetes.io/last-applied-configuration': '{"stringData":{"password":"hunter7"}}' };
    const exported = SECRET_MANIFEST.replace('{name: keys}', JSON.stringify({ name: 'keys', annotations: kept }));
    const { group } = await deployment({ apps: { store: exported } });
    await operator('POST', `${group}/approve`);
    const { instance } = (await operator('POST', `${group}/instantiate`)).body;
    const { db } = api.database;
    const rows = await db.selectFrom('context_manifests').select('manifest').where('context', '=', instance).execute();
    expect(rows).toEqual([{ manifest: expect.not.stringContaining('hunter7') }]);
    const manifest = JSON.stringify({
      ...JSON.parse(rows[0]?.manifest ?? ''),
      metadata: { name: 'keys', annotations: kept },
    });
    await db.updateTable('context_manifests').set({ manifest }).where('context', '=', instance).execute();
    for (const query of [
      'output=detail',
      'type=all&output=detail',
      'format=legacy&output=detail',
      'format=legacy&output=rsync',
    ]) {
      const answer = JSON.stringify(await shown(group, query));
      expect([query, answer]).toEqual([query, expect.stringContaining('"name":"keys"')]);
      expect([query, answer]).toEqual([query, expect.not.stringContaining('hunter7')]);
    }
  });
});

describe('what is not built', () => {
  test('is refused as a parameter too: nothing is instantiated, and nothing goes', async () => {
    const { group } = await deployment();
    const call = async (what: string) => {
      const { status, body } = await operator('POST', `${group}/${what}`);
      return [status, body.code ?? body.state];
    };
    await operator('POST', `${group}/approve`);
    expect(await call('instantiate?dryRun=true')).toEqual([501, 'not_supported']);
    expect(await call('instantiate?dryRun=false')).toEqual([202, 'Instantiated']);
    expect(await call('terminate?keep=true')).toEqual([501, 'not_supported']);
    expect((await statusOf(group)).state).toBe('Instantiated');
    expect(await call('terminate')).toEqual([202, 'Terminated']);
  });

  test.each([
    [{ substitute: true }, 501, 'not_supported'],
    [{ substitude: true }, 400, 'bad_request'],
    [{ substitute: false }, 201, undefined],
  ])('is refused of an app: %j', async (muster, status, code) => {
    const { compositeApp } = await deployment();
    const metadata = { ...named('more'), spec: { muster } };
    const form = formOfArchive(metadata, await archiveOf([['all.yaml', MANIFESTS]]));
    const answer = await operator('POST', `${compositeApp}/apps`, form, FORM_HEADERS);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test.each([
    ['POST', 'projects/p/composite-apps/a/v1/deployment-intent-groups/g/skip'],
    ['GET', 'projects/p/composite-apps/a/v1/deployment-intent-groups/g/rollback'],
    ['POST', 'projects/p/composite-apps/a/v1/deployment-intent-groups/g/update'],
  ])('is refused by name: %s /v2/%s', async (method, path) => {
    const answer = await admin(method, `/v2/${path}`, method === 'GET' ? undefined : {});
    expect([answer.status, answer.body.code]).toEqual([501, 'not_supported']);
    if (method !== 'GET') expect((await api.as(api.tokens.reader, method, `/v2/${path}`, {})).status).toBe(403);
  });
});

describe('what a deployment uses', () => {
  test('stays until its AppContext has ended: the profile, and the label that chose the cluster', async () => {
    const { group, compositeApp, provider } = await deployment();
    const cluster = `/v2/cluster-providers/${provider}/clusters/north`;
    await admin('POST', `${cluster}/labels`, { 'label-name': 'edge' });
    await admin('POST', `${cluster}/labels`, { 'label-name': 'spare' });
    const intents = `${group}/generic-placement-intents/where/app-intents`;
    await operator('DELETE', `${intents}/agent-where`);
    const allOf = [{ 'provider-name': provider, 'cluster-label-name': 'edge' }];
    await operator('POST', intents, { ...named('labelled'), spec: { 'app-name': 'agent', intent: { allOf } } });
    await operator('POST', `${group}/approve`);
    const { instance } = (await operator('POST', `${group}/instantiate`)).body;
    const removed = async (path: string) => {
      const { status, body } = await admin('DELETE', path);
      return [status, body?.code ?? null];
    };
    expect(await codeOf('DELETE', `${compositeApp}/composite-profiles/base`)).toEqual([409, 'in_use']);
    expect(await removed(`${cluster}/labels/edge`)).toEqual([409, 'in_use']);
    expect(await removed(`${cluster}/labels/spare`)).toEqual([204, null]);
    expect((await admin('GET', `${cluster}/labels/edge`)).status).toBe(200);
    await api.database.db
      .updateTable('deployment_contexts')
      .set({ state: 'Terminated', wanted: null })
      .where('id', '=', instance)
      .execute();
    expect(await removed(`${cluster}/labels/edge`)).toEqual([204, null]);
    expect(await codeOf('DELETE', `${compositeApp}/composite-profiles/base`)).toEqual([204, null]);
  });

  test('is kept of the last ten AppContexts that have ended, and of no more', async () => {
    const { cloud } = await deployment();
    const instances: string[] = [];
    for (let round = 0; round < 13; round += 1) {
      instances.push((await operator('POST', `${cloud}/terminate`)).body.instance);
      await operator('POST', `${cloud}/instantiate`);
      api.now.value = new Date(api.now.value.getTime() + 1_000);
    }
    const answers = await Promise.all(
      instances.map(async (instance) => (await operator('GET', `${cloud}/status?instance=${instance}`)).status),
    );
    expect(answers).toEqual([...Array(3).fill(404), ...Array(10).fill(200)]);
  });
});

describe('a logical cloud', () => {
  test('has nothing to stop', async () => {
    const { cloud } = await deployment();
    expect(await codeOf('POST', `${cloud}/stop`)).toEqual([409, 'invalid_state']);
    await operator('POST', `${cloud}/terminate`);
    expect(await codeOf('POST', `${cloud}/stop`)).toEqual([409, 'invalid_state']);
    expect(await codeOf('POST', `${cloud}-not/stop`)).toEqual([404, 'not_found']);
  });
});

describe('an app', () => {
  test('has the values of its Secrets sealed, and its archive given to operators alone', async () => {
    const { compositeApp } = await deployment({ apps: { keys: SECRET_MANIFEST } });
    const { db } = api.database;
    const rows = await db.selectFrom('app_manifests').selectAll().where('kind', '=', 'Secret').execute();
    const files = await db.selectFrom('placement_files').selectAll().execute();
    const audit = await db.selectFrom('audit').selectAll().execute();
    expect(rows[0]?.manifest).toContain('"password":"***"');
    expect(JSON.stringify([rows, audit, api.logged])).not.toContain('hunter7');
    expect(Buffer.concat(files.map(({ content }) => content)).toString('latin1')).not.toContain('hunter7');
    const path = `${compositeApp}/apps/keys`;
    const bytes = { accept: 'application/octet-stream' };
    expect((await api.as(api.tokens.reader, 'GET', path, undefined, bytes)).status).toBe(403);
    expect((await api.as(api.tokens.operator, 'GET', path, undefined, bytes)).status).toBe(200);
    expect((await api.as(api.tokens.reader, 'GET', path, undefined, { accept: '*/*' })).body).toEqual({
      metadata: { name: 'keys', description: '', userData1: '', userData2: '' },
    });
  });

  test.each([
    ['a broken document', ['a.yaml'], 'a: ['],
    ['no manifest', ['a.yaml'], 'just: text'],
    ['a chart', ['agent/Chart.yaml', 'agent/templates/all.yaml'], MANIFESTS],
  ])('is refused with %s, and nothing is stored', async (_what, paths, text) => {
    const { compositeApp } = await deployment();
    const archive = await archiveOf(paths.map((path) => [path, text]));
    const refused = await operator('POST', `${compositeApp}/apps`, formOfArchive(named('bad'), archive), FORM_HEADERS);
    expect([refused.status, refused.body.code]).toEqual([422, 'render_failed']);
    expect(refused.body.detail).toContain("App 'bad': ");
    expect((await operator('GET', `${compositeApp}/apps/bad`, undefined, { accept: '*/*' })).status).toBe(404);
  });
});

describe('what waits for others', () => {
  const waiting = (name: string, dependsOn: unknown) => ({ ...named(name), spec: { dependsOn } });
  const upload = async (compositeApp: string, metadata: unknown, manifests = MANIFESTS) => {
    const archive = await archiveOf([['a.yaml', manifests]]);
    return await operator('POST', `${compositeApp}/apps`, formOfArchive(metadata, archive), FORM_HEADERS);
  };
  const place = async ({ group, provider }: Made, app: string) => {
    const intent = { allOf: [{ 'provider-name': provider, 'cluster-name': 'north' }] };
    const url = `${group}/generic-placement-intents/where/app-intents`;
    expect((await operator('POST', url, { ...named(app), spec: { 'app-name': app, intent } })).status).toBe(201);
  };
  const instantiate = async ({ group }: Made) => {
    await operator('POST', `${group}/approve`);
    const { status, body } = await operator('POST', `${group}/instantiate`);
    return status === 202 ? body.instance : [status, body.code, body.detail];
  };

  test.each<[string, Record<string, string[]>, string]>([
    ['an app that is not there', { store: ['nosuch'] }, "app 'store' waits on 'nosuch', which is not there"],
    ['itself', { store: ['store'] }, 'These wait on each other (app): store -> store'],
    [
      'a circle',
      { store: ['view', 'agent'], view: ['store'] },
      'These wait on each other (app): store -> view -> store',
    ],
  ])(
    'an app that waits for %s is refused when it is instantiated, and nothing is made',
    async (_what, waits, detail) => {
      const made = await deployment();
      for (const [app, dependsOn] of Object.entries(waits)) {
        expect((await upload(made.compositeApp, waiting(app, dependsOn))).status).toBe(201);
        await place(made, app);
      }
      expect(await instantiate(made)).toEqual([400, 'dependency_cycle', expect.stringContaining(detail)]);
      expect(await statusOf(made.group)).toMatchObject({ state: 'Approved' });
      expect((await statusOf(made.group)).status).toBeUndefined();
    },
  );

  test.each<[string, unknown]>([
    ['a text', 'agent'],
    ['no names', [1]],
    ['too many', Array.from({ length: 201 }, (_, index) => `a${index}`)],
  ])('an app cannot depend on %s', async (_what, dependsOn) => {
    const { compositeApp } = await deployment();
    const { status, body } = await upload(compositeApp, waiting('store', dependsOn));
    expect([status, body.code]).toEqual([400, 'bad_request']);
    expect(body.detail).toContain('dependsOn');
  });

  test('an app shows what it waits for, once each, and its AppContext keeps it', async () => {
    const made = await deployment();
    const { body } = await upload(made.compositeApp, waiting('store', ['agent', 'agent']));
    expect(body).toMatchObject({ metadata: { name: 'store' }, spec: { dependsOn: ['agent'] } });
    const shown = await operator('GET', `${made.compositeApp}/apps/store`, undefined, { accept: '*/*' });
    expect(shown.body).toEqual(body);
    await place(made, 'store');
    const id = await instantiate(made);
    const { db } = api.database;
    const row = await db.selectFrom('deployment_contexts').select('settings').where('id', '=', id).executeTakeFirst();
    expect(row?.settings).toEqual({ waits: { store: ['agent'] } });
  });

  test.each<[string, string, string]>([
    ['a resource that is not there', 'x+Secret', "resource 'cfg+ConfigMap' waits on 'x+Secret', which is not there"],
    ['itself', 'cfg+ConfigMap', 'These wait on each other (resource): cfg+ConfigMap -> cfg+ConfigMap'],
  ])(
    'a resource that waits for %s is taken with a warning and refused when it is instantiated',
    async (_what, key, problem) => {
      const made = await deployment();
      const manifests = MANIFESTS.replace('name: cfg', `name: cfg, annotations: {muster/wait-on: '${key}'}`);
      const { status, body } = await upload(made.compositeApp, named('store'), manifests);
      expect([status, body.warnings]).toEqual([201, [`${problem}: the app cannot be instantiated so`]]);
      await place(made, 'store');
      const detail = problem.replace('resource', 'app store: resource');
      expect(await instantiate(made)).toEqual([400, 'dependency_cycle', expect.stringContaining(detail)]);
    },
  );
});
