/** Records below `/v2`: how one of them is asked for, and what is refused of all. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { FORM_HEADERS, formOf, named } from './cluster-fixtures.ts';
import { makeDeployment } from './placement-fixtures.ts';

let api: TokenApi;
let count = 0;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const operator = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
  api.as(api.tokens.operator, method, url, body, headers);
const deployment = () => makeDeployment((...request) => api.as(api.tokens.admin, ...request), `d-${++count}`);
const codeOf = async (method: string, url: string, body?: unknown) => {
  const answer = await operator(method, url, body);
  return [answer.status, answer.body?.code ?? null];
};

describe('a record', () => {
  test.each(['/', ''])('is asked for with %j before the query, as EMCO asks', async (slash) => {
    const { group, compositeApp } = await deployment();
    const answerOf = async (collection: string, query: string) =>
      (await operator('GET', `${collection}${slash}?${query}`)).body;
    expect(await answerOf(`${group}/intents`, 'intent=all')).toMatchObject(named('all'));
    expect(await codeOf('GET', `${group}/intents${slash}?intent=other`)).toEqual([404, 'not_found']);
    const intents = `${group}/generic-placement-intents/where/app-intents`;
    expect(Object.keys(await answerOf(intents, 'app-name=agent')).toSorted()).toEqual(['app-name', 'intent']);
    expect(await codeOf('GET', `${intents}${slash}?app-name=other`)).toEqual([404, 'not_found']);
    const profiles = `${compositeApp}/composite-profiles/base/profiles`;
    const form = formOf({ ...named('own'), spec: { 'app-name': 'agent' } }, 'kept');
    expect((await operator('POST', profiles, form, FORM_HEADERS)).status).toBe(201);
    expect(await answerOf(profiles, 'app-name=agent')).toMatchObject(named('own'));
    expect(await codeOf('GET', `${profiles}${slash}?app-name=other`)).toEqual([404, 'not_found']);
    expect((await operator('GET', profiles)).body).toMatchObject([named('own')]);
  });

  test('has a parent, a good body and no PUT', async () => {
    const { project, compositeApp } = await deployment();
    expect(
      await codeOf('POST', '/v2/projects/nosuch/composite-apps', { ...named('a'), spec: { version: 'v' } }),
    ).toEqual([404, 'not_found']);
    expect(await codeOf('GET', '/v2/projects/a%2Fb')).toEqual([404, 'not_found']);
    expect(await codeOf('POST', '/v2/projects', '{')).toEqual([422, 'body_not_json']);
    expect(await codeOf('POST', '/v2/projects')).toEqual([400, 'bad_request']);
    expect(await codeOf('DELETE', project)).toEqual([409, 'has_children']);
    expect(await codeOf('PUT', compositeApp, {})).toEqual([405, 'method_not_allowed']);
    expect(await codeOf('GET', `${project}/logical-clouds/default/user-permissions`)).toEqual([
      501,
      'level_not_supported',
    ]);
    expect((await api.as(api.tokens.reader, 'POST', '/v2/projects', named('r'))).status).toBe(403);
    expect((await operator('POST', '/v2/controllers', { ...named('c'), spec: {} })).status).toBe(403);
  });
});
