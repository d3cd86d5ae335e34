import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openRun } from '../../control/runs/open-run.ts';
import { noteImageWorker } from '../../store/images/image-jobs.ts';
import { recordAuthority } from '../../store/trust/trust.ts';
import { answerSignIn } from '../access/answers.ts';
import { answerComponents } from '../components/answers.ts';
import { answerDeployments } from '../deployments/answers.ts';
import { answerStops, answerVersions } from '../fleet/answers.ts';
import { PUBLIC_KEY, smallTar } from '../images/fixtures.ts';
import { answerOperators } from '../operator/hands/answers.ts';
import { answerModel, answerPlans } from '../propagation/routes/answers.ts';
import { answerStreams } from '../service/answers.ts';
import { addOutput, addRun, endSession, sessionId, setSession } from '../sessions/session-fixtures.ts';
import { type AnswerCheck, createAnswerCheck } from '../support/fakes/answer-check.ts';
import { type ApiDocument, servedDocument } from '../support/openapi-files.ts';
import { type Answer, IMAGE_STORE } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const URL_A = 'https://git.example.com/a.git';
const COMMIT = 'a'.repeat(40);

let api: TokenApi;
let document: ApiDocument;
let check: AnswerCheck;
/** Operations that were answered with success. */
const answered = new Set<string>();
beforeAll(async () => {
  api = await createTokenApi();
  document = await servedDocument(api, 'all');
  check = createAnswerCheck(document, api.deps.prefixes);
  api.refs.set(`${URL_A} main`, COMMIT);
});
afterAll(() => api.close());

/** Sends a request as an administrator; its answer has this status and is as the documents say. */
async function expectAnswer(
  status: number,
  method: string,
  url: string,
  body?: unknown,
  headers = {},
): Promise<Answer> {
  const answer = await api.as(api.tokens.admin, method, url, body, headers);
  expect({
    method,
    url,
    status: answer.status,
    mistakes: check.mistakes(method, url, answer),
    body: answer.body,
  }).toEqual({
    method,
    url,
    status,
    mistakes: [],
    body: answer.body,
  });
  if (status < 300) answered.add(check.operationOf(method, url) ?? url);
  return answer;
}

const V3 = {
  layer: {
    name: 'one',
    clone_url: URL_A,
    playbook: 'site.yml',
    branch: 'main',
    special_parameters: { ims_require_dkms: true },
  },
  inventory: { name: 'more', clone_url: URL_A, commit: COMMIT },
  report: { clone_url: URL_A, playbook: 'site.yml', commit: `${COMMIT}_failed`, session_name: 's' },
  state: { clone_url: URL_A, playbook: 'site.yml', commit: COMMIT, status: 'skipped', session_name: 's' },
};
const V2 = {
  layer: {
    name: 'one',
    cloneUrl: URL_A,
    playbook: 'site.yml',
    branch: 'main',
    specialParameters: { imsRequireDkms: true },
  },
  inventory: { name: 'more', cloneUrl: URL_A, commit: COMMIT },
  report: { cloneUrl: URL_A, playbook: 'site.yml', commit: `${COMMIT}_failed`, sessionName: 's' },
  state: { cloneUrl: URL_A, playbook: 'site.yml', commit: `${COMMIT}_skipped`, sessionName: 's' },
};

