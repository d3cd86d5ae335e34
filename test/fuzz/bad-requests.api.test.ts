import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ErrorCode, kindOf } from '../../domain/errors.ts';
import { DEPLOYMENT_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type AnswerCheck, createAnswerCheck } from '../support/fakes/answer-check.ts';
import { servedDocument } from '../support/openapi-files.ts';
import { countWrites, databaseChecksum } from '../support/postgres/database-checksum.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type BaseRequest, baseRequests } from './base-requests.ts';
import { type BadRequest, badRequest } from './mutations.ts';

/** Requests that are sent, unless the time is over before. */
const REQUESTS = 6_000;
const TIME_MS = 75_000;
const SEED = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 2 ** 31);
/** What a refused request may leave behind: the answer under its key. */
const NOTES = ['idempotent_requests'];

let api: TestApi;
let bases: BaseRequest[];
let check: AnswerCheck;
beforeAll(async () => {
  api = await createTestApi();
  const document = await servedDocument(api, 'all');
  bases = baseRequests(document);
  check = createAnswerCheck(document, api.deps.prefixes);
  api.refs.set('https://git.example.com/site.git main', 'a'.repeat(40));
  await fill();
  // The first key of all makes the secret that answers are sealed with, and the first deployment that which its archives are sealed with.
  await api.call('PATCH', '/v3/options', {}, { 'idempotency-key': 'first' });
  const deployment = bases.find(({ operation }) => operation === 'post_deployments')?.bodies[0];
  expect((await api.call('POST', '/api/v1/deployments', deployment)).status).toBeGreaterThanOrEqual(400);
  const [made] = await api.database.db
    .selectFrom('secrets')
    .select('name')
    .where('name', '=', DEPLOYMENT_KEY_SECRET)
    .execute();
  expect(made).toBeDefined();
});
afterAll(() => api.close());

/** Brings the records back that requests mean. */
async function fill(): Promise<void> {
  const layers = [
    { name: 'base', clone_url: 'https://git.example.com/site.git', playbook: 'site.yml', branch: 'main' },
  ];
  const credentials = { username: 'u', password: 'p' };
  await api.call('PUT', '/v3/configurations/site', { layers });
  await api.call('PUT', '/v3/components', [{ id: 'x1', desired_config: 'site' }, { id: 'x2' }]);
  await api.call('POST', '/v3/sources', { name: 'repo', clone_url: 'https://git.example.com/site.git', credentials });
  await api.call('POST', '/v3/sessions', { name: 'nightly', configuration_name: 'site' });
  await api.call('PATCH', '/v3/options', { logging_level: 'ERROR' });
}

const checksum = () => databaseChecksum(api.database.db, NOTES);

test('thousands of mutated requests are refused properly and change nothing', async () => {
  process.stderr.write(`seed ${SEED}; the same again with MUSTER_TEST_SEED\n`);
  let sent = 0;
  // To compare all that is stored takes the database most of the time, so it is done where something may have been written.
  const writes = await countWrites(api.database.db, NOTES);
  // Counted first: what is written meanwhile is compared again.
  let seen = await writes();
  let before = await checksum();
  const counts: Record<string, number> = {};
  const send = async (request: BadRequest): Promise<void> => {
    const { method, url, headers, body } = request;
    const answer = await api.app.inject({
      method: method as 'GET',
      url,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
    sent++;
    const { statusCode: status } = answer;
    counts[status] = (counts[status] ?? 0) + 1;
    const json = /json/.test(String(answer.headers['content-type']));
    const parsed: unknown = json && answer.body !== '' ? JSON.parse(answer.body) : answer.body;
    const mistakes = check.mistakes(method, url, { status, body: parsed, headers: answer.headers });
    expect(mistakes).toEqual([]);
    if (status < 400) {
      if (method === 'DELETE') await fill();
      if (method === 'GET') return;
      seen = await writes();
      before = await checksum();
      return;
    }
    const problem = parsed as { code: ErrorCode; status: number };
    // What is known and not built says so.
    if (status === 501) expect(problem.code).toMatch(/^(level_)?not_supported$/);
    else expect(status).toBeLessThan(500);
    expect([problem.status, kindOf(problem.code, status)?.status]).toEqual([status, status]);
    if (method === 'GET') return;
    const count = await writes();
    if (count === seen) return;
    expect(await checksum()).toBe(before);
    seen = count;
  };
  const writing = bases.filter(({ method }) => method !== 'GET');
  const base = fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...bases) },
    { weight: 2, arbitrary: fc.constantFrom(...writing) },
  );
  const request = base.chain(badRequest);
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      try {
        await send(one);
      } catch (error) {
        seen = await writes();
        before = await checksum();
        const log = api.logged.filter(({ level }) => Number(level) >= 50).slice(-2);
        throw new Error(`${one.operation}: ${messageOf(error)}\n${JSON.stringify(log)}`);
      } finally {
        api.logged.length = 0;
      }
    }),
    { seed: SEED, numRuns: REQUESTS, interruptAfterTimeLimit: TIME_MS },
  );
  process.stderr.write(`${sent} requests, answers by status: ${JSON.stringify(counts)}\n`);
  // What was created was noticed as written.
  expect(seen).toBeGreaterThan(counts[201] ?? 0);
  // On a busy machine the time is over first; a few hundred would say little.
  expect(sent).toBeGreaterThan(300);
  // Most are refused, and not all for the same reason.
  expect(Object.keys(counts).filter((status) => status.startsWith('4')).length).toBeGreaterThan(3);
}, 180_000);
