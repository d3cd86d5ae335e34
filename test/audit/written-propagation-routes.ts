/** Requests that write the model of propagation, and the audit records that they leave. */
import { eventIdOf } from '../../control/propagation/connection-events.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { PLAN_ROUTES } from './written-plan-routes.ts';
import { type Expected, type Send, some, type WrittenRoute } from './written-route.ts';

const BASE = '/api/v1/propagation';
const FILES = {
  'meta.yaml': 'handler: shell\ninput: {v: {schema: str, value: own}}\n',
  'actions/run.sh': 'true',
  'actions/reload.sh': 'true',
};
const EVENT = { type: 'react_on', parent: 'event-a.run', on: 'changed', child: 'event-b.reload' } as const;
const NAME = 'event-a.run changed event-b.reload';

const repository = (name: string) => async (_api: TokenApi, send: Send) =>
  send('POST', `${BASE}/repositories`, { name });
const definition = (name: string) => async (api: TokenApi, send: Send) => {
  await repository(name)(api, send);
  await send('PUT', `${BASE}/repositories/${name}/definitions/part/1.0.0`, { files: FILES });
};
/** Resources of a definition in a repository of their own. */
const resources =
  (...names: string[]) =>
  async (api: TokenApi, send: Send) => {
    const own = `of-${names[0]}`;
    await definition(own)(api, send);
    for (const name of names) await send('POST', `${BASE}/resources`, { name, from: `${own}/part` });
  };
const pair = (word: string) => ({ emitter: `${word}-a`, receiver: `${word}-b` });
const connected = (word: string) => async (api: TokenApi, send: Send) => {
  await resources(`${word}-a`, `${word}-b`)(api, send);
  return send('POST', `${BASE}/connections`, { ...pair(word), mapping: ['v'], events: 'none' });
};

const event = (action: 'create' | 'delete'): Expected => {
  const record = some({ type: 'react_on', source: 'user' });
  return [action, 'event', NAME, action === 'create' ? null : record, action === 'create' ? record : null];
};
const added = async (api: TokenApi, send: Send) => {
  await send('POST', `${BASE}/events/delete`, { parent: 'event-a' });
  const { db } = api.deps;
  const known = await db.selectFrom('propagation_resources').select('name').where('name', '=', 'event-a').execute();
  if (known.length === 0) await resources('event-a', 'event-b')(api, send);
};
const eventThere = async (api: TokenApi, send: Send) => {
  await added(api, send);
  await send('POST', `${BASE}/events`, EVENT);
};

