/** Deployments of one document: made, listed, started again, removed. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { addRecord } from '../../control/deployments/records.ts';
import { createRemovalSweep, endRemovalOf } from '../../control/deployments/remove-deployment.ts';
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendAction } from '../../store/deployments/histories.ts';
import { eventually } from '../support/eventually.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { archiveOf } from './archive-fixture.ts';
import { MANIFESTS, makeDeployment, SECRET_MANIFEST } from './placement-fixtures.ts';
import { documentOf, makeClusters } from './short-fixtures.ts';

let api: TokenApi;
let count = 0;
const told: string[] = [];
const URL = '/api/v1/deployments';

beforeAll(async () => {
  api = await createTokenApi({ tell: async (wanted) => void told.push(...wanted.map(({ workflowId }) => workflowId)) });
  await makeClusters(admin, 'lab', { north: ['edge'], south: ['edge'], east: [] });
});
afterAll(() => api.close());

const admin = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.admin, method, url, body, headers);
const operator = (method: string, url: string, body?: unknown) => api.as(api.tokens.operator, method, url, body);
const newName = () => `short-${++count}`;
const codeOf = async (method: string, url: string, body?: unknown) => {
  const answer = await operator(method, url, body);
  return [answer.status, answer.body?.code ?? null];
};
const engine = () => ({ db: api.database.db, clock: () => api.now.value });
/** Has the phase that an AppContext wants end: well, or with everything given up. */
const ended = async (instance: string, status: 'Applied' | 'Deleted' | 'Failed') => {
  const { db } = api.database;
  const begun = await beginPhase(engine(), instance);
  await db
    .updateTable('context_resources')
    .set({ status, attempted: true })
    .where('context', '=', instance)
    .where('status', '!=', 'Deleted')
    .execute();
  await finishPhase(engine(), instance, begun?.phase ?? 'apply');
};
const recordsOf = async (name: string) => {
  const rows = await api.database.db.selectFrom('placement_records').select('path').execute();
  return rows
    .map(({ path }) => path)
    .filter((path) => path.split('/').some((part) => part === name || part === `d-${name}`));
};

