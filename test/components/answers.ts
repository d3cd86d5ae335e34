import type { Answer } from '../support/stack/test-api.ts';

type ExpectAnswer = (status: number, method: string, url: string, body?: unknown) => Promise<Answer>;

/** Lists of components, and why one of them stands as it does. */
export async function answerComponents(expectAnswer: ExpectAnswer, id: string): Promise<void> {
  const list = '/api/v1/components';
  await expectAnswer(200, 'GET', `${list}?hosts=${id},gone&count=true`);
  await expectAnswer(400, 'GET', `${list}?hosts=n[3-1]`);
  for (const path of [`${list}/${id}`, `${list}/${id}/explain`]) await expectAnswer(200, 'GET', path);
  for (const path of [`${list}/gone`, `${list}/gone/explain`]) await expectAnswer(404, 'GET', path);
}
