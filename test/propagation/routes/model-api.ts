/** The model over REST, with the words in which its tests speak. */
import type { Answer, TestApi } from '../../support/stack/test-api.ts';

const BASE = '/api/v1/propagation';

/** A definition with values, an object, a secret, and an action besides the canonical ones. */
export const PART_FILES = {
  'meta.yaml': [
    'version: 1.0.0',
    'handler: shell',
    'input:',
    '  v: {schema: str, value: own}',
    '  n: {schema: int, value: 1}',
    '  env: {schema: {}, value: {own: "1"}}',
    '  key: {schema: str, secret: true}',
    '',
  ].join('\n'),
  'actions/run.sh': 'exit 0\n',
  'actions/update.sh': 'exit 0\n',
  'actions/reload.sh': 'exit 0\n',
};

export const PART = `${BASE}/repositories/apps/definitions/part/1.0.0`;

export type ModelApi = ReturnType<typeof modelApi>;

/** Every table of the model. */
export const MODEL_TABLES = [
  ...['repositories', 'definitions', 'contents', 'resources', 'connections', 'events', 'staged_items', 'committed'],
  'history',
].map((name) => `propagation_${name}`);

/** Requests below the path of the lane; `send` is how a request goes, such as under a token. */
export function modelApi(send: TestApi['call']) {
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> =>
    send(method, `${BASE}${path}`, body, headers);
  const made = async (method: string, path: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    call,
    made,
    /** Repository and definition, of which resources are made. */
    async definition() {
      await made('POST', '/repositories', { name: 'apps' });
      await send('PUT', PART, { files: PART_FILES });
    },
    async create(...names: string[]) {
      for (const name of names) await made('POST', '/resources', { name, from: 'apps/part' });
    },
    get: (name: string) => made('GET', `/resources/${encodeURIComponent(name)}`),
    /** `resource.action` of what is staged. */
    async staged(): Promise<string[]> {
      const { changes } = await made('GET', '/changes/staged');
      return changes.map(({ log_action }: { log_action: string }) => log_action);
    },
  };
}

/** What an answer says: status and code. */
export const said = ({ status, body }: Answer) => [status, body?.code];
