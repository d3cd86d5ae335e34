/** Requests of every operation on projects, clouds and deployments, each answered as the documents say. */
import { beginPhase, finishPhase } from '../../control/deployments/run-phase.ts';
import type { Db } from '../../store/connection/database.ts';
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';
import { appForm, groupBody } from './placement-fixtures.ts';

type Expect = (status: number, method: string, url: string, body?: unknown, headers?: object) => Promise<unknown>;

export async function answerPlacement(expectAnswer: Expect, db: Db): Promise<void> {
  const good = (method: string, url: string, body?: unknown, headers?: object) =>
    expectAnswer(method === 'POST' ? 201 : method === 'DELETE' ? 204 : 200, method, url, body, headers);
  /** Makes, lists, reads; a second one of the name is refused. */
  const make = async (collection: string, body: object, name: string) => {
    await good('POST', collection, body);
    await expectAnswer(409, 'POST', collection, body);
    await good('GET', collection);
    await good('GET', `${collection}/${name}`);
  };
  await good('POST', '/v2/cluster-providers', named('answers'));
  const clusters = '/v2/cluster-providers/answers/clusters';
  await good('POST', clusters, formOf(named('north'), kubeconfigOf()), FORM_HEADERS);
  const controller = { ...named('rsync'), spec: { host: 'rsync', port: 9031, type: 'action', priority: 1 } };
  await make('/v2/controllers', controller, 'rsync');
  await good('PUT', '/v2/controllers/rsync', controller);
  await expectAnswer(400, 'PUT', '/v2/controllers/other', controller);
  await good('DELETE', '/v2/controllers/rsync');

  const project = '/v2/projects/answers';
  await make('/v2/projects', named('answers'), 'answers');
  await good('PUT', project, named('answers'));
  const app = `${project}/composite-apps/telemetry/v1`;
  await make(`${project}/composite-apps`, { ...named('telemetry'), spec: { version: 'v1' } }, 'telemetry/v1');
  await good('POST', `${app}/apps`, await appForm('agent'), FORM_HEADERS);
  await expectAnswer(422, 'POST', `${app}/apps`, formOf(named('broken'), 'no archive'), FORM_HEADERS);
  await good('GET', `${app}/apps`);
  for (const accept of ['application/json', 'application/octet-stream', 'multipart/form-data']) {
    await good('GET', `${app}/apps/agent`, undefined, { accept });
  }
  await make(`${app}/composite-profiles`, named('base'), 'base');
  const profiles = `${app}/composite-profiles/base/profiles`;
  const profile = { ...named('agent-base'), spec: { 'app-name': 'agent' } };
  await good('POST', profiles, formOf(profile, 'kept as it is'), FORM_HEADERS);
  await good('GET', profiles);
  await good('GET', `${profiles}/agent-base`, undefined, { accept: 'application/json' });

  const cloud = `${project}/logical-clouds/default`;
  await make(`${project}/logical-clouds`, { ...named('default'), spec: { level: '0' } }, 'default');
  await expectAnswer(501, 'POST', `${project}/logical-clouds`, { ...named('other'), spec: { level: '1' } });
  const reference = { 'cluster-provider': 'answers', 'cluster-name': 'north' };
  await make(`${cloud}/cluster-references`, { ...named('ref'), spec: reference }, 'ref');
  await expectAnswer(200, 'POST', `${cloud}/instantiate`);
  await expectAnswer(409, 'POST', `${cloud}/instantiate`);
  await expectAnswer(409, 'POST', `${cloud}/stop`);
  await good('GET', `${cloud}/status?output=summary`);

  const group = `${app}/deployment-intent-groups/edge`;
  await make(`${app}/deployment-intent-groups`, groupBody('edge'), 'edge');
  await make(`${group}/generic-placement-intents`, named('where'), 'where');
  const intents = `${group}/generic-placement-intents/where/app-intents`;
  const allOf = [{ 'provider-name': 'answers', 'cluster-name': 'north' }];
  await make(intents, { ...named('one'), spec: { 'app-name': 'agent', intent: { allOf } } }, 'one');
  await make(`${group}/intents`, { ...named('all'), spec: { intent: { genericPlacementIntent: 'where' } } }, 'all');
  await expectAnswer(409, 'POST', `${group}/instantiate`);
  await expectAnswer(202, 'POST', `${group}/approve`);
  const { body } = (await expectAnswer(202, 'POST', `${group}/instantiate`)) as { body: { instance: string } };
  await good('GET', `${group}/status?output=summary`);
  await expectAnswer(400, 'GET', `${group}/status?type=foo`);
  for (const output of ['apps', 'clusters', 'all', 'detail']) await good('GET', `${group}/status?output=${output}`);
  await good('GET', `${group}/status?app=agent&app=store&cluster=answers%2Bnorth&resource=cfg`);
  for (const query of ['type=all', 'type=cluster', 'format=legacy']) await good('GET', `${group}/status?${query}`);
  await expectAnswer(409, 'DELETE', `${clusters}/north`);
  await expectAnswer(202, 'POST', `${group}/stop`);
  // Nothing was sent, so nothing has to be deleted; but the phase is still at work.
  await expectAnswer(202, 'POST', `${group}/terminate`);
  await expectAnswer(409, 'DELETE', group);
  const engine = { db, clock: () => new Date() };
  await beginPhase(engine, body.instance);
  await finishPhase(engine, body.instance, 'delete');
  await expectAnswer(409, 'DELETE', group);
  for (const path of [`${group}/intents/all`, `${intents}/one`, `${group}/generic-placement-intents/where`, group]) {
    await good('DELETE', path);
  }
  await expectAnswer(200, 'POST', `${cloud}/terminate`);
  for (const path of [`${cloud}/cluster-references/ref`, cloud, `${profiles}/agent-base`]) await good('DELETE', path);
  for (const path of ['composite-profiles/base', 'apps/agent']) await good('DELETE', `${app}/${path}`);
  for (const path of [app, project]) await good('DELETE', path);
}
