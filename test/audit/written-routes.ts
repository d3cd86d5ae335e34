/** One good request for every route that writes, with the audit records that it leaves. */
import { sql } from 'kysely';
import { openRun } from '../../control/runs/open-run.ts';
import { sessionId, setSession } from '../sessions/session-fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { DEPLOYMENT_ROUTES } from './written-deployment-routes.ts';
import { IMAGE_ROUTES } from './written-image-routes.ts';
import { MANY_SESSION_ROUTES } from './written-many-session-routes.ts';
import { OPERATOR_ROUTES } from './written-operator-routes.ts';
import { PROPAGATION_ROUTES } from './written-propagation-routes.ts';
import { type Expected, type Send, some, type WrittenRoute } from './written-route.ts';
import { SELECTION_ROUTES } from './written-selection-routes.ts';

export const URL = 'https://git.example.test/one.git';
const COMMIT = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);
const layer = { clone_url: URL, playbook: 'p.yml', commit: COMMIT };
const isUuid = (value: unknown) => /^[0-9a-f-]{36}$/.test(String(value));
const component = (more = {}) => ({
  desired_config: '',
  error_count: 0,
  retry_policy: null,
  enabled: false,
  tags: {},
  state: [],
  ...more,
});
const schedule = (more = {}) => ({ cron: '0 3 * * *', action: { refresh: {} }, ...more });

