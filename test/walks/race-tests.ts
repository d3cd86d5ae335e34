import type { Walk } from './walk.ts';

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(2, '0')}`);

const MANY = names('walk-race-many-', 20);
const READ = names('walk-race-read-', 20);

const create = (name: string) => ({
  name,
  configuration_name: '{{configuration}}',
  target: { definition: 'spec', groups: [{ name: 'Compute', members: ['fakexname'] }] },
});

/** The race tests of the acceptance suite: nothing runs meanwhile, all requests of a step at once. */
export const raceTests: Walk = {
  client: 'race tests',
  base: '/apis/cfs',
  headers: { host: 'api-gw-service-nmn.local', authorization: 'Bearer token' },
  steps: [
    {
      does: 'finds no session of an earlier test',
      method: 'GET',
      path: '/v3/sessions',
      query: { status: 'pending', name_contains: 'walk-race-', limit: 10 },
      status: 200,
      pages: { kind: 'sessions', by: 'after_id', finds: [] },
    },
    {
      does: 'one name, 50 times at once',
      method: 'POST',
      path: '/v3/sessions',
      body: create('walk-race-one'),
      times: 50,
      status: { 201: 1, 409: 49 },
    },
    {
      does: 'one delete of it succeeds',
      method: 'DELETE',
      path: '/v3/sessions/walk-race-one',
      times: 8,
      status: { 204: 1, 404: 7 },
    },
    {
      does: 'creates sessions',
      together: MANY.map((name) => ({
        does: 'create',
        method: 'POST',
        path: '/v3/sessions',
        body: create(name),
        status: 201,
      })),
    },
    {
      does: 'lists them page by page',
      method: 'GET',
      path: '/v3/sessions',
      query: { status: 'pending', name_contains: 'walk-race-many-', limit: 7 },
      status: 200,
      pages: { kind: 'sessions', by: 'after_id', finds: MANY, atLeast: 3 },
    },
    {
      does: 'deletes them all, several times at once: each is in one answer',
      method: 'DELETE',
      path: '/v3/sessions',
      query: { status: 'pending', name_contains: 'walk-race-many-' },
      times: 4,
      status: 200,
      shares: { member: 'session_ids', all: MANY },
    },
    {
      does: 'finds none',
      method: 'GET',
      path: '/v3/sessions',
      query: { name_contains: 'walk-race-many-' },
      status: 200,
      is: { sessions: [], next: null },
    },
    {
      does: 'creates sessions again',
      together: READ.map((name) => ({
        does: 'create',
        method: 'POST',
        path: '/v3/sessions',
        body: create(name),
        status: 201,
      })),
    },
    {
      does: 'reads lists while all are deleted, one by one and together',
      together: [
        {
          does: 'delete many',
          method: 'DELETE',
          path: '/v3/sessions',
          query: { status: 'pending', name_contains: 'walk-race-read-1' },
          times: 4,
          status: 200,
          shares: { member: 'session_ids', all: READ.slice(10) },
        },
        ...READ.slice(0, 10).map((name) => ({
          does: 'delete one',
          method: 'DELETE' as const,
          path: `/v3/sessions/${name}`,
          status: 204,
        })),
        {
          does: 'list',
          method: 'GET',
          path: '/v3/sessions',
          query: { status: 'pending', name_contains: 'walk-race-read-', limit: 3 },
          times: 8,
          status: 200,
          pages: { kind: 'sessions', by: 'after_id', within: READ },
        },
      ],
    },
    {
      does: 'finds none',
      method: 'GET',
      path: '/v3/sessions',
      query: { name_contains: 'walk-race-read-' },
      status: 200,
      is: { sessions: [], next: null },
    },
  ],
};

const OLD = names('walk-race-old-', 12);
const create2 = (name: string) => ({
  name,
  configurationName: '{{configuration}}',
  target: { definition: 'spec', groups: [{ name: 'Compute', members: ['fakexname'] }] },
});

/** The same by version 2, where a create is 200, a delete of many 204 and a list an array. */
export const raceTestsV2: Walk = {
  client: 'race tests, version 2',
  base: '/apis/cfs',
  headers: { host: 'api-gw-service-nmn.local', authorization: 'Bearer token' },
  steps: [
    {
      does: 'creates sessions',
      together: OLD.map((name) => ({
        does: 'create',
        method: 'POST',
        path: '/v2/sessions',
        body: create2(name),
        status: 200,
      })),
    },
    {
      does: 'one name, at once',
      method: 'POST',
      path: '/v2/sessions',
      body: create2('walk-race-old-99'),
      times: 20,
      status: { 200: 1, 409: 19 },
    },
    {
      does: 'lists them',
      method: 'GET',
      path: '/v2/sessions',
      query: { status: 'pending', name_contains: 'walk-race-old-' },
      status: 200,
      reads: [...OLD, 'walk-race-old-99'].map((name) => ({ name })),
    },
    {
      does: 'deletes them, several times at once',
      method: 'DELETE',
      path: '/v2/sessions',
      query: { status: 'pending', name_contains: 'walk-race-old-' },
      times: 4,
      status: 204,
    },
    {
      does: 'finds none',
      method: 'GET',
      path: '/v2/sessions',
      query: { name_contains: 'walk-race-old-' },
      status: 200,
      is: [],
    },
  ],
};
