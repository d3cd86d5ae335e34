/** Operations of sign-in and of the fleet's numbers, for the test that compares answers with the documents. */
import type { Answer } from '../support/stack/test-api.ts';

type Expect = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

/** Sends the requests; `expectAnswer` looks at each answer. */
export async function answerSignIn(expectAnswer: Expect, tokens: { reader: string; node: string }): Promise<void> {
  await expectAnswer(200, 'GET', '/api/v1/sign-in');
  await expectAnswer(200, 'POST', '/api/v1/sign-in', { token: tokens.reader });
  await expectAnswer(401, 'POST', '/api/v1/sign-in', { token: 'wrong' });
  await expectAnswer(403, 'POST', '/api/v1/sign-in', { token: tokens.node });
  await expectAnswer(204, 'POST', '/api/v1/sign-out');
  await expectAnswer(200, 'GET', '/api/v1/me');
  await expectAnswer(200, 'GET', '/api/v1/fleet');
  await expectAnswer(200, 'GET', '/api/v1/fleet/attention');
  await expectAnswer(200, 'GET', '/api/v1/fleet/grid?group=configuration');
  await expectAnswer(200, 'GET', '/api/v1/fleet/grid?fields=status');
  await expectAnswer(200, 'GET', '/api/v1/fleet/throughput');
}