/** Routes of both versions of CFS's interface, with the spelling of one. */
function cfsRoutes(v: 'v2' | 'v3'): Record<string, WrittenRoute> {
  const word = (name: string) =>
    v === 'v3' ? name : name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const spelt = (record: object) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [word(name), value]));
  const make =
    (id: string, more = {}) =>
    (_api: TokenApi, send: Send) =>
      send('PUT', `/v3/components/${id}`, more);
  const configuration = (name: string) => (_api: TokenApi, send: Send) =>
    send('PUT', `/v3/configurations/${name}`, { layers: [layer] });
  const session = (name: string) => async (_api: TokenApi, send: Send) => {
    await send('PUT', `/v3/configurations/${v}-site`, { layers: [layer] });
    await send('POST', '/v3/sessions', { name, configuration_name: `${v}-site` });
  };
  const size = v === 'v3' ? 33 : 22;
  return {
    [`PATCH /${v}/options`]: {
      path: `/${v}/options`,
      body: spelt({ batch_size: size, batch_window: 77 }),
      prepare: (_api, send) => send('PATCH', '/v3/options', { batch_size: size - 1, batch_window: 77 }),
      records: [['update', 'options', 'options', { batch_size: size - 1 }, { batch_size: size }]],
    },
    [`PUT /${v}/configurations/:id`]: {
      path: `/${v}/configurations/${v}-put`,
      body: { layers: [spelt(layer)] },
      records: [['create', 'configuration', `${v}-put`, null, some({ layers: [layer] })]],
    },
    [`PATCH /${v}/configurations/:id`]: {
      path: `/${v}/configurations/${v}-branch`,
      prepare: async (api, send) => {
        api.refs.set(`${URL} ${v}`, COMMIT);
        await send('PUT', `/v3/configurations/${v}-branch`, {
          layers: [{ clone_url: URL, playbook: 'p.yml', branch: v }],
        });
        api.refs.set(`${URL} ${v}`, OTHER);
      },
      records: [
        [
          'update',
          'configuration',
          `${v}-branch`,
          { layers: [some({ commit: COMMIT })] },
          { layers: [some({ commit: OTHER })] },
        ],
      ],
    },
    [`DELETE /${v}/configurations/:id`]: {
      path: `/${v}/configurations/${v}-gone`,
      prepare: configuration(`${v}-gone`),
      records: [['delete', 'configuration', `${v}-gone`, some({ layers: [layer] }), null]],
    },
    [`PUT /${v}/components`]: {
      path: `/${v}/components`,
      body: [
        { id: `${v}-old`, enabled: true },
        { id: `${v}-new`, tags: { a: 'b' } },
      ],
      prepare: make(`${v}-old`, { enabled: true, tags: { x: 'y' } }),
      records: [
        ['create', 'component', `${v}-new`, null, some(component({ tags: { a: 'b' } }))],
        ['update', 'component', `${v}-old`, { tags: { x: 'y' } }, { tags: {} }],
      ],
    },
    [`PATCH /${v}/components`]: {
      path: `/${v}/components`,
      body: { patch: { enabled: true }, filters: { ids: `${v}-f1,${v}-f2` } },
      prepare: async (api, send) => {
        await make(`${v}-f1`)(api, send);
        await make(`${v}-f2`, { enabled: true })(api, send);
      },
      // The other one is enabled already: nothing of it changes.
      records: [['update', 'component', `${v}-f1`, { enabled: false }, { enabled: true }]],
    },
    [`PUT /${v}/components/:id`]: {
      path: `/${v}/components/${v}-put`,
      body: spelt({ retry_policy: 2 }),
      prepare: make(`${v}-put`, { desired_config: 'c' }),
      records: [
        [
          'update',
          'component',
          `${v}-put`,
          { desired_config: 'c', retry_policy: null },
          { desired_config: '', retry_policy: 2 },
        ],
      ],
    },
    [`PATCH /${v}/components/:id`]: {
      path: `/${v}/components/${v}-append`,
      body: { [word('state_append')]: spelt({ clone_url: URL, playbook: 'q.yml', commit: COMMIT, session_name: 's' }) },
      prepare: make(`${v}-append`, {
        state: [{ clone_url: URL, playbook: 'p.yml', commit: OTHER, status: 'skipped', session_name: 'before' }],
      }),
      records: [
        [
          'update',
          'component',
          `${v}-append`,
          { state: [] },
          { state: [some({ clone_url: URL, playbook: 'q.yml', commit: COMMIT, session_name: 's' })] },
        ],
      ],
    },
    [`DELETE /${v}/components/:id`]: {
      path: `/${v}/components/${v}-gone`,
      prepare: make(`${v}-gone`, { tags: { k: 'v' } }),
      records: [['delete', 'component', `${v}-gone`, some(component({ tags: { k: 'v' } })), null]],
    },
    [`POST /${v}/sessions`]: {
      path: `/${v}/sessions`,
      body: { name: `${v}-made`, ...spelt({ configuration_name: `${v}-site`, ansible_limit: 'x1' }) },
      prepare: configuration(`${v}-site`),
      records: [
        [
          'create',
          'session',
          `${v}-made`,
          null,
          some({ id: isUuid, configuration_name: `${v}-site`, ansible_limit: 'x1', status: 'pending', retry_of: null }),
        ],
      ],
    },
    [`DELETE /${v}/sessions`]: {
      path: `/${v}/sessions?status=pending&tags=wave=${v}`,
      prepare: async (_api, send) => {
        await send('PUT', `/v3/configurations/${v}-site`, { layers: [layer] });
        for (const name of [`${v}-d1`, `${v}-d2`]) {
          await send('POST', '/v3/sessions', { name, configuration_name: `${v}-site`, tags: { wave: v } });
        }
      },
      records: [`${v}-d1`, `${v}-d2`].map(
        (name): Expected => [
          'delete',
          'session',
          name,
          some({ deleted_at: null }),
          some({ cancel_reason: 'the session was deleted' }),
        ],
      ),
    },
    [`PATCH /${v}/sessions/:id`]: {
      path: `/${v}/sessions/${v}-patched`,
      body: { status: { session: { status: 'running', job: 'j1' } } },
      prepare: session(`${v}-patched`),
      records: [
        ['update', 'session', `${v}-patched`, { status: 'pending', job: null }, { status: 'running', job: 'j1' }],
      ],
    },
    [`DELETE /${v}/sessions/:id`]: {
      path: `/${v}/sessions/${v}-gone`,
      prepare: session(`${v}-gone`),
      records: [
        [
          'delete',
          'session',
          `${v}-gone`,
          some({ deleted_at: null }),
          some({ deleted_at: (time: unknown) => typeof time === 'string' }),
        ],
      ],
    },
  };
}

const credentials = { username: 'u', password: 'not-to-be-seen' };
const makeSource = (name: string) => (_api: TokenApi, send: Send) =>
  send('POST', '/v3/sources', { name, clone_url: URL, credentials });
const makeSession = (name: string, state?: Record<string, unknown>) => async (api: TokenApi, send: Send) => {
  await send('PUT', '/v3/configurations/site', { layers: [layer] });
  await send('POST', '/v3/sessions', { name, configuration_name: 'site' });
  if (state !== undefined) await setSession(api.database.db, await sessionId(api.database.db, name), state);
};
const holding = { stage: 'admitted', status: 'running', phase: 'hold', layer: 0 };
const makeSchedule = (name: string) => (_api: TokenApi, send: Send) =>
  send('POST', '/api/v1/schedules', schedule({ name }));
