/** Operations on many sessions and on everything, each once with success, for the test that compares answers with the documents. */
import type { Answer } from '../support/stack/test-api.ts';

type Expect = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

const SESSIONS = '/api/v1/sessions';

/** Sends the requests; `expectAnswer` looks at each answer. */
export async function answerStops(expectAnswer: Expect): Promise<void> {
  await expectAnswer(200, 'GET', `${SESSIONS}?count=true&limit=1&order=newest&host=h[1-2]`);
  await expectAnswer(400, 'GET', `${SESSIONS}?host=h[`);
  await expectAnswer(200, 'GET', `${SESSIONS}/own/log-lines?tail=5`);
  await expectAnswer(200, 'GET', `${SESSIONS}/own/log-search?q=a`);
  await expectAnswer(400, 'GET', `${SESSIONS}/own/log-search`);
  await expectAnswer(200, 'GET', `${SESSIONS}/own/log-marks`);
  await expectAnswer(404, 'GET', `${SESSIONS}/never/log-lines`);
  await expectAnswer(410, 'GET', `${SESSIONS}/own?id=01234567-89ab-4cde-8f01-23456789abcd`);
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

/** Sends the requests about the versions and the use of one configuration. */
export async function answerVersions(expectAnswer: Expect): Promise<void> {
  const layer = { clone_url: 'https://git.example.test/one.git', playbook: 'versions.yml', commit: 'a'.repeat(40) };
  const muster = { rollout: { canary: 1 } };
  await expectAnswer(200, 'PUT', '/v3/configurations/versions', { description: 'old', layers: [layer], muster });
  await expectAnswer(200, 'PUT', '/v3/configurations/versions', { layers: [] });
  const path = '/api/v1/configurations/versions';
  const { body } = await expectAnswer(200, 'GET', `${path}/history?limit=1`);
  await expectAnswer(200, 'GET', `${path}/history?limit=1&after_id=${body.next.after_id}`);
  await expectAnswer(200, 'GET', `${path}/diff?from=current&to=${body.versions[0].id}`);
  await expectAnswer(404, 'GET', `${path}/diff?from=1-1`);
  await expectAnswer(400, 'GET', `${path}/diff`);
  await expectAnswer(404, 'GET', '/api/v1/configurations/never/history');
  await expectAnswer(200, 'GET', `${path}/usage`);
  await expectAnswer(200, 'POST', '/api/v1/configurations/resolve', { layers: [layer, { ...layer, source: 'none' }] });
  await expectAnswer(400, 'POST', '/api/v1/configurations/resolve', {});
  await expectAnswer(204, 'DELETE', '/v3/configurations/versions');
  await expectAnswer(200, 'GET', `${path}/history`);
}
