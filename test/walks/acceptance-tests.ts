import { expect } from '@jest/globals';
import type { Exchange, Walk } from './walk.ts';

const VERSION = { major: '1', minor: expect.stringMatching(/^\d+$/), patch: expect.stringMatching(/^\d+$/) };
const URLS = [
  'https://api-gw-service-nmn.local/vcs/cray/first.git',
  'https://api-gw-service-nmn.local/vcs/cray/second.git',
];
const layer = (commit: string) => ({
  commit,
  playbook: 'compute_nodes.yml',
  name: 'Configuration_Layer_QfH3kZp0Ab',
  clone_url: URLS[0],
});
const COMMITS = ['1a'.repeat(20), '2b'.repeat(20)] as const;
const NAME = 'CFS_Configuration_walk';
const HEADERS = {
  host: 'api-gw-service-nmn.local',
  authorization: 'Bearer token',
  'user-agent': 'go-resty/1.12.0 (https://github.com/go-resty/resty)',
};

const listed = (kind: string, first: string): Exchange[] => [
  {
    does: `lists ${kind}`,
    method: 'GET',
    path: `/v3/${kind}`,
    status: 200,
    reads: { [kind]: expect.any(Array) },
    keeps: { first: `${kind}.0.${first}` },
  },
  {
    does: `reads the first of ${kind}`,
    method: 'GET',
    path: `/v3/${kind}/{{first}}`,
    status: 200,
    reads: { [first]: '{{first}}' },
  },
];

/** The acceptance suite: service, lists, life of a configuration and of a source. */
export const acceptanceTests: Walk = {
  client: 'acceptance tests',
  base: '/apis/cfs',
  headers: HEADERS,
  steps: [
    {
      does: 'asks for the health',
      method: 'GET',
      path: '/healthz',
      status: 200,
      is: { db_status: 'ok', kafka_status: 'ok' },
    },
    ...['/', '/versions', '/v2', '/v3'].map(
      (path): Exchange => ({
        does: `asks for the version at ${path}`,
        method: 'GET',
        path,
        status: 200,
        reads: VERSION,
      }),
    ),
    {
      does: 'reads the options',
      method: 'GET',
      path: '/v3/options',
      status: 200,
      reads: { default_page_size: 1000, include_ara_links: true },
    },
    ...listed('components', 'id'),
    ...listed('configurations', 'name'),
    ...listed('sessions', 'name'),
    {
      does: 'creates a configuration from a commit',
      method: 'PUT',
      path: `/v3/configurations/${NAME}`,
      body: { layers: [layer(COMMITS[0])] },
      status: 200,
      reads: { name: NAME, layers: [layer(COMMITS[0])], last_updated: expect.stringMatching(/Z$/) },
    },
    {
      does: 'reads it',
      method: 'GET',
      path: `/v3/configurations/${NAME}`,
      status: 200,
      reads: { name: NAME, layers: [layer(COMMITS[0])] },
    },
    {
      does: 'finds it in the list',
      method: 'GET',
      path: '/v3/configurations',
      status: 200,
      reads: { configurations: expect.arrayContaining([expect.objectContaining({ name: NAME })]) },
    },
    {
      does: 'replaces it',
      method: 'PUT',
      path: `/v3/configurations/${NAME}`,
      body: { layers: [layer(COMMITS[1])] },
      status: 200,
      reads: { layers: [layer(COMMITS[1])] },
    },
    {
      does: 'creates one from a branch',
      method: 'PUT',
      path: `/v3/configurations/${NAME}_branch`,
      body: { layers: [{ clone_url: '{{repository}}', playbook: 'site.yml', branch: 'main' }] },
      status: 200,
      reads: { layers: [{ branch: 'main', commit: '{{commit}}' }] },
    },
    {
      does: 'refreshes its branches',
      method: 'PATCH',
      path: `/v3/configurations/${NAME}_branch`,
      status: 200,
      reads: { layers: [{ branch: 'main', commit: '{{commit}}' }] },
    },
    {
      does: 'drops its branches',
      method: 'PUT',
      path: `/v3/configurations/${NAME}_branch`,
      query: { drop_branches: true },
      body: { layers: [{ clone_url: '{{repository}}', playbook: 'site.yml', branch: 'main' }] },
      status: 200,
      is: {
        name: `${NAME}_branch`,
        last_updated: expect.any(String),
        layers: [{ clone_url: '{{repository}}', playbook: 'site.yml', commit: '{{commit}}' }],
      },
    },
    ...[NAME, `${NAME}_branch`].flatMap((name): Exchange[] => [
      { does: 'deletes it', method: 'DELETE', path: `/v3/configurations/${name}`, status: 204 },
      {
        does: 'sees that it is gone',
        method: 'GET',
        path: `/v3/configurations/${name}`,
        status: 404,
        reads: { title: 'Configuration not found' },
      },
    ]),
    {
      does: 'creates a source',
      method: 'POST',
      path: '/v3/sources',
      body: {
        name: 'cfs_source_walk',
        clone_url: URLS[0],
        credentials: { username: 'testuser', password: 'testpassword', authentication_method: 'password' },
      },
      status: 201,
      reads: {
        name: 'cfs_source_walk',
        clone_url: URLS[0],
        credentials: {
          authentication_method: 'password',
          secret_name: expect.stringMatching(/^cfs-source-credentials-/),
        },
      },
      keeps: { secret: 'credentials.secret_name' },
    },
    {
      does: 'reads it: without name and password',
      method: 'GET',
      path: '/v3/sources/cfs_source_walk',
      status: 200,
      is: {
        name: 'cfs_source_walk',
        clone_url: URLS[0],
        credentials: { authentication_method: 'password', secret_name: '{{secret}}' },
        ca_cert: null,
        last_updated: expect.any(String),
      },
    },
    {
      does: 'finds it in the list',
      method: 'GET',
      path: '/v3/sources',
      status: 200,
      reads: { sources: expect.arrayContaining([expect.objectContaining({ name: 'cfs_source_walk' })]) },
    },
    {
      does: 'changes its URL',
      method: 'PATCH',
      path: '/v3/sources/cfs_source_walk',
      body: { clone_url: URLS[1] },
      status: 200,
      reads: { clone_url: URLS[1], credentials: { secret_name: '{{secret}}' } },
    },
    { does: 'deletes it', method: 'DELETE', path: '/v3/sources/cfs_source_walk', status: 204 },
    {
      does: 'sees that it is gone',
      method: 'GET',
      path: '/v3/sources/cfs_source_walk',
      status: 404,
      reads: { title: 'Source not found' },
    },
    {
      does: 'restores it with the secret of before',
      method: 'POST',
      path: '/v3/sources/cfs_source_walk',
      body: { clone_url: URLS[0], credentials: { authentication_method: 'password', secret_name: '{{secret}}' } },
      status: 201,
      reads: { name: 'cfs_source_walk', credentials: { secret_name: '{{secret}}' } },
    },
    { does: 'deletes what it restored', method: 'DELETE', path: '/v3/sources/cfs_source_walk', status: 204 },
    ...(
      [
        ['GET', '/v3/configurations'],
        ['GET', `/v3/configurations/${NAME}`],
        ['PUT', `/v3/configurations/${NAME}`],
        ['DELETE', `/v3/configurations/${NAME}`],
      ] as const
    ).map(
      ([method, path]): Exchange => ({
        does: `${method} ${path} for a tenant that is not known`,
        method,
        path,
        headers: { 'cray-tenant-name': 'dummy-tenant' },
        ...(method === 'PUT' ? { body: { layers: [layer(COMMITS[0])] } } : {}),
        status: 400,
        reads: { title: 'Invalid tenant' },
      }),
    ),
    {
      does: 'a session of a configuration that is not there',
      method: 'POST',
      path: '/v3/sessions',
      body: { name: 'walk-acceptance', configuration_name: 'nowhere' },
      status: 400,
      reads: { title: 'Invalid configuration', detail: expect.stringContaining('nowhere') },
    },
    {
      does: 'a method that a path has not',
      method: 'PUT',
      path: '/v3/sessions',
      body: {},
      status: 405,
      reads: { title: 'Method Not Allowed' },
    },
  ],
};

