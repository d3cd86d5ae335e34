import { expect } from '@jest/globals';
import type { Walk } from './walk.ts';

const NODES = ['walk-boot-1', 'walk-boot-2', 'walk-boot-3'];

/** Boot orchestration: sets what booted nodes shall get, then watches their status in groups of ids. */
export const bootOrchestration: Walk = {
  client: 'boot orchestration',
  base: '',
  headers: { host: 'cray-cfs-api', accept: 'application/json' },
  steps: [
    {
      does: '(set-up) the nodes are known, with state of an earlier boot',
      method: 'PUT',
      path: '/v3/components',
      body: NODES.map((id) => ({
        id,
        state: [
          {
            clone_url: '{{repository}}',
            playbook: 'site.yml',
            commit: '{{commit}}',
            status: 'applied',
            session_name: 'old',
          },
        ],
        error_count: 2,
        enabled: true,
        tags: { rack: 'r1' },
      })),
      status: 200,
    },
    {
      does: 'disables them while they boot, with a cleared state',
      method: 'PATCH',
      path: '/v3/components',
      body: {
        patch: { enabled: false, desired_config: '{{configuration}}', tags: { bos_session: 'boot-1' }, state: [] },
        filters: { ids: NODES.join(',') },
      },
      status: 200,
      is: { component_ids: NODES },
    },
    {
      does: 'sees that nothing is configured yet',
      method: 'GET',
      path: '/v3/components',
      query: { ids: NODES.join(',') },
      status: 200,
      reads: {
        components: NODES.map((id) => ({
          id,
          enabled: false,
          error_count: 0,
          desired_config: '{{configuration}}',
          configuration_status: 'pending',
          tags: { rack: 'r1', bos_session: 'boot-1' },
        })),
        next: null,
      },
    },
    {
      does: 'hands them over when they are up',
      method: 'PATCH',
      path: '/v3/components',
      body: {
        patch: { enabled: true, desired_config: '{{configuration}}', tags: { bos_session: 'boot-1' } },
        filters: { ids: NODES.slice(0, 2).join(',') },
      },
      status: 200,
      is: { component_ids: NODES.slice(0, 2) },
    },
    {
      does: 'reads their status to the last page',
      method: 'GET',
      path: '/v3/components',
      query: { ids: NODES.join(','), limit: 2 },
      status: 200,
      pages: { kind: 'components', by: 'next', finds: NODES, atLeast: 2 },
    },
    {
      does: 'asks for nodes of which one is gone',
      method: 'GET',
      path: '/v3/components',
      query: { ids: `${NODES[0]},walk-boot-gone` },
      status: 200,
      reads: { components: [{ id: NODES[0], enabled: true }], next: null },
    },
    {
      does: '(check) the third stays disabled',
      method: 'GET',
      path: `/v3/components/${NODES[2]}`,
      status: 200,
      reads: { enabled: false, tags: { bos_session: 'boot-1' }, error_count: expect.any(Number) },
    },
  ],
};
