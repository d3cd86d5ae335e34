import { expect } from '@jest/globals';
import { endSession, sessionId } from '../sessions/session-fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { type Send, some, type WrittenRoute } from './written-route.ts';

const layer = { clone_url: 'https://git.example.test/one.git', playbook: 'p.yml', commit: 'a'.repeat(40) };

/** A session of this name; `ended` with this outcome. */
const makeSession = (name: string, ended?: 'true' | 'false') => async (api: TokenApi, send: Send) => {
  await send('PUT', '/v3/configurations/many-site', { layers: [layer] });
  await send('POST', '/v3/sessions', { name, configuration_name: 'many-site' });
  const { db } = api.deps;
  if (ended !== undefined) await endSession(db, await sessionId(db, name), ended);
};

export const MANY_SESSION_ROUTES: Record<string, WrittenRoute> = {
  'POST /api/v1/sessions/cancel': {
    path: '/api/v1/sessions/cancel',
    body: { names: ['cancelled-many'] },
    prepare: makeSession('cancelled-many'),
    records: [
      [
        'cancel',
        'session',
        'cancelled-many',
        { cancel_reason: null, completion_time: null, status: 'pending', succeeded: 'none' },
        { cancel_reason: 'cancelled', completion_time: expect.any(String), status: 'complete', succeeded: 'false' },
      ],
    ],
  },
  'POST /api/v1/sessions/delete': {
    path: '/api/v1/sessions/delete',
    body: { names: ['deleted-many'] },
    prepare: makeSession('deleted-many', 'true'),
    records: [['delete', 'session', 'deleted-many', { deleted_at: null }, { deleted_at: expect.any(String) }]],
  },
  'POST /api/v1/sessions/retry': {
    path: '/api/v1/sessions/retry',
    body: { names: ['retried-many'], hosts: 'all' },
    prepare: makeSession('retried-many', 'false'),
    records: [['create', 'session', 'RETRY', null, some({ retry_of: (id: unknown) => typeof id === 'string' })]],
  },
};
