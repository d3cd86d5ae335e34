/** Every operation of the model once with success, for the test that compares answers with the documents. */

import { advance } from '../../../control/propagation/advance.ts';
import { recordAttempt } from '../../../control/propagation/record-attempt.ts';
import type { TestDatabase } from '../../support/postgres/test-database.ts';
import type { Answer } from '../../support/stack/test-api.ts';
import { PART, PART_FILES } from './model-api.ts';

const BASE = '/api/v1/propagation';

type Expect = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

/** Sends the requests; `expectAnswer` looks at each answer. */
export async function answerModel(expectAnswer: Expect, db: TestDatabase['db']): Promise<void> {
  await answerDefinitions(expectAnswer);
  await answerResources(expectAnswer);
  await answerEvents(expectAnswer);
  await answerChanges(expectAnswer, db);
  await expectAnswer(200, 'POST', `${BASE}/simulate`, { staged: ['a.run'], events: 'on a.run changed a.run' });
  await expectAnswer(400, 'POST', `${BASE}/simulate`, { staged: ['a.run'], events: 'on' });
  for (const name of ['web', 'db']) await expectAnswer(200, 'DELETE', `${BASE}/resources/${name}?force=true`);
  await expectAnswer(204, 'DELETE', PART);
  await expectAnswer(204, 'DELETE', `${BASE}/repositories/apps`);
}

async function answerDefinitions(expectAnswer: Expect): Promise<void> {
  const path = `${BASE}/repositories`;
  await expectAnswer(201, 'POST', path, { name: 'apps' });
  await expectAnswer(409, 'POST', path, { name: 'apps' });
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(201, 'PUT', PART, { files: PART_FILES });
  await expectAnswer(200, 'PUT', PART, { files: PART_FILES });
  await expectAnswer(200, 'GET', PART);
  await expectAnswer(200, 'GET', `${path}/apps`);
  await expectAnswer(404, 'GET', `${path}/none`);
  await expectAnswer(201, 'POST', path, { name: 'site', url: 'https://git.test/defs.git', ref: 'main' });
  await expectAnswer(202, 'POST', `${path}/site/sync`);
  await expectAnswer(422, 'POST', `${path}/apps/sync`);
  await expectAnswer(200, 'GET', `${path}/site`);
  await expectAnswer(200, 'GET', `${path}?limit=10`);
  await expectAnswer(204, 'DELETE', `${path}/site`);
}

async function answerResources(expectAnswer: Expect): Promise<void> {
  const path = `${BASE}/resources`;
  for (const name of ['db', 'web']) await expectAnswer(201, 'POST', path, { name, from: 'apps/part' });
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'PATCH', `${path}/db`, { inputs: { v: 'x' } });
  await expectAnswer(200, 'PUT', `${path}/db/tags`, { tags: ['zone=a'] });
  await expectAnswer(200, 'DELETE', `${path}/db/tags`, { tags: ['zone=a'] });
  await expectAnswer(200, 'POST', `${path}/db/stage`, { action: 'reload' });
  const connections = `${BASE}/connections`;
  const pair = { emitter: 'db', receiver: 'web' };
  const made = await expectAnswer(201, 'POST', connections, { ...pair, mapping: { v: ['v', 'env:V'] } });
  await expectAnswer(200, 'GET', `${path}/web`);
  await expectAnswer(200, 'GET', `${connections}?limit=1`);
  await expectAnswer(204, 'DELETE', `${connections}/${made.body.connections[0].id}`);
  await expectAnswer(200, 'POST', `${connections}/delete`, pair);
  await expectAnswer(404, 'POST', `${connections}/delete`, pair);
}

