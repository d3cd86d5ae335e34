/** Operations of streams of topics, for the test that compares answers with the documents. */
import type { Answer } from '../support/stack/test-api.ts';
import type { TokenApi } from '../support/stack/token-api.ts';

type Expect = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

/** Sends the requests; `expectAnswer` looks at each answer. The stream itself is an administrator's, as they are. */
export async function answerStreams(expectAnswer: Expect, { app, tokens }: TokenApi): Promise<void> {
  await expectAnswer(200, 'GET', '/api/v1/system');
  await expectAnswer(200, 'GET', '/api/v1/stream?topics=sessions');
  await expectAnswer(404, 'POST', '/api/v1/stream/none/topics', { topics: [] });
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${tokens.admin}` };
  const opened = await app.inject({ url: '/api/v1/stream', headers, payloadAsStream: true });
  const stream = opened.stream();
  let text = '';
  while (!text.includes('"id":')) {
    const piece = stream.read() as Buffer | null;
    if (piece === null) await new Promise((resolve) => stream.once('readable', resolve));
    else text += piece.toString();
  }
  const id = /"id":"([0-9a-f]+)"/.exec(text)?.[1];
  await expectAnswer(200, 'POST', `/api/v1/stream/${id}/topics`, { topics: ['sessions'] });
  stream.destroy();
}