describe.each(['v3', 'v2'] as const)('answers of %s are as described', (version) => {
  const isV3 = version === 'v3';
  const { layer, inventory, report, state } = isV3 ? V3 : V2;
  const desire = (name: string) => (isV3 ? { desired_config: name } : { desiredConfig: name });
  const details = isV3 ? 'config_details=true&state_details=true' : 'configDetails=true';

  test('versions, health and options', async () => {
    for (const path of ['/', '/versions', '/v2', '/v3', '/healthz']) await expectAnswer(200, 'GET', path);
    await expectAnswer(200, 'GET', `/${version}/options`);
    await expectAnswer(200, 'PATCH', `/apis/cfs/${version}/options`, isV3 ? { batch_size: 7 } : { batchSize: 7 });
    await expectAnswer(400, 'PATCH', `/${version}/options`, { nonsense: 1 });
    await expectAnswer(415, 'PATCH', `/${version}/options`, '{}', { 'content-type': 'text/plain' });
  });

  test('configurations', async () => {
    const body = { description: 'all', layers: [layer], additional_inventory: inventory };
    await expectAnswer(200, 'PUT', `/${version}/configurations/site`, body);
    await expectAnswer(200, 'PUT', `/${version}/configurations/empty`, { layers: [] });
    const long = { ...V2.layer, name: 'n'.repeat(80), playbook: undefined };
    await expectAnswer(200, 'PUT', '/v2/configurations/long', {
      layers: [long],
      additional_inventory: { ...V2.inventory, name: '' },
    });
    await expectAnswer(200, 'PATCH', `/${version}/configurations/long`);
    await expectAnswer(200, 'PATCH', `/${version}/configurations/site`);
    await expectAnswer(200, 'GET', `/${version}/configurations`);
    await expectAnswer(200, 'GET', `/${version}/configurations?in_use=true`);
    await expectAnswer(200, 'GET', `/${version}/configurations/site`);
    await expectAnswer(400, 'PUT', `/${version}/configurations/site`, { layers: [{ ...layer, branch: 'gone' }] });
    await expectAnswer(400, 'PUT', `/${version}/configurations/site`, { layers: [layer, layer] });
    await expectAnswer(404, 'PATCH', `/${version}/configurations/none`);
    await expectAnswer(204, 'DELETE', `/${version}/configurations/empty`);
    if (isV3) await expectAnswer(400, 'GET', '/v3/configurations', undefined, { 'cray-tenant-name': 'unknown' });
  });

  test('components', async () => {
    const path = `/${version}/components`;
    const full = { ...desire('site'), state: [state], enabled: true, tags: { role: 'compute' } };
    await expectAnswer(200, 'PUT', `${path}/x1`, { ...full, ...(isV3 ? { retry_policy: 2 } : { retryPolicy: 2 }) });
    await expectAnswer(200, 'PUT', path, [{ id: 'x2', ...full }, { id: 'x3' }]);
    await expectAnswer(200, 'PATCH', `${path}/x1`, isV3 ? { state_append: report } : { stateAppend: report });
    await expectAnswer(200, 'PATCH', path, [{ id: 'x1', enabled: false }]);
    await expectAnswer(200, 'PATCH', path, { patch: desire('site'), filters: { ids: 'x1,x2' } });
    for (const query of ['', `?${details}`, '?status=pending&tags=role=compute', '?ids=x1']) {
      await expectAnswer(200, 'GET', path + query);
    }
    if (isV3) await expectAnswer(200, 'GET', `${path}?limit=1&${details}`);
    await expectAnswer(200, 'GET', `${path}/x1?${details}`);
    await expectAnswer(400, 'GET', `${path}?tags=nonsense`);
    await expectAnswer(400, 'PUT', path, [{}]);
    await expectAnswer(404, 'PATCH', path, [{ id: 'nobody' }]);
    await expectAnswer(404, 'GET', `${path}/nobody`);
    await expectAnswer(400, 'DELETE', `/${version}/configurations/site`);
    await expectAnswer(204, 'DELETE', `${path}/x3`);
  });

  test('sessions', async () => {
    const path = `/${version}/sessions`;
    const create = (name: string, more = {}) => ({
      name,
      ...(isV3 ? { configuration_name: 'site', ansible_limit: 'x1' } : { configurationName: 'site' }),
      ...more,
    });
    const target = { definition: 'spec', groups: [{ name: 'compute', members: ['x1'] }], image_map: [] };
    await expectAnswer(isV3 ? 201 : 200, 'POST', path, create(`${version}-one`, { tags: { a: 'b' } }));
    await expectAnswer(isV3 ? 201 : 200, 'POST', path, create(`${version}-two`, { target }));
    await expectAnswer(409, 'POST', path, create(`${version}-one`));
    await expectAnswer(
      400,
      'POST',
      path,
      create(`${version}-three`, { [isV3 ? 'configuration_name' : 'configurationName']: 'gone' }),
    );
    await expectAnswer(200, 'GET', path);
    if (isV3) await expectAnswer(200, 'GET', `${path}?limit=1&status=pending`);
    await expectAnswer(200, 'GET', `${path}/${version}-one`);
    const artifacts = [{ image_id: 'i', result_id: 'r', type: 'ims_customized_image' }];
    const status = { session: { status: 'complete', succeeded: 'true', job: 'j' }, artifacts };
    await expectAnswer(200, 'PATCH', `${path}/${version}-one`, { status });
    if (isV3) await expectAnswer(409, 'PATCH', `${path}/${version}-one`, { status });
    await expectAnswer(200, 'GET', `${path}/${version}-one`);
    await expectAnswer(400, 'GET', `${path}?min_age=long`);
    await expectAnswer(isV3 ? 200 : 204, 'DELETE', path);
    await expectAnswer(204, 'DELETE', `${path}/${version}-two`);
    await expectAnswer(404, 'DELETE', `${path}/${version}-two`);
  });
});