export const PROPAGATION_ROUTES: Record<string, WrittenRoute> = {
  [`POST ${BASE}/repositories`]: {
    path: `${BASE}/repositories`,
    body: { name: 'made' },
    records: [['create', 'repository', 'made', null, some({ kind: 'uploaded' })]],
  },
  [`POST ${BASE}/repositories/:id/sync`]: {
    path: `${BASE}/repositories/read/sync`,
    prepare: async (_api, send) =>
      send('POST', `${BASE}/repositories`, { name: 'read', url: 'https://git.test/defs.git' }),
    records: [['sync', 'repository', 'read', some({}), some({})]],
  },
  [`DELETE ${BASE}/repositories/:id`]: {
    path: `${BASE}/repositories/gone`,
    prepare: repository('gone'),
    records: [['delete', 'repository', 'gone', some({ kind: 'uploaded' }), null]],
  },
  [`PUT ${BASE}/repositories/:id/definitions/:id/:id`]: {
    path: `${BASE}/repositories/put/definitions/part/1.0.0`,
    body: { files: FILES },
    prepare: repository('put'),
    records: [['create', 'definition', 'put/part/1.0.0', null, some({})]],
  },
  [`DELETE ${BASE}/repositories/:id/definitions/:id/:id`]: {
    path: `${BASE}/repositories/taken/definitions/part/1.0.0`,
    prepare: definition('taken'),
    records: [['delete', 'definition', 'taken/part/1.0.0', some({}), null]],
  },
  [`POST ${BASE}/resources`]: {
    path: `${BASE}/resources`,
    body: { name: 'new', from: 'of-new/part', inputs: { v: 'x' } },
    prepare: definition('of-new'),
    records: [['create', 'resource', 'new', null, some({ state: 'created', inputs: { v: 'x' } })]],
  },
  [`PATCH ${BASE}/resources/:id`]: {
    path: `${BASE}/resources/patched`,
    body: { inputs: { v: 'x' } },
    prepare: resources('patched'),
    records: [['update', 'resource', 'patched', some({}), some({ inputs: { v: 'x' } })]],
  },
  [`DELETE ${BASE}/resources/:id`]: {
    path: `${BASE}/resources/deleted`,
    prepare: resources('deleted'),
    records: [['delete', 'resource', 'deleted', some({ definition: 'part' }), null]],
  },
  [`PUT ${BASE}/resources/:id/tags`]: {
    path: `${BASE}/resources/tagged/tags`,
    body: { tags: ['zone=a'] },
    prepare: resources('tagged'),
    records: [['update', 'resource', 'tagged', some({}), some({})]],
  },
  [`DELETE ${BASE}/resources/:id/tags`]: {
    path: `${BASE}/resources/bare/tags`,
    body: { tags: ['resource=part'] },
    prepare: resources('bare'),
    records: [['update', 'resource', 'bare', some({}), some({})]],
  },
  [`POST ${BASE}/resources/:id/stage`]: {
    path: `${BASE}/resources/told/stage`,
    body: { action: 'reload' },
    prepare: resources('told'),
    records: [['stage', 'change', 'told.reload', null, some({})]],
  },
  [`POST ${BASE}/connections`]: {
    path: `${BASE}/connections`,
    body: { ...pair('new'), mapping: ['v'], events: 'none' },
    prepare: resources('new-a', 'new-b'),
    records: [['create', 'connection', 'new-a::v -> new-b::v', null, some({})]],
  },
  [`DELETE ${BASE}/connections/:id`]: {
    path: `${BASE}/connections/{id}`,
    prepare: async (api, send) => (await connected('one')(api, send)).connections[0].id,
    records: [['delete', 'connection', 'one-a::v -> one-b::v', some({}), null]],
  },
  [`POST ${BASE}/connections/delete`]: {
    path: `${BASE}/connections/delete`,
    body: pair('pair'),
    prepare: connected('pair'),
    records: [['delete', 'connection', 'pair-a::v -> pair-b::v', some({}), null]],
  },
  [`POST ${BASE}/events`]: { path: `${BASE}/events`, body: EVENT, prepare: added, records: [event('create')] },
  [`POST ${BASE}/events/bulk`]: {
    path: `${BASE}/events/bulk`,
    body: [EVENT],
    prepare: added,
    records: [event('create')],
  },
  [`DELETE ${BASE}/events/:id`]: {
    path: `${BASE}/events/${eventIdOf(EVENT)}`,
    prepare: eventThere,
    records: [event('delete')],
  },
  [`POST ${BASE}/events/delete`]: {
    path: `${BASE}/events/delete`,
    body: { child: 'event-b' },
    prepare: eventThere,
    records: [event('delete')],
  },
  [`POST ${BASE}/changes/stage`]: {
    path: `${BASE}/changes/stage`,
    body: { names: ['staged'], action: 'reload' },
    prepare: resources('staged'),
    records: [['stage', 'change', 'staged.reload', null, some({})]],
  },
  [`POST ${BASE}/changes/discard`]: {
    path: `${BASE}/changes/discard`,
    body: { all: true },
    prepare: async (api, send) => {
      await send('POST', `${BASE}/changes/discard`, { all: true });
      await resources('dropped')(api, send);
    },
    records: [
      ['discard', 'change', 'dropped.run', some({}), some({})],
      ['delete', 'resource', 'dropped', some({}), null],
    ],
  },
  [`POST ${BASE}/simulate`]: {
    path: `${BASE}/simulate`,
    body: { staged: ['a.run'], events: '' },
    records: [],
    nothing: 'a plan on paper is kept nowhere',
  },
  // Behind the others: their changes stay with their plans.
  ...PLAN_ROUTES,
};
