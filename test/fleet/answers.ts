/** Operations on many sessions and on everything, each once with success, for the test that compares answers with the documents. */
import type { Answer } from '../support/stack/test-api.ts';

type Expect = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

const SESSIONS = '/api/v1/sessions';

/** Sends the requests; `expectAnswer` looks at each answer. */
export async function answerStops(expectAnswer: Expect): Promise<void> {
  await expectAnswer(200, 'GET', `${SESSIONS}?count=true&limit=1&order=newest&host=h[1-2]`);
  await expectAnswer(400, 'GET', `${SESSIONS}?host=h[`);
  await expectAnswer(202, 'POST', `${SESSIONS}/retry`, { names: ['own', 'none'], hosts: 'all', reason: 'again' });
  await expectAnswer(200, 'POST', `${SESSIONS}/delete`, { names: ['own', 'none'] });
  await expectAnswer(400, 'POST', `${SESSIONS}/delete`, {});
  const pause = { method: 'POST', path: '/api/v1/batches/pause', body: {} };
  await expectAnswer(200, 'POST', '/api/v1/dry-run', pause);
  await expectAnswer(400, 'POST', '/api/v1/dry-run', { ...pause, path: '/api/v1/stop' });
  await expectAnswer(200, 'GET', '/api/v1/stop');
  await expectAnswer(200, 'POST', '/api/v1/stop', { reason: 'a test' });
  await expectAnswer(400, 'POST', '/api/v1/stop', {});
  await expectAnswer(200, 'GET', '/api/v1/stop');
  await expectAnswer(200, 'POST', '/api/v1/go', { reason: 'over' });
}