test('answers about what happened are as described', async () => {
  await expectAnswer(200, 'GET', '/api/v1/audit?kind=component&limit=1');
  await expectAnswer(200, 'GET', '/api/v1/audit');
  await expectAnswer(400, 'GET', '/api/v1/audit?since=yesterday');
  await expectAnswer(200, 'GET', '/api/v1/components/x1/timeline?limit=1');
  await expectAnswer(200, 'GET', '/api/v1/components/x1/timeline');
  await expectAnswer(404, 'GET', '/api/v1/components/nobody/timeline');
});

test('answers about sources are as described', async () => {
  const credentials = { username: 'u', password: 'p' };
  await expectAnswer(201, 'POST', '/v3/sources', { clone_url: URL_A, credentials, ca_cert: { configmap_name: 'ca' } });
  await expectAnswer(409, 'POST', '/v3/sources', { clone_url: URL_A, credentials });
  const { body } = await expectAnswer(201, 'POST', '/v3/sources', { name: 'site', clone_url: URL_A, credentials });
  await expectAnswer(200, 'GET', '/v3/sources?limit=1');
  await expectAnswer(200, 'GET', '/v3/sources/https%253A%252F%252Fgit.example.com%252Fa.git');
  await expectAnswer(200, 'PATCH', '/v3/sources/site', { ca_cert: null, description: 'the site' });
  await expectAnswer(400, 'PATCH', '/v3/sources/site', { credentials: { username: 'u' } });
  await expectAnswer(404, 'PATCH', '/v3/sources/none', {});
  const restored = { clone_url: URL_A, credentials: body.credentials };
  await expectAnswer(201, 'POST', '/v3/sources/again', restored);
  await expectAnswer(204, 'DELETE', '/v3/sources/site');
});

