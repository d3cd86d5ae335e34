/** Requests of every operation on operators, each answered as the documents say. */
import type { Db } from '../../../store/connection/database.ts';
import { addOperator, addWidget, begin, end } from './fixtures.ts';

type Expect = (status: number, method: string, url: string, body?: unknown, headers?: object) => Promise<unknown>;

export async function answerOperators(expectAnswer: Expect, db: Db, now: Date): Promise<void> {
  const path = '/api/v1/operator';
  await addOperator(db, now);
  const resource = await addWidget(db, 'one', now);
  const record = await begin(db, resource, now);
  await end(db, record, 'failed', now, ['boom']);
  await expectAnswer(200, 'GET', path);
  await expectAnswer(200, 'GET', `${path}/watches?operator=demo`);
  await expectAnswer(404, 'GET', `${path}/watches?operator=none`);
  await expectAnswer(200, 'GET', `${path}/resources?limit=1`);
  await expectAnswer(404, 'GET', `${path}/resources?operator=none`);
  const one = `${path}/resources/${resource}`;
  await expectAnswer(200, 'GET', one);
  await expectAnswer(404, 'GET', `${path}/resources/none`);
  await expectAnswer(200, 'GET', `${one}/reconciles?limit=1`);
  await expectAnswer(200, 'GET', `${path}/reconciles/${record.id}`);
  await expectAnswer(404, 'GET', `${path}/reconciles/none`);
  await expectAnswer(200, 'GET', `${path}/reconciles/${record.id}/events?limit=1`);
  await expectAnswer(200, 'GET', `${path}/reconciles/${record.id}/logs?limit=1`);
  await expectAnswer(202, 'POST', `${one}/reconcile`, {});
  await expectAnswer(422, 'POST', `${one}/reconcile`, { check: true });
  await expectAnswer(202, 'POST', `${one}/cancel`);
  await expectAnswer(404, 'POST', `${one}/cancel`);
  await expectAnswer(202, 'POST', `${one}/pause`, { until: '2126-01-01T00:00:00Z' });
  await expectAnswer(400, 'POST', `${one}/pause`, { until: '2020-01-01T00:00:00Z' });
  await expectAnswer(409, 'POST', `${one}/reconcile`);
  await expectAnswer(202, 'POST', `${one}/resume`);
  await expectAnswer(202, 'POST', `${path}/drain`, { run: true });
  await expectAnswer(404, 'POST', `${path}/drain`, { operator: 'none', run: true });
}
