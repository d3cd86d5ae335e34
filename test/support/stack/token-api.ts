import { createToken } from '../../../control/access/create-token.ts';
import type { TokenCreate } from '../../../domain/access/schema.ts';
import type { Answer, TestApi, TestDependencies } from './test-api.ts';
import { createTestApi } from './test-api.ts';

export interface TokenApi extends TestApi {
  /** Makes a token without asking the API. */
  make(token: TokenCreate): Promise<string>;
  /** One token of each role; the node's component is `x1`. */
  tokens: Record<'admin' | 'operator' | 'reader' | 'node', string>;
  /** A request with a token. */
  as(token: string, method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** The API with access control. */
export async function createTokenApi(overrides: Partial<TestDependencies> = {}): Promise<TokenApi> {
  const api = await createTestApi({ access: { mode: 'token', issuer: undefined }, ...overrides });
  const deps = { db: api.database.db, clock: () => api.now.value };
  const make = async (token: TokenCreate) => (await createToken(deps, { actor: null }, token)).token;
  return {
    ...api,
    make,
    tokens: {
      admin: await make({ role: 'admin', name: 'root' }),
      operator: await make({ role: 'operator', name: 'ops' }),
      reader: await make({ role: 'reader', name: 'eyes' }),
      node: await make({ role: 'node', name: 'node-x1', component: 'x1' }),
    },
    as: (token, method, url, body, headers = {}) =>
      api.call(method, url, body, { ...headers, authorization: `Bearer ${token}` }),
  };
}