describe("answers of Muster's own routes are as described", () => {
  const path = '/api/v1/sessions';
  const make = async (name: string) => {
    await expectAnswer(201, 'POST', '/v3/sessions', { name, configuration_name: 'site' });
    return sessionId(api.deps.db, name);
  };

  test('a session in each of its states', async () => {
    const { db } = api.deps;
    const id = await make('own');
    await expectAnswer(200, 'GET', `${path}/own`);
    await addRun(db, id, {
      layer: 0,
      exitCode: 2,
      results: [
        { host: 'h1', status: 'applied' },
        { host: 'h2', status: 'failed' },
      ],
    });
    await addOutput(db, id, 0, 0, 'PLAY [all]\n');
    await setSession(db, id, { stage: 'admitted', status: 'running', phase: 'hold', layer: 0 });
    for (const part of ['', '/events', '/logs', '/hosts', '/progress'])
      await expectAnswer(200, 'GET', `${path}/own${part}`);
    await expectAnswer(200, 'GET', `${path}/own/logs`, undefined, { accept: 'text/plain' });
    await expectAnswer(202, 'POST', `${path}/own/retry`, { hosts: 'failed' });
    await expectAnswer(202, 'POST', `${path}/own/finish-debug`);
    await endSession(db, id, 'false');
    for (const part of ['', '/hosts', '/progress']) await expectAnswer(200, 'GET', `${path}/own${part}`);
    await expectAnswer(200, 'GET', `${path}/own/events`, undefined, { accept: 'text/event-stream' });
    await expectAnswer(201, 'POST', `${path}/own/retry`, { name: 'own-again' });
    await expectAnswer(409, 'POST', `${path}/own/cancel`);
    await expectAnswer(202, 'POST', `${path}/own-again/cancel`, { reason: 'enough' });
    await expectAnswer(202, 'POST', `${path}/cancel`, { names: ['own'] });
    await expectAnswer(200, 'GET', `${path}/own-again`);
    await expectAnswer(200, 'GET', `${path}?order=newest&limit=1`);
    await expectAnswer(404, 'GET', `${path}/none/progress`);
    await expectAnswer(400, 'GET', `${path}/own/events?tail=0`);
  });

  test('imports', async () => {
    const name = 'foreign';
    const layers = [{ clone_url: URL_A, playbook: 'site.yml', commit: COMMIT }];
    const credentials = { authentication_method: 'password', secret_name: 'foreign-git' };
    const imports = {
      sources: [{ name, clone_url: URL_A, credentials }, { name: 7 }],
      configurations: [
        { name, layers },
        { name: 'broken', layers: [{ playbook: 'p' }] },
      ],
      components: [{ id: name, desired_config: name, state: [V3.state] }, { id: '' }],
      options: [{ name: 'batch_size', value: 5 }],
    };
    for (const [kind, records] of Object.entries(imports)) {
      await expectAnswer(200, 'POST', `/api/v1/import/${kind}?dry_run=true`, { records });
      await expectAnswer(200, 'POST', `/api/v1/import/${kind}?keep=true`, { records });
      await expectAnswer(400, 'POST', `/api/v1/import/${kind}`, { records: {} });
    }
  });

  test('status, secrets, tokens and trust', async () => {
    await expectAnswer(200, 'GET', '/api/v1/status');
    for (const query of ['', '/keys', '?state=ended']) await expectAnswer(200, 'GET', `/api/v1/batches${query}`);
    for (const word of ['pause', 'resume']) await expectAnswer(200, 'POST', `/api/v1/batches/${word}`);
    await expectAnswer(202, 'POST', '/api/v1/batches/tick');
    await expectAnswer(404, 'POST', '/api/v1/batches/pause', { key: 'none' });
    await expectAnswer(404, 'GET', '/api/v1/batches/none');
    const batch = '6f1c1d0a-8f4b-4d4a-9a3e-0f6d8a1f9b11';
    await sql`insert into batches (id, key, configuration, layers, opened_at)
      values (${batch}, 'web:0:', 'web', '0', now())`.execute(api.deps.db);
    await expectAnswer(200, 'GET', `/api/v1/batches/${batch}`);
    await expectAnswer(200, 'GET', '/api/v1/batches');
    await expectAnswer(204, 'PUT', '/api/v1/secrets/site-git/password', { value: 'v' });
    await expectAnswer(204, 'PUT', '/api/v1/secrets/site-git/username', { value: 'u' });
    await expectAnswer(200, 'GET', '/api/v1/options');
    await expectAnswer(200, 'PATCH', '/api/v1/options', { batch_window: 60 });
    await expectAnswer(200, 'POST', '/api/v1/secrets/rotate-key');
    await expectAnswer(200, 'GET', '/api/v1/secrets');
    await expectAnswer(200, 'GET', '/api/v1/secrets/ansible-vault-password/usage');
    await expectAnswer(204, 'DELETE', '/api/v1/secrets/site-git/username');
    await expectAnswer(204, 'DELETE', '/api/v1/secrets/site-git');
    await expectAnswer(201, 'POST', '/api/v1/tokens', { role: 'node', component: 'x1', name: 'n1', expires_in: 60 });
    await expectAnswer(409, 'POST', '/api/v1/tokens', { role: 'reader', name: 'n1' });
    await expectAnswer(200, 'GET', '/api/v1/tokens?limit=1');
    await expectAnswer(200, 'GET', '/api/v1/tokens/n1');
    await expectAnswer(204, 'DELETE', '/api/v1/tokens/n1');
    await expectAnswer(404, 'DELETE', '/api/v1/tokens/n1');
    await expectAnswer(200, 'GET', '/api/v1/trust');
    await expectAnswer(404, 'GET', '/api/v1/trust/ca');
    await recordAuthority(api.deps.db, 'ssh-ed25519 AAAA ca', new Date());
    await expectAnswer(200, 'GET', '/api/v1/trust/ca');
  });
});

