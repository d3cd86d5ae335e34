import { expect } from '@jest/globals';
import type { Walk } from './walk.ts';

const NODES = ['x9000c1s0b0n0', 'x9000c1s0b1n0', 'x9000c1s1b0n0'];
const BOOTED = NODES[0] ?? '';

/** Hardware synchroniser: options, all components, one PUT of those that are missing (cfs-flows 6.2). */
export const hardwareSync: Walk = {
  client: 'hardware synchroniser',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    {
      does: 'reads its interval',
      method: 'GET',
      path: '/v3/options',
      status: 200,
      reads: { hardware_sync_interval: 10 },
    },
    {
      does: 'writes its interval back',
      method: 'PATCH',
      path: '/v3/options',
      body: { hardware_sync_interval: 10 },
      status: 200,
    },
    {
      does: 'reads all components',
      method: 'GET',
      path: '/v3/components',
      status: 200,
      pages: { kind: 'components', by: 'next' },
    },
    {
      does: 'creates those that are missing',
      method: 'PUT',
      path: '/v3/components',
      body: NODES.map((id) => ({ id, state: [], desired_config: '', error_count: 0, enabled: true })),
      status: 200,
      is: { component_ids: NODES },
    },
    {
      does: 'finds them in the next round',
      method: 'GET',
      path: '/v3/components',
      query: { ids: NODES.join(',') },
      status: 200,
      pages: { kind: 'components', by: 'next', finds: NODES },
    },
    {
      does: 'creates none when none is missing',
      method: 'PUT',
      path: '/v3/components',
      body: [],
      status: 200,
      is: { component_ids: [] },
    },
  ],
};

/** The same of an older release, which speaks version 2. */
export const hardwareSyncV2: Walk = {
  client: 'hardware synchroniser, version 2',
  base: '',
  headers: { host: 'cray-cfs-api' },
  steps: [
    {
      does: 'reads its interval',
      method: 'GET',
      path: '/v2/options',
      status: 200,
      reads: { hardwareSyncInterval: 10 },
    },
    { does: 'reads all components', method: 'GET', path: '/v2/components', status: 200, reads: expect.any(Array) },
    {
      does: 'creates those that are missing',
      method: 'PUT',
      path: '/v2/components',
      body: ['x9000c2s0b0n0', 'x9000c2s0b1n0'].map((id) => ({
        state: [],
        desiredConfig: '',
        errorCount: 0,
        enabled: true,
        id,
      })),
      status: 200,
      reads: [{ id: 'x9000c2s0b0n0', enabled: true }, { id: 'x9000c2s0b1n0' }],
    },
    {
      does: 'sees them by version 3 as well',
      method: 'GET',
      path: '/v3/components/x9000c2s0b0n0',
      status: 200,
      reads: { id: 'x9000c2s0b0n0', enabled: true, desired_config: '', error_count: 0 },
    },
  ],
};

const BOOT = { state: [], enabled: true };

/** State reporter of a node, through the gateway with a token; it sends its PATCH twice (cfs-flows 6.1). */
export const stateReporter: Walk = {
  client: 'state reporter',
  base: '/apis/cfs',
  headers: { host: 'api-gw-service-nmn.local', authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.signature' },
  steps: [
    {
      does: 'is told that its component is not known yet, and will try again',
      method: 'PATCH',
      path: '/v3/components/x9000c9s9b9n9',
      body: BOOT,
      status: 404,
      reads: { title: 'Component not found.', detail: expect.stringContaining('x9000c9s9b9n9'), status: 404 },
    },
    {
      does: '(set-up) the node was configured and had failures',
      method: 'PUT',
      path: `/v3/components/${BOOTED}`,
      body: {
        state: [
          {
            clone_url: '{{repository}}',
            playbook: 'site.yml',
            commit: '{{commit}}',
            status: 'failed',
            session_name: 's',
          },
        ],
        desired_config: '{{configuration}}',
        error_count: 3,
        enabled: false,
        tags: { rack: 'r9' },
      },
      status: 200,
    },
    {
      does: 'says that it booted',
      method: 'PATCH',
      path: `/v3/components/${BOOTED}`,
      body: BOOT,
      status: 200,
      reads: { id: BOOTED },
    },
    {
      does: 'says it again',
      method: 'PATCH',
      path: `/v3/components/${BOOTED}`,
      body: BOOT,
      status: 200,
      reads: { id: BOOTED },
    },
    {
      does: '(check) it is pending, enabled and without errors, and keeps the rest',
      method: 'GET',
      path: `/v3/components/${BOOTED}`,
      query: { state_details: true },
      status: 200,
      reads: {
        configuration_status: 'pending',
        enabled: true,
        error_count: 0,
        state: [],
        desired_config: '{{configuration}}',
        tags: { rack: 'r9' },
      },
    },
  ],
};