const listed2 = (kind: string, first: string): Exchange[] => [
  {
    does: `lists ${kind}`,
    method: 'GET',
    path: `/v2/${kind}`,
    status: 200,
    reads: expect.any(Array),
    keeps: { first: `0.${first}` },
  },
  {
    does: `reads the first of ${kind}`,
    method: 'GET',
    path: `/v2/${kind}/{{first}}`,
    status: 200,
    reads: { [first]: '{{first}}' },
  },
];
const layer2 = (commit: string) => ({
  commit,
  playbook: 'compute_nodes.yml',
  name: 'Configuration_Layer_QfH3kZp0Ab',
  cloneUrl: URLS[0],
});

/** The part of the suite that speaks version 2. */
export const acceptanceTestsV2: Walk = {
  client: 'acceptance tests, version 2',
  base: '/apis/cfs',
  headers: HEADERS,
  steps: [
    {
      does: 'reads the options',
      method: 'GET',
      path: '/v2/options',
      status: 200,
      reads: { sessionTTL: '7d', defaultPlaybook: 'site.yml' },
      lacks: ['default_page_size', 'session_ttl'],
    },
    ...listed2('components', 'id'),
    ...listed2('configurations', 'name'),
    ...listed2('sessions', 'name'),
    {
      does: 'version 2 has no sources',
      method: 'GET',
      path: '/v2/sources',
      status: 404,
      reads: { title: 'Not Found' },
    },
    {
      does: 'creates a configuration',
      method: 'PUT',
      path: `/v2/configurations/${NAME}_2`,
      body: { layers: [layer2(COMMITS[0])] },
      status: 200,
      reads: { name: `${NAME}_2`, layers: [layer2(COMMITS[0])], lastUpdated: expect.any(String) },
    },
    {
      does: 'reads it by version 3',
      method: 'GET',
      path: `/v3/configurations/${NAME}_2`,
      status: 200,
      reads: { layers: [layer(COMMITS[0])] },
    },
    { does: 'deletes it', method: 'DELETE', path: `/v2/configurations/${NAME}_2`, status: 204 },
    { does: 'sees that it is gone', method: 'GET', path: `/v2/configurations/${NAME}_2`, status: 404 },
  ],
};