test('drift', async () => {
  const layers = [{ clone_url: 'https://git.test/drift.git', playbook: 'site.yml', commit: COMMIT }];
  await expectAnswer(200, 'PUT', '/v3/configurations/drifting', { layers });
  await expectAnswer(200, 'PUT', '/v3/components', [{ id: 'drift1', desired_config: 'drifting' }]);
  await expectAnswer(200, 'POST', '/api/v1/components/reset-errors', { ids: ['drift1'] });
  await expectAnswer(200, 'POST', '/api/v1/hostlists', { hosts: 'n[1-3]' });
  await expectAnswer(400, 'POST', '/api/v1/hostlists', { hosts: 'n[3-1]' });
  await answerComponents(expectAnswer, 'drift1');
  await expectAnswer(200, 'POST', '/api/v1/components/selections', { filter: { hosts: 'drift1,gone' } });
  await expectAnswer(200, 'POST', '/api/v1/components/actions', { action: 'enable', selection: { ids: ['drift1'] } });
  await expectAnswer(410, 'POST', '/api/v1/components/actions', {
    action: 'enable',
    selection: '5f0c8d0e-1111-4222-8333-123456789abc',
  });
  await expectAnswer(201, 'POST', '/api/v1/drift/checks', { configuration: 'drifting', reconfigure: true });
  await expectAnswer(400, 'POST', '/api/v1/drift/checks', {});
  await expectAnswer(404, 'POST', '/api/v1/drift/checks', { configuration: 'nothing' });
  await expectAnswer(404, 'GET', '/api/v1/drift/drift1');
  const change = { task: 't', action: 'copy', play: 'p', role: 'r', file: 'site.yml:1', diff: '+a', censored: true };
  await api.deps.db
    .insertInto('drift')
    .values({
      component_id: 'drift1',
      clone_url: 'u',
      playbook: 'p',
      commit: COMMIT,
      configuration: 'drifting',
      layer: 0,
      status: 'drifted',
      changed: 2,
      changes: JSON.stringify([change]),
      changes_left_out: 1,
      session_id: crypto.randomUUID(),
      session_name: 's',
      checked_at: new Date(),
    })
    .execute();
  await expectAnswer(200, 'GET', '/api/v1/drift/drift1');
  await expectAnswer(200, 'GET', '/api/v1/drift?status=drifted&config_name=drifting&ids=drift1&limit=1');
  await expectAnswer(400, 'GET', '/api/v1/drift?status=broken');
  await expectAnswer(201, 'POST', '/v3/sessions', {
    name: 'drift-check',
    configuration_name: 'drifting',
    muster: { check: true },
  });
  await expectAnswer(200, 'GET', '/v3/sessions/drift-check');
});