const makeRollout = (configuration: string, state: string) => async (api: TokenApi, send: Send) => {
  const muster = { rollout: { max_at_once: 1 } };
  await send('PUT', `/v3/configurations/${configuration}`, { layers: [layer], muster });
  await sql`insert into rollouts (configuration, version, state, stage, created_at, updated_at)
    values (${configuration}, 'v', ${state}, 'rolling', now(), now())`.execute(api.database.db);
};
const makeWebhook = (name: string) => (_api: TokenApi, send: Send) =>
  send('POST', '/api/v1/webhooks', { name, url: 'https://bob:pw@hooks.example.test/a', events: ['session.ended'] });

/** By the key of the table of roles, both versions apart. */
export const WRITTEN_ROUTES: Record<string, WrittenRoute> = {
  ...cfsRoutes('v2'),
  ...cfsRoutes('v3'),

  'POST /v3/sources': {
    path: '/v3/sources',
    body: { name: 'made', clone_url: 'https://git.example.test/two.git', credentials },
    records: [
      ['create', 'secret', 'SOURCE/password', null, {}],
      ['create', 'secret', 'SOURCE/username', null, {}],
      ['create', 'source', 'made', null, some({ clone_url: 'https://git.example.test/two.git' })],
    ],
  },
  'POST /v3/sources/:id': {
    path: '/v3/sources/restored',
    body: { clone_url: URL, credentials: { authentication_method: 'password', secret_name: 'kept-secret' } },
    prepare: async (api) => {
      await api.deps.secrets.putAll('kept-secret', { username: 'u', password: 'p' });
    },
    records: [['create', 'source', 'restored', null, some({ clone_url: URL })]],
  },
  'PATCH /v3/sources/:id': {
    path: '/v3/sources/patched',
    body: { description: 'the site' },
    prepare: makeSource('patched'),
    records: [['update', 'source', 'patched', {}, { description: 'the site' }]],
  },
  'DELETE /v3/sources/:id': {
    path: '/v3/sources/gone',
    prepare: makeSource('gone'),
    records: [
      ['delete', 'source', 'gone', some({ clone_url: URL }), null],
      ['delete', 'secret', 'SOURCE/password', {}, null],
      ['delete', 'secret', 'SOURCE/username', {}, null],
    ],
  },

  'POST /api/v1/sessions/:id/cancel': {
    path: '/api/v1/sessions/cancelled/cancel',
    body: { reason: 'wrong night' },
    prepare: makeSession('cancelled'),
    records: [['cancel', 'session', 'cancelled', { cancel_reason: null }, { cancel_reason: 'cancelled: wrong night' }]],
  },
  'POST /api/v1/sessions/:id/finish-debug': {
    path: '/api/v1/sessions/held/finish-debug',
    prepare: makeSession('held', holding),
    records: [['finish_debug', 'session', 'held', {}, {}]],
  },
  'POST /api/v1/sessions/:id/retry': {
    path: '/api/v1/sessions/again/retry',
    prepare: makeSession('again', holding),
    records: [['retry', 'session', 'again', {}, {}]],
  },

  'PUT /api/v1/secrets/:id/:id': {
    path: '/api/v1/secrets/vault-password/value',
    body: { value: 'not-to-be-seen' },
    records: [['create', 'secret', 'vault-password/value', null, {}]],
  },

  'DELETE /api/v1/secrets/:id/:id': {
    path: '/api/v1/secrets/site-one/key',
    prepare: (_api, send) => send('PUT', '/api/v1/secrets/site-one/key', { value: 'not-to-be-seen' }),
    records: [['delete', 'secret', 'site-one/key', {}, null]],
  },
  'DELETE /api/v1/secrets/:id': {
    path: '/api/v1/secrets/site-two',
    prepare: async (_api, send) => {
      await send('PUT', '/api/v1/secrets/site-two/one', { value: 'not-to-be-seen' });
      await send('PUT', '/api/v1/secrets/site-two/two', { value: 'not-to-be-seen' });
    },
    records: [
      ['delete', 'secret', 'site-two/one', {}, null],
      ['delete', 'secret', 'site-two/two', {}, null],
    ],
  },
  'POST /api/v1/components/reset-errors': {
    path: '/api/v1/components/reset-errors',
    body: { ids: ['reset'] },
    prepare: (_api, send) => send('PUT', '/v3/components/reset', { error_count: 2 }),
    records: [['update', 'component', 'reset', { error_count: 2 }, { error_count: 0 }]],
  },
  ...SELECTION_ROUTES,
  ...MANY_SESSION_ROUTES,
  'POST /api/v1/import/sources': {
    path: '/api/v1/import/sources',
    body: {
      records: [
        {
          name: 'imported',
          clone_url: URL,
          credentials: { authentication_method: 'password', secret_name: 'kept-secret' },
        },
      ],
    },
    records: [['create', 'source', 'imported', null, some({ clone_url: URL })]],
  },
  'POST /api/v1/import/configurations': {
    path: '/api/v1/import/configurations',
    body: { records: [{ name: 'imported', layers: [layer] }] },
    records: [['create', 'configuration', 'imported', null, some({ layers: [layer] })]],
  },
  'PATCH /api/v1/options': {
    path: '/api/v1/options',
    body: { session_timeout: 45 },
    prepare: (_api, send) => send('PATCH', '/v3/options', { session_timeout: 44 }),
    records: [['update', 'options', 'options', { session_timeout: 44 }, { session_timeout: 45 }]],
  },
  'POST /api/v1/import/options': {
    path: '/api/v1/import/options',
    body: { records: [{ name: 'batch_size', value: 44 }] },
    prepare: (_api, send) => send('PATCH', '/v3/options', { batch_size: 43 }),
    records: [['update', 'options', 'options', { batch_size: 43 }, { batch_size: 44 }]],
  },
  'POST /api/v1/import/components': {
    path: '/api/v1/import/components',
    body: { records: [{ id: 'imported', state: [], tags: { from: 'cfs' } }] },
    records: [['create', 'component', 'imported', null, some({ tags: { from: 'cfs' } })]],
  },

  'POST /api/v1/batches/pause': {
    path: '/api/v1/batches/pause',
    records: [['pause', 'batcher', 'batcher', { paused: false }, { paused: true }]],
  },
  'POST /api/v1/batches/resume': {
    path: '/api/v1/batches/resume',
    prepare: (_api, send) => send('POST', '/api/v1/batches/pause'),
    records: [['resume', 'batcher', 'batcher', { paused: true }, { paused: false }]],
  },
  'POST /api/v1/dry-run': {
    path: '/api/v1/dry-run',
    body: { method: 'PUT', path: '/v3/components/dry1', body: { enabled: true } },
    records: [],
    nothing: 'the request and its records are taken back',
  },
  'POST /api/v1/configurations/resolve': {
    path: '/api/v1/configurations/resolve',
    body: { layers: [] },
    records: [],
    nothing: 'it asks remotes, and stores nothing',
  },
  'POST /api/v1/batches/tick': {
    path: '/api/v1/batches/tick',
    records: [],
    nothing: 'a pass comes by itself too, and is the same',
  },

  'POST /api/v1/rollouts/:id/stop': {
    path: '/api/v1/rollouts/to-stop/stop',
    body: { reason: 'wrong version' },
    prepare: makeRollout('to-stop', 'rolling'),
    records: [
      ['stop', 'rollout', 'to-stop', { state: 'rolling', reason: null }, { state: 'stopped', reason: 'wrong version' }],
    ],
  },
  'POST /api/v1/rollouts/:id/resume': {
    path: '/api/v1/rollouts/to-resume/resume',
    prepare: makeRollout('to-resume', 'stopped'),
    records: [['resume', 'rollout', 'to-resume', { state: 'stopped' }, { state: 'rolling' }]],
  },

  'POST /api/v1/schedules': {
    path: '/api/v1/schedules',
    body: schedule({ name: 'made' }),
    records: [['create', 'schedule', 'made', null, some({ cron: '0 3 * * *', paused: false })]],
  },
  'PUT /api/v1/schedules/:id': {
    path: '/api/v1/schedules/put',
    body: schedule({ cron: '0 4 * * *' }),
    prepare: makeSchedule('put'),
    records: [['update', 'schedule', 'put', { cron: '0 3 * * *' }, { cron: '0 4 * * *' }]],
  },
  'PATCH /api/v1/schedules/:id': {
    path: '/api/v1/schedules/patched',
    body: { cron: '0 5 * * *' },
    prepare: makeSchedule('patched'),
    records: [['update', 'schedule', 'patched', { cron: '0 3 * * *' }, { cron: '0 5 * * *' }]],
  },
  'DELETE /api/v1/schedules/:id': {
    path: '/api/v1/schedules/gone',
    prepare: makeSchedule('gone'),
    records: [['delete', 'schedule', 'gone', some({ cron: '0 3 * * *' }), null]],
  },
  'POST /api/v1/schedules/:id/pause': {
    path: '/api/v1/schedules/paused/pause',
    body: {},
    prepare: makeSchedule('paused'),
    records: [['update', 'schedule', 'paused', { paused: false }, { paused: true }]],
  },
  'POST /api/v1/schedules/:id/resume': {
    path: '/api/v1/schedules/resumed/resume',
    body: {},
    prepare: async (api, send) => {
      await makeSchedule('resumed')(api, send);
      await send('POST', '/api/v1/schedules/resumed/pause', {});
    },
    records: [['update', 'schedule', 'resumed', { paused: true }, { paused: false }]],
  },
  'POST /api/v1/schedules/:id/trigger': {
    path: '/api/v1/schedules/triggered/trigger',
    prepare: makeSchedule('triggered'),
    records: [['trigger', 'schedule', 'triggered', null, {}]],
  },

  'POST /api/v1/drift/checks': {
    path: '/api/v1/drift/checks',
    body: { configuration: 'checked' },
    prepare: async (_api, send) => {
      await send('PUT', '/v3/configurations/checked', { layers: [layer] });
      await send('PUT', '/v3/components/checked', { desired_config: 'checked' });
    },
    records: [['create', 'session', 'CHECK', null, some({ configuration_name: 'checked', ansible_limit: 'checked' })]],
  },

  'POST /api/v1/runs/:id/end': {
    path: '/api/v1/runs/toy-ended-1/end',
    prepare: async ({ database }) => {
      const run = { id: 'toy-ended-1', sessionId: null, streamId: 'toy-ended-1', layer: 0, attempt: 1, host: 'disk' };
      await openRun(database.db, run, new Date());
    },
    records: [['end', 'run', 'toy-ended-1', null, null]],
  },

  'POST /api/v1/webhooks': {
    path: '/api/v1/webhooks',
    body: { name: 'made', url: 'https://bob:pw@hooks.example.test/a', events: ['session.ended'] },
    records: [
      ['create', 'secret', 'WEBHOOK', null, {}],
      ['create', 'webhook', 'made', null, some({ url: 'https://hooks.example.test/***', enabled: true })],
    ],
  },
  'PATCH /api/v1/webhooks/:id': {
    path: '/api/v1/webhooks/patched',
    body: { enabled: false },
    prepare: makeWebhook('patched'),
    records: [['update', 'webhook', 'patched', { enabled: true }, { enabled: false }]],
  },
  'DELETE /api/v1/webhooks/:id': {
    path: '/api/v1/webhooks/gone',
    prepare: makeWebhook('gone'),
    records: [
      ['delete', 'webhook', 'gone', some({ enabled: true }), null],
      ['delete', 'secret', 'WEBHOOK', {}, null],
    ],
  },
  'POST /api/v1/webhooks/:id/test': {
    path: '/api/v1/webhooks/tested/test',
    prepare: makeWebhook('tested'),
    records: [],
    nothing: 'it stands among the deliveries of the webhook',
  },

  ...IMAGE_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...OPERATOR_ROUTES,
  ...PROPAGATION_ROUTES,

  'POST /api/v1/tokens': {
    path: '/api/v1/tokens',
    body: { role: 'reader', name: 'made' },
    records: [
      [
        'create',
        'token',
        'made',
        null,
        { id: some(isUuid), role: 'reader', component: null, expires_at: null, revoked_at: null },
      ],
    ],
  },
  'DELETE /api/v1/tokens/:id': {
    path: '/api/v1/tokens/gone',
    prepare: (_api, send) => send('POST', '/api/v1/tokens', { role: 'reader', name: 'gone' }),
    records: [
      [
        'revoke',
        'token',
        'gone',
        { revoked_at: null },
        { revoked_at: some((time: unknown) => typeof time === 'string') },
      ],
    ],
  },
};
