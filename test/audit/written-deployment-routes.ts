/** Requests that write in lane deployments, and the audit records that they leave. */
import { FORM_HEADERS, formOf, kubeconfigOf, named } from '../deployments/cluster-fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { PLACEMENT_ROUTES } from './written-placement-routes.ts';
import { type Send, some, type WrittenRoute } from './written-route.ts';

const V2 = '/v2/cluster-providers';
const provider = (name: string) => (_api: TokenApi, send: Send) => send('POST', V2, named(name));
const cluster = (name: string) => async (api: TokenApi, send: Send) => {
  await provider(name)(api, send);
  const form = formOf(named('north'), kubeconfigOf());
  const made = await api.as(api.tokens.admin, 'POST', `${V2}/${name}/clusters`, form, FORM_HEADERS);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
};
const server = 'https://127.0.0.1:1';
const network = (name: string, kind = 'network') => ({
  ...named(name),
  spec: {
    ...{ cniType: 'ovn4nfv', ipv4Subnets: [{ name: 'one', subnet: '172.16.34.0/24' }] },
    ...(kind === 'network' ? {} : { providerNetType: 'DIRECT' }),
  },
});
const withNetwork = (name: string) => async (api: TokenApi, send: Send) => {
  await cluster(name)(api, send);
  await send('POST', `${V2}/${name}/clusters/north/networks`, network('one'));
};
const applied = (name: string) => async (api: TokenApi, send: Send) => {
  await withNetwork(name)(api, send);
  await send('POST', `${V2}/${name}/clusters/north/apply`);
};
const intentsOf = (name: string) => `cluster-providers/${name}/clusters/north/network-intents`;
const pairs = { ...named('site'), spec: { kv: [{ region: 'north' }] } };

export const DEPLOYMENT_ROUTES: Record<string, WrittenRoute> = {
  [`POST ${V2}`]: {
    path: V2,
    body: named('audit-made'),
    records: [['create', 'cluster-provider', 'audit-made', null, some({ metadata: { name: 'audit-made' } })]],
  },
  [`DELETE ${V2}/:id`]: {
    path: `${V2}/audit-gone`,
    prepare: provider('audit-gone'),
    records: [['delete', 'cluster-provider', 'audit-gone', some({ metadata: { name: 'audit-gone' } }), null]],
  },
  [`POST ${V2}/:id/clusters`]: {
    path: `${V2}/audit-add/clusters`,
    body: formOf(named('north'), kubeconfigOf()),
    headers: FORM_HEADERS,
    // The key of the seal is there: it is made with the first cluster.
    prepare: async (api, send) => {
      await cluster('audit-first')(api, send);
      await provider('audit-add')(api, send);
    },
    records: [['create', 'cluster', 'audit-add+north', null, some({ server, credential_revision: 1 })]],
  },
  [`PUT ${V2}/:id/clusters/:id`]: {
    path: `${V2}/audit-put/clusters/north`,
    body: formOf(named('north'), kubeconfigOf({ token: 'hunter3' })),
    headers: FORM_HEADERS,
    prepare: cluster('audit-put'),
    records: [['update', 'cluster', 'audit-put+north', { credential_revision: 1 }, { credential_revision: 2 }]],
  },
  [`DELETE ${V2}/:id/clusters/:id`]: {
    path: `${V2}/audit-cut/clusters/north`,
    prepare: cluster('audit-cut'),
    records: [['delete', 'cluster', 'audit-cut+north', some({ server }), null]],
  },
  [`POST ${V2}/:id/clusters/:id/labels`]: {
    path: `${V2}/audit-label/clusters/north/labels`,
    body: { 'label-name': 'edge' },
    prepare: cluster('audit-label'),
    records: [['create', 'cluster-label', 'audit-label+north edge', null, {}]],
  },
  [`DELETE ${V2}/:id/clusters/:id/labels/:id`]: {
    path: `${V2}/audit-bare/clusters/north/labels/edge`,
    prepare: async (api, send) => {
      await cluster('audit-bare')(api, send);
      await send('POST', `${V2}/audit-bare/clusters/north/labels`, { 'label-name': 'edge' });
    },
    records: [['delete', 'cluster-label', 'audit-bare+north edge', {}, null]],
  },
  [`POST ${V2}/:id/clusters/:id/kv-pairs`]: {
    path: `${V2}/audit-kv/clusters/north/kv-pairs`,
    body: pairs,
    prepare: cluster('audit-kv'),
    records: [['create', 'placement', 'cluster-providers/audit-kv/clusters/north/kv-pairs/site', null, some({})]],
  },
  [`DELETE ${V2}/:id/clusters/:id/kv-pairs/:id`]: {
    path: `${V2}/audit-kv-gone/clusters/north/kv-pairs/site`,
    prepare: async (api, send) => {
      await cluster('audit-kv-gone')(api, send);
      await send('POST', `${V2}/audit-kv-gone/clusters/north/kv-pairs`, pairs);
    },
    records: [['delete', 'placement', 'cluster-providers/audit-kv-gone/clusters/north/kv-pairs/site', some({}), null]],
  },
  ...Object.fromEntries(
    (['network', 'provider-network'] as const).flatMap((kind): [string, WrittenRoute][] => {
      const place = (name: string) => `cluster-providers/audit-${kind}-${name}/clusters/north/${kind}s`;
      const body = network('one', kind);
      const withOne = (name: string) => async (api: TokenApi, send: Send) => {
        await cluster(`audit-${kind}-${name}`)(api, send);
        await send('POST', `/v2/${place(name)}`, body);
      };
      return [
        [
          `POST ${V2}/:id/clusters/:id/${kind}s`,
          {
            ...{ path: `/v2/${place('add')}`, body, prepare: cluster(`audit-${kind}-add`) },
            records: [['create', 'placement', `${place('add')}/one`, null, some({})]],
          },
        ],
        [
          `PUT ${V2}/:id/clusters/:id/${kind}s/:id`,
          {
            ...{ path: `/v2/${place('put')}/one`, body: { ...body, metadata: { name: 'one', description: 'new' } } },
            prepare: withOne('put'),
            records: [['update', 'placement', `${place('put')}/one`, some({}), some({})]],
          },
        ],
        [
          `DELETE ${V2}/:id/clusters/:id/${kind}s/:id`,
          {
            ...{ path: `/v2/${place('gone')}/one`, prepare: withOne('gone') },
            records: [['delete', 'placement', `${place('gone')}/one`, some({}), null]],
          },
        ],
      ];
    }),
  ),
  [`POST ${V2}/:id/clusters/:id/apply`]: {
    path: `${V2}/audit-apply/clusters/north/apply`,
    prepare: withNetwork('audit-apply'),
    records: [
      ['create', 'placement', intentsOf('audit-apply'), null, some({})],
      ['create', 'deployment', intentsOf('audit-apply'), null, some({ state: 'Created' })],
      ['create', 'deployment', intentsOf('audit-apply'), null, some({ state: 'Applied' })],
    ],
  },
  [`POST ${V2}/:id/clusters/:id/terminate`]: {
    path: `${V2}/audit-end/clusters/north/terminate`,
    prepare: applied('audit-end'),
    records: [['create', 'deployment', intentsOf('audit-end'), null, some({ state: 'Terminated' })]],
  },
  [`POST ${V2}/:id/clusters/:id/stop`]: {
    path: `${V2}/audit-stop/clusters/north/stop`,
    prepare: applied('audit-stop'),
    records: [['create', 'deployment', intentsOf('audit-stop'), null, some({ state: 'InstantiateStopped' })]],
  },
  ...PLACEMENT_ROUTES,
};
