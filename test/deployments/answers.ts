/** Requests of every operation of lane deployments, each answered as the documents say. */
import type { Db } from '../../store/connection/database.ts';
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';
import { answerPlacement } from './placement-answers.ts';

type Expect = (status: number, method: string, url: string, body?: unknown, headers?: object) => Promise<unknown>;

export async function answerDeployments(expectAnswer: Expect, db: Db): Promise<void> {
  await answerClusters(expectAnswer);
  await answerPlacement(expectAnswer, db);
}

async function answerClusters(expectAnswer: Expect): Promise<void> {
  const path = '/v2/cluster-providers';
  const form = formOf(named('north'), kubeconfigOf());
  await expectAnswer(201, 'POST', path, named('lab'));
  await expectAnswer(409, 'POST', path, named('lab'));
  await expectAnswer(422, 'POST', path, '{');
  await expectAnswer(200, 'GET', path);
  await expectAnswer(200, 'GET', `${path}/lab`);
  const clusters = `${path}/lab/clusters`;
  await expectAnswer(201, 'POST', clusters, form, FORM_HEADERS);
  await expectAnswer(422, 'POST', clusters, 'no form', FORM_HEADERS);
  await expectAnswer(415, 'POST', clusters, {});
  await expectAnswer(400, 'POST', clusters, formOf(named('south'), '{}'), FORM_HEADERS);
  await expectAnswer(200, 'PUT', `${clusters}/north`, form, FORM_HEADERS);
  await expectAnswer(200, 'GET', clusters);
  await expectAnswer(409, 'DELETE', `${path}/lab`);
  for (const accept of ['application/json', 'application/octet-stream', 'multipart/form-data']) {
    await expectAnswer(200, 'GET', `${clusters}/north`, undefined, { accept });
  }
  await expectAnswer(406, 'GET', `${clusters}/north`, undefined, { accept: 'text/html' });
  const labels = `${clusters}/north/labels`;
  await expectAnswer(201, 'POST', labels, { 'label-name': 'edge' });
  await expectAnswer(200, 'GET', labels);
  await expectAnswer(200, 'GET', `${labels}/edge`);
  await expectAnswer(200, 'GET', `${clusters}?label=edge`);
  await expectAnswer(200, 'GET', '/api/v1/clusters?limit=1');
  await expectAnswer(200, 'GET', '/api/v1/clusters/lab%2Bnorth');
  await expectAnswer(400, 'GET', '/api/v1/clusters/north');
  await expectAnswer(204, 'DELETE', `${labels}/edge`);
  await expectAnswer(204, 'DELETE', `${clusters}/north`);
  await expectAnswer(204, 'DELETE', `${path}/lab`);
  await expectAnswer(404, 'GET', `${path}/lab`);
}