describe('a document', () => {
  test('makes a deployment that goes to its clusters; the same again changes nothing', async () => {
    const name = newName();
    const body = documentOf(name, 'lab', { namespace: 'obs', description: 'two clusters', muster: { max_retries: 3 } });
    const made = await operator('POST', URL, body);
    expect([made.status, made.body]).toMatchObject([
      202,
      {
        name,
        description: 'two clusters',
        state: 'Instantiated',
        status: 'Instantiating',
        revision: 1,
        apps: ['agent'],
      },
    ]);
    expect(made.body).toMatchObject({
      counts: { Pending: 4 },
      ready: false,
      is_removed: false,
      changed_by: 'token/ops',
    });
    expect(told).toContain(contextWorkflowId(made.body.instance));
    const again = await operator('POST', URL, body);
    expect([again.status, again.body]).toEqual([202, made.body]);
    // EMCO's paths have the same.
    const group = await operator('GET', made.body.links.intent_group);
    expect(group.body.spec).toMatchObject({ profile: 'none', 'logical-cloud': `d-${name}`, muster: { maxRetries: 3 } });
    const { body: status } = await operator('GET', `${made.body.links.status}?output=clusters`);
    const [app] = status.apps;
    expect(app.clusters.map(({ cluster }: { cluster: string }) => cluster)).toEqual(['north', 'south']);
    const context = await api.database.db
      .selectFrom('deployment_contexts')
      .select(['namespace', 'settings'])
      .where('id', '=', made.body.instance)
      .executeTakeFirst();
    expect(context).toEqual({ namespace: 'obs', settings: { maxRetries: 3 } });
  });

  test('with other content is refused, and so is a name that has other records', async () => {
    const name = newName();
    expect(await codeOf('POST', URL, documentOf(name, 'lab'))).toEqual([202, null]);
    expect(await codeOf('POST', URL, documentOf(name, 'lab', { namespace: 'other' }))).toEqual([409, 'already_exists']);
    const other = newName();
    await operator('POST', '/v2/projects', { metadata: { name: 'default' } });
    const app = { metadata: { name: other }, spec: { version: 'v1' } };
    await operator('POST', '/v2/projects/default/composite-apps', app);
    expect(await codeOf('POST', URL, documentOf(other, 'lab'))).toEqual([409, 'already_exists']);
  });

  test('of two at the same moment makes one deployment', async () => {
    const name = newName();
    const answers = await Promise.all([1, 2, 3].map(() => operator('POST', URL, documentOf(name, 'lab'))));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(answers.map(({ body }) => body.instance)).size).toBe(1);
  });

  test('is approved and instantiated later, by another document or by calls', async () => {
    const name = newName();
    const waiting = documentOf(name, 'lab', { approve: false, instantiate: false });
    expect((await operator('POST', URL, waiting)).body).toMatchObject({
      state: 'Created',
      status: null,
      instance: null,
    });
    const approved = await operator('POST', URL, { ...waiting, approve: true });
    expect(approved.body).toMatchObject({ state: 'Approved', instance: null });
    expect((await operator('POST', `${URL}/${name}/instantiate`)).body).toMatchObject({ state: 'Instantiated' });
    expect(await codeOf('POST', `${URL}/${name}/approve`)).toEqual([409, 'invalid_state']);
  });

  test('takes archives, names what it left out, and keeps values of Secrets sealed', async () => {
    const name = newName();
    const archive = await archiveOf([['a/b.yaml', `${SECRET_MANIFEST}---\njust: text\n`]]);
    const placement = {
      any_of: [
        { provider: 'lab', label: 'edge' },
        { provider: 'lab', cluster: 'east' },
      ],
    };
    const apps = [{ name: 'keys', bundle: archive.toString('base64'), placement }];
    const made = await operator('POST', URL, { name, apps });
    expect(made.status).toBe(202);
    expect(made.body.warnings).toEqual([expect.stringContaining('app keys: a/b.yaml')]);
    const { db } = api.database;
    const rows = [
      await db.selectFrom('app_manifests').selectAll().execute(),
      await db.selectFrom('audit').selectAll().execute(),
      await db.selectFrom('short_deployments').selectAll().execute(),
    ];
    expect(JSON.stringify([rows, api.logged, made.body])).not.toContain('hunter7');
    // The first by name of all that could be chosen.
    const { body } = await operator('GET', `${URL}/${name}/status?output=clusters`);
    expect(body.apps[0].clusters.map(({ cluster }: { cluster: string }) => cluster)).toEqual(['east']);
  });

  test('whose archives are too large together is refused', async () => {
    const bundle = (
      await archiveOf([
        ['a.yaml', MANIFESTS],
        ['big.bin', '0'.repeat(30 * 2 ** 20)],
      ])
    ).toString('base64');
    const app = (name: string) => ({ name, bundle, placement });
    const apps = (count: number) => Array.from({ length: count }, (_, number) => app(`app-${number}`));
    const refused = await operator('POST', URL, { name: 'bad', apps: apps(3) });
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { code: 'render_failed', detail: expect.stringContaining('left of 67108864') },
    ]);
    expect(await codeOf('POST', URL, { name: newName(), apps: apps(2) })).toEqual([202, null]);
  });

  const placement = { all_of: [{ provider: 'lab', cluster: 'north' }] };
  const appOf = (more: object) => ({
    name: 'bad',
    apps: [{ name: 'agent', manifests: MANIFESTS, placement, ...more }],
  });
  test.each<[string, object, number, string]>([
    ['without apps', { name: 'bad', apps: [] }, 400, 'bad_request'],
    ['without a name', { ...appOf({}), name: '' }, 400, 'bad_request'],
    ['with a name that is too long', { ...appOf({}), name: 'a'.repeat(64) }, 400, 'bad_request'],
    ['with an unknown member', { ...appOf({}), manifest: 'x' }, 400, 'bad_request'],
    ['with an unknown setting', { ...appOf({}), muster: { maxRetries: 3 } }, 400, 'bad_request'],
    ['with the same app twice', { name: 'bad', apps: [...appOf({}).apps, ...appOf({}).apps] }, 400, 'bad_request'],
    ['with manifests and bundle', appOf({ bundle: 'AAAA' }), 400, 'bad_request'],
    ['with neither', appOf({ manifests: undefined }), 400, 'bad_request'],
    ['with a bundle that is no base64', appOf({ manifests: undefined, bundle: '*' }), 400, 'bad_request'],
    ['with a bundle that is no archive', appOf({ manifests: undefined, bundle: 'AAAA' }), 422, 'render_failed'],
    ['with manifests that are no YAML', appOf({ manifests: 'a: [' }), 422, 'render_failed'],
    ['with an empty placement', appOf({ placement: {} }), 400, 'bad_request'],
    [
      'with cluster and label',
      appOf({ placement: { any_of: [{ provider: 'lab', cluster: 'a', label: 'b' }] } }),
      400,
      'bad_request',
    ],
    [
      'for a cluster that is not there',
      appOf({ placement: { all_of: [{ provider: 'lab', cluster: 'west' }] } }),
      400,
      'no_such_cluster',
    ],
    [
      'for a label of no cluster',
      appOf({ placement: { all_of: [{ provider: 'lab', label: 'west' }] } }),
      400,
      'no_clusters',
    ],
    ['with an app whose label is too long', { ...appOf({ name: 'a'.repeat(44) }) }, 400, 'label_too_long'],
    ['that is instantiated and not approved', { ...appOf({}), approve: false }, 400, 'bad_request'],
    ['with an app that waits for another that is not there', appOf({ depends_on: ['other'] }), 400, 'dependency_cycle'],
    ['with an app that waits for itself', appOf({ depends_on: ['agent'] }), 400, 'dependency_cycle'],
    ['with an app that waits for a text', appOf({ depends_on: 'other' }), 400, 'bad_request'],
    ['with an app that waits for too many', appOf({ depends_on: Array(201).fill('agent') }), 400, 'bad_request'],
    [
      'with a resource that waits for another that is not there',
      appOf({ manifests: MANIFESTS.replace('name: cfg', 'name: cfg, annotations: {muster/wait-on: x+Secret}') }),
      400,
      'dependency_cycle',
    ],
    ['that drops fields', { ...appOf({}), muster: { unknown_fields: 'drop' } }, 501, 'not_supported'],
    ['that goes out in waves', { ...appOf({}), muster: { waves: [] } }, 501, 'not_supported'],
    ['with few clusters at once', { ...appOf({}), muster: { max_parallel_clusters: 2 } }, 501, 'not_supported'],
    ['that ends with failures', { ...appOf({}), muster: { failure_limit: 1 } }, 501, 'not_supported'],
    ['that heals itself', { ...appOf({}), muster: { reconcile: 'observe' } }, 501, 'not_supported'],
    ['with values of clusters', appOf({ substitute: true }), 501, 'not_supported'],
  ])('%s is refused, and nothing is stored', async (_what, body, status, code) => {
    expect(await codeOf('POST', URL, body)).toEqual([status, code]);
    expect(await recordsOf('bad')).toEqual([]);
  });

  test('is not rehearsed: nothing is made, instantiated or kept where that was asked for', async () => {
    const name = newName();
    const body = documentOf(name, 'lab', { instantiate: false });
    expect(await codeOf('POST', `${URL}?dry_run=true`, body)).toEqual([501, 'not_supported']);
    expect(await recordsOf(name)).toEqual([]);
    expect(await codeOf('POST', `${URL}?dry_run=perhaps`, body)).toEqual([400, 'bad_request']);
    expect(await codeOf('POST', `${URL}?dry_run=false`, body)).toEqual([202, null]);
    expect(await codeOf('POST', `${URL}/${name}/instantiate?dry_run=true`)).toEqual([501, 'not_supported']);
    expect((await operator('GET', `${URL}/${name}`)).body).toMatchObject({ state: 'Approved', instance: null });
    await operator('POST', `${URL}/${name}/instantiate?dry_run=false`);
    expect(await codeOf('POST', `${URL}/${name}/terminate?keep=true`)).toEqual([501, 'not_supported']);
    expect((await operator('GET', `${URL}/${name}`)).body).toMatchObject({ state: 'Instantiated' });
    expect(await codeOf('POST', `${URL}/${name}/terminate?kept=true`)).toEqual([400, 'bad_request']);
  });

  test.each(['skip', 'update', 'rollback', 'resume'])('knows that %s is not built', async (part) => {
    expect(await codeOf('POST', `${URL}/any/${part}`, {})).toEqual([501, 'not_supported']);
    expect((await api.as(api.tokens.reader, 'POST', `${URL}/any/${part}`, {})).status).toBe(403);
  });

  test('is for operators', async () => {
    const asReader = (method: string, url: string, body?: unknown) => api.as(api.tokens.reader, method, url, body);
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab'));
    expect((await asReader('POST', URL, documentOf('bad', 'lab'))).status).toBe(403);
    expect((await asReader('DELETE', `${URL}/${name}`)).status).toBe(403);
    for (const path of [URL, `${URL}/${name}`, `${URL}/${name}/status`])
      expect((await asReader('GET', path)).status).toBe(200);
  });
});

