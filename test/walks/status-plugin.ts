import { expect } from '@jest/globals';
import type { Exchange, Walk } from './walk.ts';

/** Puts the hosts of a walk in place with their error counts. */
const hosts = (prefix: string): Exchange => ({
  does: '(set-up) three hosts with 2, 0 and 1 errors',
  method: 'PUT',
  path: '/v3/components',
  body: [2, 0, 1].map((count, index) => ({
    id: `${prefix}${index + 1}`,
    desired_config: '{{configuration}}',
    error_count: count,
    enabled: true,
    state: [
      {
        clone_url: '{{repository}}',
        playbook: 'net.yml',
        commit: '{{commit}}',
        status: 'applied',
        session_name: 'before',
      },
    ],
  })),
  status: 200,
});

const append = (suffix: string) => ({
  session_name: 'walk-report',
  clone_url: '{{repository}}',
  playbook: 'site.yml',
  commit: `{{commit}}${suffix}`,
});

/** Ansible status plugin, version 3: vector A2 of cfs-flows 4.4, and a host that is no component. */
export const statusPlugin: Walk = {
  client: 'Ansible status plugin',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    hosts('walk-host-'),
    {
      does: 'reads the count of the host that failed',
      method: 'GET',
      path: '/v3/components/walk-host-1',
      status: 200,
      reads: { error_count: 2 },
      keeps: { errors: 'error_count' },
    },
    {
      does: 'reports the failure',
      method: 'PATCH',
      path: '/v3/components/walk-host-1',
      body: { state_append: append('_failed'), error_count: '{{errors+1}}' },
      status: 200,
      reads: { error_count: 3 },
    },
    {
      does: 'reports a host that was broken off',
      method: 'PATCH',
      path: '/v3/components/walk-host-2',
      body: { state_append: append('_incomplete') },
      status: 200,
    },
    {
      does: 'reports success',
      method: 'PATCH',
      path: '/v3/components/walk-host-3',
      body: { state_append: append(''), error_count: 0 },
      status: 200,
      reads: { error_count: 0 },
    },
    {
      does: 'warns about a host that is no component',
      method: 'PATCH',
      path: '/v3/components/localhost',
      body: { state_append: append(''), error_count: 0 },
      status: 404,
      reads: { title: 'Component not found.', detail: expect.stringContaining('localhost') },
    },
    ...(
      [
        ['1', 'failed', 'failed', 3],
        ['2', 'incomplete', 'pending', 0],
        ['3', 'applied', 'configured', 0],
      ] as const
    ).map(
      ([host, layer, status, errors]): Exchange => ({
        does: `(check) host ${host}: the report is last, the other layer is kept`,
        method: 'GET',
        path: `/v3/components/walk-host-${host}`,
        query: { state_details: true },
        status: 200,
        reads: {
          error_count: errors,
          configuration_status: status,
          state: [
            { playbook: 'net.yml', status: 'applied', session_name: 'before' },
            {
              playbook: 'site.yml',
              commit: '{{commit}}',
              status: layer,
              session_name: 'walk-report',
              last_updated: expect.stringMatching(/Z$/),
            },
          ],
        },
      }),
    ),
  ],
};

const append2 = (suffix: string) => ({
  sessionName: 'walk-report',
  cloneUrl: '{{repository}}',
  playbook: 'site.yml',
  commit: `{{commit}}${suffix}`,
});

/** The plugin of an older release, which speaks version 2. */
export const statusPluginV2: Walk = {
  client: 'Ansible status plugin, version 2',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    hosts('walk-old-'),
    {
      does: 'reads the count of the host that failed',
      method: 'GET',
      path: '/v2/components/walk-old-1',
      status: 200,
      reads: { errorCount: 2 },
      keeps: { errors: 'errorCount' },
    },
    {
      does: 'reports the failure',
      method: 'PATCH',
      path: '/v2/components/walk-old-1',
      body: { stateAppend: append2('_failed'), errorCount: '{{errors+1}}' },
      status: 200,
      reads: { errorCount: 3 },
    },
    {
      does: 'reports a host that was broken off',
      method: 'PATCH',
      path: '/v2/components/walk-old-2',
      body: { stateAppend: append2('_incomplete') },
      status: 200,
    },
    {
      does: 'reports success',
      method: 'PATCH',
      path: '/v2/components/walk-old-3',
      body: { stateAppend: append2(''), errorCount: 0 },
      status: 200,
      reads: { errorCount: 0 },
    },
    {
      does: 'reads the layer with its status behind the commit',
      method: 'GET',
      path: '/v2/components/walk-old-1',
      status: 200,
      reads: {
        configurationStatus: 'failed',
        state: [{ commit: '{{commit}}' }, { commit: '{{commit}}_failed', sessionName: 'walk-report' }],
      },
    },
    {
      does: '(check) version 3 shows the same apart',
      method: 'GET',
      path: '/v3/components/walk-old-2',
      query: { state_details: true },
      status: 200,
      reads: {
        configuration_status: 'pending',
        state: [{ status: 'applied' }, { commit: '{{commit}}', status: 'incomplete' }],
      },
    },
  ],
};
