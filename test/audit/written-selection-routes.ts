import type { WrittenRoute } from './written-route.ts';

export const SELECTION_ROUTES: Record<string, WrittenRoute> = {
  'POST /api/v1/hostlists': {
    path: '/api/v1/hostlists',
    body: { hosts: 'n[1-2]' },
    records: [],
    nothing: 'it reads a text',
  },
  'POST /api/v1/components/selections': {
    path: '/api/v1/components/selections',
    body: { filter: {} },
    records: [],
    nothing: 'what somebody looks at is no change',
  },
  'POST /api/v1/components/actions': {
    path: '/api/v1/components/actions',
    body: { action: 'disable', selection: { filter: { hosts: 'act[1-2]' } } },
    prepare: (_api, send) => send('PUT', '/v3/components/act1', { enabled: true }),
    records: [['update', 'component', 'act1', { enabled: true }, { enabled: false }]],
  },
};