describe('deployments', () => {
  test('are listed by name, page after page, whoever made them', async () => {
    await makeDeployment(admin, 'aaa-listed');
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab'));
    const names: string[] = [];
    let query = '?limit=2';
    for (let page = 0; page < 50; page += 1) {
      const { body } = await operator('GET', `${URL}${query}`);
      names.push(...body.deployments.map((one: { name: string }) => one.name));
      if (body.next === null) break;
      query = `?${new URLSearchParams(body.next)}`;
    }
    expect(names).toEqual(names.toSorted((one, other) => (one < other ? -1 : 1)));
    expect(names).toEqual(expect.arrayContaining(['aaa-listed+telemetry+v1+edge', name]));
    expect(new Set(names).size).toBe(names.length);
  });

  test.each<[string, string, number, string]>([
    ['GET', 'nosuch', 404, 'not_found'],
    ['GET', 'a%2Bb', 400, 'bad_request'],
    ['GET', '-x', 400, 'bad_request'],
    ['GET', 'nosuch/status', 404, 'not_found'],
    ['POST', 'nosuch/approve', 404, 'not_found'],
    ['POST', 'nosuch/instantiate', 404, 'not_found'],
    ['POST', 'a%2Bb/terminate', 400, 'bad_request'],
    ['DELETE', 'nosuch', 404, 'not_found'],
    ['DELETE', 'a%2Bb', 400, 'bad_request'],
  ])('%s of %s is refused', async (method, path, status, code) => {
    expect(await codeOf(method, `${URL}/${path}`)).toEqual([status, code]);
  });

  test('of both names are one', async () => {
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab'));
    const long = await operator('GET', `${URL}/default%2B${name}%2Bv1%2B${name}`);
    expect(long.body).toEqual((await operator('GET', `${URL}/${name}`)).body);
  });

  test('follow labels: the next instantiate goes to the clusters that have them then', async () => {
    const name = newName();
    await makeClusters(admin, 'moved', { one: ['edge'], two: [] });
    const { body } = await operator('POST', URL, documentOf(name, 'moved'));
    await ended(body.instance, 'Applied');
    await operator('POST', `${URL}/${name}/terminate`);
    await ended(body.instance, 'Deleted');
    const labels = (cluster: string) => `/v2/cluster-providers/moved/clusters/${cluster}/labels`;
    await admin('POST', labels('two'), { 'label-name': 'edge' });
    await admin('DELETE', `${labels('one')}/edge`);
    expect(await codeOf('POST', `${URL}/${name}/approve`)).toEqual([202, null]);
    const next = await operator('POST', `${URL}/${name}/instantiate`);
    expect(next.body).toMatchObject({ state: 'Instantiated', revision: 2 });
    const { body: status } = await operator('GET', `${URL}/${name}/status?output=clusters`);
    expect(status.apps[0].clusters.map(({ cluster }: { cluster: string }) => cluster)).toEqual(['two']);
  });
});