test('images', async () => {
  const path = '/api/v1/images';
  const sent = await api.app.inject({
    method: 'POST',
    url: `${path}?name=base`,
    payload: smallTar(),
    headers: { authorization: `Bearer ${api.tokens.admin}` },
  });
  const made = { status: sent.statusCode, body: sent.json(), headers: sent.headers };
  expect([made.status, check.mistakes('POST', path, made)]).toEqual([201, []]);
  answered.add(check.operationOf('POST', path) ?? '');
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/${made.body.id}`);
  await expectAnswer(200, 'GET', `${path}/${made.body.id}/content`);
  const ims = '/apis/ims';
  const { body: key } = await expectAnswer(201, 'POST', `${ims}/public-keys`, { name: 'k', public_key: PUBLIC_KEY });
  await expectAnswer(200, 'GET', `${ims}/public-keys`);
  await expectAnswer(200, 'GET', `${ims}/public-keys/${key.id}`);
  const job = {
    job_type: 'customize',
    image_root_archive_name: 'out',
    artifact_id: made.body.id,
    public_key_id: key.id,
  };
  await expectAnswer(503, 'POST', `${ims}/jobs`, job);
  await noteImageWorker(api.deps.db, {
    store_id: IMAGE_STORE,
    queue: 'q',
    able: true,
    reason: '',
    seen_at: api.now.value,
  });
  const { body: started } = await expectAnswer(201, 'POST', `${ims}/jobs`, job);
  await expectAnswer(422, 'POST', `${ims}/jobs`, { ...job, more: 1 });
  await expectAnswer(400, 'POST', `${ims}/jobs`, { ...job, artifact_id: key.id });
  await expectAnswer(200, 'GET', `${ims}/jobs`);
  await expectAnswer(200, 'GET', `${ims}/jobs/${started.id}`);
  await expectAnswer(409, 'DELETE', `${ims}/images/${made.body.id}`);
  await expectAnswer(200, 'PATCH', `${ims}/jobs/${started.id}`, { status: 'error' });
  await expectAnswer(204, 'DELETE', `${ims}/jobs/${started.id}`);
  await expectAnswer(204, 'DELETE', `${ims}/jobs?status=error&age=1h`);
  await expectAnswer(204, 'DELETE', `${ims}/public-keys/${key.id}`);
  await expectAnswer(204, 'DELETE', `${path}/${made.body.id}`);
  const { body: image } = await expectAnswer(201, 'POST', `${ims}/images`, { name: 'elsewhere' });
  await expectAnswer(200, 'GET', `${ims}/images`);
  await expectAnswer(200, 'GET', `${ims}/images/${image.id}`);
  await expectAnswer(404, 'GET', `${path}/${image.id}/content`);
  await expectAnswer(200, 'PATCH', `${ims}/images/${image.id}`, { arch: 'aarch64' });
  await expectAnswer(204, 'DELETE', `${ims}/images/${image.id}`);
});

test('webhooks', async () => {
  const path = '/api/v1/webhooks';
  const body = { url: 'https://hooks.example.test/x', events: ['session.ended'] };
  await expectAnswer(201, 'POST', path, { ...body, name: 'ops' });
  await expectAnswer(409, 'POST', path, { ...body, name: 'ops' });
  await expectAnswer(400, 'POST', path, { ...body, name: 'other', events: [] });
  await expectAnswer(200, 'PATCH', `${path}/ops`, { enabled: false });
  await expectAnswer(202, 'POST', `${path}/ops/test`);
  await expectAnswer(200, 'GET', `${path}/ops/deliveries?limit=1&state=waiting`);
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/ops`);
  await expectAnswer(204, 'DELETE', `${path}/ops`);
  await expectAnswer(404, 'GET', `${path}/ops/deliveries`);
});

test('rollouts', async () => {
  const path = '/api/v1/rollouts';
  const layers = [{ clone_url: URL_A, playbook: 'site.yml', commit: COMMIT }];
  const muster = { rollout: { max_at_once: 2, canary: 1, max_failed: '10%' } };
  await expectAnswer(200, 'PUT', '/v3/configurations/rolled', { layers, muster });
  const now = new Date();
  const rollout = { configuration: 'rolled', version: 'v1', state: 'canary', stage: 'canary' } as const;
  await api.deps.db
    .insertInto('rollouts')
    .values({ ...rollout, created_at: now, updated_at: now })
    .execute();
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/rolled`);
  await expectAnswer(200, 'POST', `${path}/rolled/stop`, { reason: 'why' });
  await expectAnswer(200, 'POST', `${path}/rolled/resume`);
  await expectAnswer(404, 'POST', `${path}/nothing/stop`);
});

test('schedules', async () => {
  const path = '/api/v1/schedules';
  const body = { cron: '0 3 * * *', action: { refresh: {} } };
  await expectAnswer(201, 'POST', path, { ...body, name: 'nightly', paused: true });
  await expectAnswer(409, 'POST', path, { ...body, name: 'nightly' });
  await expectAnswer(400, 'POST', path, { ...body, name: 'other', cron: '0 24 * * *' });
  await expectAnswer(200, 'PUT', `${path}/weekly`, { ...body, action: { check: { filter: { tags: 'a=b' } } } });
  await expectAnswer(200, 'PATCH', `${path}/nightly`, { action: { session: { configuration_name: 'c' } } });
  await expectAnswer(200, 'POST', `${path}/nightly/resume`, {});
  await expectAnswer(200, 'POST', `${path}/nightly/pause`, { note: 'why' });
  const { body: run } = await expectAnswer(202, 'POST', `${path}/nightly/trigger`);
  await expectAnswer(200, 'GET', `${path}/nightly/runs/${run.id}`);
  await expectAnswer(404, 'GET', `${path}/weekly/runs/${run.id}`);
  await expectAnswer(200, 'GET', `${path}/nightly/runs?limit=1`);
  await expectAnswer(200, 'GET', `${path}/nightly/next?count=1`);
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/nightly`);
  await expectAnswer(204, 'DELETE', `${path}/nightly`);
  await expectAnswer(404, 'DELETE', `${path}/nightly`);
});