async function answerEvents(expectAnswer: Expect): Promise<void> {
  const path = `${BASE}/events`;
  const event = { type: 'react_on', parent: 'db.run', on: 'changed', child: 'web.reload' };
  const { body } = await expectAnswer(201, 'POST', path, event);
  await expectAnswer(201, 'POST', `${path}/bulk`, ['after db.run any web.run']);
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/${body.id}`);
  await expectAnswer(204, 'DELETE', `${path}/${body.id}`);
  await expectAnswer(200, 'POST', `${path}/delete`, { child: 'web' });
}

async function answerChanges(expectAnswer: Expect, db: TestDatabase['db']): Promise<void> {
  const path = `${BASE}/changes`;
  const { body } = await expectAnswer(200, 'POST', `${path}/stage`, {});
  await expectAnswer(200, 'GET', `${path}/staged?limit=1`);
  await expectAnswer(200, 'GET', `${path}/staged/${body.changes[0].uid}`);
  const [{ uid, resource, action, diff, base_path }] = body.changes;
  await expectAnswer(404, 'GET', `${path}/history/${uid}`);
  // What a plan leaves behind.
  const item = { uid, resource, action, diff: JSON.stringify(diff), connections_diff: '[]', base_path };
  const row = { ...item, tags: ['zone=a'], plan: null, committed_at: new Date() };
  await db.insertInto('propagation_history').values(row).execute();
  await expectAnswer(200, 'GET', `${path}/history`);
  await expectAnswer(200, 'GET', `${path}/history/${uid}`);
  const reload = body.changes.find(({ action }: { action: string }) => action === 'reload');
  await expectAnswer(200, 'POST', `${path}/discard`, { uids: [reload.uid] });
}

/** Every operation of plans once with success, on resources that no other test of answers has. */
export async function answerPlans(expectAnswer: Expect, db: TestDatabase['db']): Promise<void> {
  const path = `${BASE}/plans`;
  await expectAnswer(201, 'POST', `${BASE}/repositories`, { name: 'apps' });
  await expectAnswer(201, 'PUT', PART, { files: PART_FILES });
  const place = { location_id: 'localhost' };
  for (const name of ['one', 'two']) {
    await expectAnswer(201, 'POST', `${BASE}/resources`, { name, from: 'apps/part', inputs: place });
  }
  await expectAnswer(201, 'POST', `${BASE}/events`, {
    type: 'react_on',
    parent: 'one.run',
    on: 'ok',
    child: 'one.run',
  });
  await expectAnswer(200, 'POST', `${BASE}/changes/process?preview=true`, {});
  await expectAnswer(200, 'POST', `${BASE}/changes/simulate`, {});
  const other = (await expectAnswer(201, 'POST', `${BASE}/changes/process`, { tags: 'name=two' })).body.id;
  const { id } = (await expectAnswer(201, 'POST', `${BASE}/changes/process`, { tags: 'name=one' })).body;
  await expectAnswer(409, 'POST', `${BASE}/changes/process`, {});
  await expectAnswer(202, 'POST', `${path}/${id}/run`);
  const deps = { db, clock: () => new Date() };
  const [attempt] = (await advance(deps, { plan: id, own: [], away: [] })).attempts;
  const attempts = `${BASE}/attempts/${attempt?.attempt}`;
  for (const read of ['', '/events', '/logs']) await expectAnswer(200, 'GET', `${attempts}${read}`);
  for (const verb of ['pause', 'unpause', 'stop', 'abort']) await expectAnswer(202, 'POST', `${path}/${id}/${verb}`);
  await recordAttempt(deps, attempt?.attempt ?? '', { outcome: 'failed', verified: false });
  await expectAnswer(202, 'POST', `${attempts}/release`);
  await advance(deps, { plan: id, own: [], away: [] });
  for (const read of ['', '/nodes', '/edges', '/report', '/events', '/nodes/one.run%230/attempts']) {
    await expectAnswer(200, 'GET', `${path}/${id}${read}`);
  }
  await expectAnswer(200, 'GET', `${path}/${id}/graph`);
  await expectAnswer(200, 'GET', `${path}/${id}/nodes/one.run%230`);
  await expectAnswer(200, 'GET', `${path}/${id}/nodes/one.run%231/explain`);
  await expectAnswer(200, 'POST', `${path}/${id}/simulate`, {});
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(202, 'POST', `${path}/${id}/resume`);
  // Nothing was skipped, so it ends as before.
  await advance(deps, { plan: id, own: [], away: [] });
  await expectAnswer(202, 'POST', `${path}/${id}/retry`, {});
  await expectAnswer(202, 'POST', `${path}/${id}/stop`);
  await advance(deps, { plan: id, own: [], away: [] });
  for (const plan of [id, other]) {
    await expectAnswer(202, 'POST', `${path}/${plan}/abandon`);
    await expectAnswer(204, 'DELETE', `${path}/${plan}`);
  }
  for (const name of ['one', 'two']) await expectAnswer(200, 'DELETE', `${BASE}/resources/${name}?force=true`);
  await expectAnswer(204, 'DELETE', PART);
  await expectAnswer(204, 'DELETE', `${BASE}/repositories/apps`);
}