describe('the removal of a deployment', () => {
  test('is done at once where nothing of it is in a cluster', async () => {
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab', { instantiate: false }));
    const removed = await operator('DELETE', `${URL}/${name}`);
    expect([removed.status, removed.body]).toEqual([202, { name, is_gone: true }]);
    expect(await codeOf('GET', `${URL}/${name}`)).toEqual([404, 'not_found']);
    expect(await recordsOf(name)).toEqual([]);
    // The name is free again.
    expect(await codeOf('POST', URL, documentOf(name, 'lab', { namespace: 'other' }))).toEqual([202, null]);
  });

  test('terminates first, and keeps everything else from it', async () => {
    const name = newName();
    const { body } = await operator('POST', URL, documentOf(name, 'lab'));
    await ended(body.instance, 'Applied');
    told.length = 0;
    expect((await operator('DELETE', `${URL}/${name}`)).body).toEqual({ name, is_gone: false });
    expect(told).toEqual([contextWorkflowId(body.instance)]);
    const shown = (await operator('GET', `${URL}/${name}`)).body;
    expect(shown).toMatchObject({ state: 'Terminated', status: 'Terminating', is_removed: true });
    expect(await codeOf('POST', URL, documentOf(name, 'lab'))).toEqual([409, 'invalid_state']);
    expect((await operator('DELETE', `${URL}/${name}`)).body).toEqual({ name, is_gone: false });
    await ended(body.instance, 'Deleted');
    await endRemovalOf(engine(), body.instance);
    expect(await codeOf('GET', `${URL}/${name}`)).toEqual([404, 'not_found']);
    expect(await recordsOf(name)).toEqual([]);
  });

  test('whose end was missed is ended by the sweep', async () => {
    const name = newName();
    const { body } = await operator('POST', URL, documentOf(name, 'lab'));
    await ended(body.instance, 'Applied');
    await operator('DELETE', `${URL}/${name}`);
    await createRemovalSweep(engine())(new AbortController().signal);
    expect(await codeOf('GET', `${URL}/${name}`)).toEqual([200, null]);
    await ended(body.instance, 'Deleted');
    await createRemovalSweep(engine())(new AbortController().signal);
    expect(await codeOf('GET', `${URL}/${name}`)).toEqual([404, 'not_found']);
  });

  test('is given up where something could not be deleted; the next one takes the records away', async () => {
    const name = newName();
    const { body } = await operator('POST', URL, documentOf(name, 'lab'));
    await ended(body.instance, 'Applied');
    await operator('DELETE', `${URL}/${name}`);
    await ended(body.instance, 'Failed');
    await endRemovalOf(engine(), body.instance);
    const shown = (await operator('GET', `${URL}/${name}`)).body;
    expect(shown).toMatchObject({ status: 'TerminateFailed', is_removed: false, counts: { Failed: 4 } });
    expect((await operator('DELETE', `${URL}/${name}`)).body).toEqual({ name, is_gone: true });
    expect(await recordsOf(name)).toEqual([]);
  });

  test('that was made under /v2 leaves project, apps and cloud', async () => {
    const { group, compositeApp, cloud } = await makeDeployment(admin, 'removed');
    const name = 'removed%2Btelemetry%2Bv1%2Bedge';
    expect((await operator('DELETE', `${URL}/${name}`)).body).toMatchObject({ is_gone: true });
    expect(await codeOf('GET', group)).toEqual([404, 'not_found']);
    for (const path of [compositeApp, `${compositeApp}/apps/agent`, cloud]) {
      expect((await admin('GET', path, undefined, { accept: '*/*' })).status).toBe(200);
    }
  });

  test('waits for a further group that is just being added, and leaves its apps', async () => {
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab', { instantiate: false }));
    const parent = `projects/default/composite-apps/${name}/v1`;
    const spec = { profile: 'none', version: 'r1', 'logical-cloud': `d-${name}` };
    const metadata = { name: 'second', description: '', userData1: '', userData2: '' };
    const added = Promise.withResolvers<void>();
    const goesOn = Promise.withResolvers<void>();
    const beside = async (trx: Db, path: string) => {
      const by = { actor: null, now: api.now.value };
      await appendAction(trx, { owner: path, state: 'Created', instance: '' }, by);
      added.resolve();
      await goesOn.promise;
    };
    const adding = addRecord(
      engine(),
      { actor: 'token/ops' },
      { kind: 'group', parent },
      { metadata, spec },
      { beside },
    );
    await added.promise;
    const removing = operator('DELETE', `${URL}/${name}`);
    await eventually('the removal waits', async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(api.database.db);
      return rows.length > 0;
    });
    goesOn.resolve();
    await adding;
    expect((await removing).body).toEqual({ name, is_gone: true });
    expect(await codeOf('GET', `/v2/${parent}/deployment-intent-groups/second`)).toEqual([200, null]);
    expect(await codeOf('GET', `/v2/${parent}/composite-profiles/none`)).toEqual([200, null]);
  });

  test('leaves the apps of a further group', async () => {
    const name = newName();
    await operator('POST', URL, documentOf(name, 'lab', { instantiate: false }));
    const compositeApp = `/v2/projects/default/composite-apps/${name}/v1`;
    const spec = { profile: 'none', version: 'r1', 'logical-cloud': `d-${name}` };
    await operator('POST', `${compositeApp}/deployment-intent-groups`, { metadata: { name: 'second' }, spec });
    expect((await operator('DELETE', `${URL}/${name}`)).body).toMatchObject({ is_gone: true });
    expect(await codeOf('GET', `${compositeApp}/deployment-intent-groups/second`)).toEqual([200, null]);
  });
});