test('runs', async () => {
  const path = '/api/v1/runs/toy-1-1';
  const owner = { kind: 'toy', id: '1' };
  const run = { id: 'toy-1-1', sessionId: null, owner, streamId: 'toy-1-1', layer: 0, attempt: 1, host: 'disk' };
  await openRun(api.deps.db, run, new Date());
  await expectAnswer(200, 'GET', path);
  await expectAnswer(200, 'GET', `${path}/events?limit=1`);
  await expectAnswer(200, 'GET', `${path}/logs?limit=1`);
  await expectAnswer(202, 'POST', `${path}/end`);
  await expectAnswer(404, 'GET', '/api/v1/runs/none');
  await expectAnswer(404, 'POST', '/api/v1/runs/none/end');
});

test('the model of propagation', () => answerModel(expectAnswer, api.deps.db));
test('sign-in, who asks, and the fleet', () => answerSignIn(expectAnswer, api.tokens));
test('streams of topics', () => answerStreams(expectAnswer, api));
test('many sessions, and everything at once', () => answerStops(expectAnswer));
test('versions and use of a configuration', () => answerVersions(expectAnswer));
test('operators', () => answerOperators(expectAnswer, api.deps.db, api.now.value));
test('member clusters and what goes to them', () => answerDeployments(expectAnswer, api.deps.db));

test('plans of propagation', () => answerPlans(expectAnswer, api.deps.db));

test('refusals before any rule are as described', async () => {
  const refused = async (status: number, headers: Record<string, string>, method = 'PATCH') => {
    const answer = await api.call(method, '/v3/options', {}, headers);
    expect([answer.status, check.mistakes(method, '/v3/options', answer)]).toEqual([status, []]);
  };
  await refused(401, {});
  await refused(403, { authorization: `Bearer ${api.tokens.reader}` });
  await refused(403, { authorization: `Bearer ${api.tokens.admin}`, origin: 'https://elsewhere.example' });
  await refused(421, { host: 'elsewhere.example' });
  await refused(405, { authorization: `Bearer ${api.tokens.admin}` }, 'PUT');
});

test('every operation was answered with success', () => {
  const described = Object.values(document.paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  // What is not built and refuses every request is described where its path has other methods; and no cloud ever has anything to stop.
  const never = ['post_project_logical_cloud_stop_v2', 'post_propagation_plans'];
  expect(described.filter((id) => !answered.has(id)).sort()).toEqual(never);
});

test('the check finds what is wrong', () => {
  const answer = (status: number, body: unknown, type = 'application/json') =>
    check.mistakes('GET', '/apis/cfs/v3/components/x1', {
      status,
      body,
      headers: { 'content-type': type, 'x-request-id': 'r' },
    });
  expect(answer(200, { id: 'x1' })).not.toEqual([]);
  expect(answer(200, {}, 'text/plain')).toEqual(['type "text/plain" is not described for 200']);
  expect(answer(418, {})).toEqual(['status 418 is not described']);
  expect(answer(404, { title: 'x' }, 'application/problem+json')).not.toEqual([]);
});
