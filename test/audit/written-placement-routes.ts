/** Requests that write projects, clouds and deployments, and the audit records that they leave. */
import { shortPlace } from '../../domain/deployments/deployment-name.ts';
import { FORM_HEADERS, formOf, named } from '../deployments/cluster-fixtures.ts';
import { appForm, groupBody, type Made, makeDeployment } from '../deployments/placement-fixtures.ts';
import { documentOf } from '../deployments/short-fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { type Send, some, type WrittenRoute } from './written-route.ts';

const APP = '/v2/projects/:id/composite-apps/:id/:id';
const GROUP = `${APP}/deployment-intent-groups/:id`;
const CLOUD = '/v2/projects/:id/logical-clouds/:id';
const form = await appForm('second');

/** Makes a deployment of this name, and then what else has to be there. */
const deployed =
  (name: string, more: (made: Made, send: Send) => Promise<unknown> = async () => undefined) =>
  async (api: TokenApi, send: Send) => {
    const asAdmin = (method: string, url: string, body?: unknown, headers?: Record<string, string>) =>
      api.as(api.tokens.admin, method, url, body, headers);
    await more(await makeDeployment(asAdmin, name), send);
  };
const project = (name: string) => `/v2/projects/${name}`;
const app = (name: string) => `${project(name)}/composite-apps/telemetry/v1`;
const group = (name: string) => `${app(name)}/deployment-intent-groups/edge`;
const cloud = (name: string) => `${project(name)}/logical-clouds/default`;
/** Audit names are paths without the version of the interface. */
const auditName = (path: string) => path.slice('/v2/'.length);
const made = (path: string): WrittenRoute['records'] => [['create', 'placement', auditName(path), null, some({})]];
const gone = (path: string): WrittenRoute['records'] => [['delete', 'placement', auditName(path), some({}), null]];
const state = (path: string, word: string): WrittenRoute['records'][number] => [
  'create',
  'deployment',
  auditName(path),
  null,
  some({ state: word }),
];
const controller = (name: string) => ({ ...named(name), spec: { host: 'h', port: 1 } });
const approved = (name: string) => deployed(name, (paths, send) => send('POST', `${paths.group}/approve`));
const running = (name: string) =>
  deployed(name, async (paths, send) => {
    await send('POST', `${paths.group}/approve`);
    await send('POST', `${paths.group}/instantiate`);
  });
const bareCloud = (name: string) => async (_api: TokenApi, send: Send) => {
  await send('POST', '/v2/projects', named(name));
  await send('POST', `${project(name)}/logical-clouds`, { ...named('default'), spec: { level: '0' } });
};
const bareApp = (name: string) => async (_api: TokenApi, send: Send) => {
  await send('POST', '/v2/projects', named(name));
  await send('POST', `${project(name)}/composite-apps`, { ...named('telemetry'), spec: { version: 'v1' } });
};

const DEPLOYMENTS = '/api/v1/deployments';
const deployment = (name: string) => `${DEPLOYMENTS}/${encodeURIComponent(`${name}+telemetry+v1+edge`)}`;
const short = shortPlace('au-short');
const shortMade = (...paths: string[]) => paths.flatMap((path) => made(`/v2/${path}`));
const shortPlacement = `${short.path}/generic-placement-intents/placement`;

/** The same calls on Muster's own surface. */
const DEPLOYMENT_CALLS: Record<string, WrittenRoute> = {
  [`POST ${DEPLOYMENTS}`]: {
    path: DEPLOYMENTS,
    body: documentOf('au-short', 'au-lab', { approve: false, instantiate: false }),
    // The key of the seal is there.
    prepare: deployed('au-nf'),
    records: [
      ...shortMade(short.project, short.compositeApp, `${short.compositeApp}/apps/agent`),
      ...shortMade(`${short.compositeApp}/composite-profiles/none`, short.cloud, short.path),
      state(`/v2/${short.cloud}`, 'Created'),
      state(`/v2/${short.path}`, 'Created'),
      ...shortMade(shortPlacement, `${shortPlacement}/app-intents/agent`, `${short.path}/intents/intents`),
    ],
  },
  [`POST ${DEPLOYMENTS}/:id/approve`]: {
    path: `${deployment('au-na')}/approve`,
    prepare: deployed('au-na'),
    records: [state(group('au-na'), 'Approved')],
  },
  [`POST ${DEPLOYMENTS}/:id/instantiate`]: {
    path: `${deployment('au-nb')}/instantiate`,
    prepare: approved('au-nb'),
    records: [state(group('au-nb'), 'Instantiated')],
  },
  [`POST ${DEPLOYMENTS}/:id/terminate`]: {
    path: `${deployment('au-nc')}/terminate`,
    prepare: running('au-nc'),
    records: [state(group('au-nc'), 'Terminated')],
  },
  [`POST ${DEPLOYMENTS}/:id/stop`]: {
    path: `${deployment('au-nd')}/stop`,
    prepare: running('au-nd'),
    records: [state(group('au-nd'), 'InstantiateStopped')],
  },
  [`DELETE ${DEPLOYMENTS}/:id`]: {
    path: deployment('au-ne'),
    prepare: running('au-ne'),
    records: [['remove', 'deployment', auditName(group('au-ne')), null, {}], state(group('au-ne'), 'Terminated')],
  },
};

export const PLACEMENT_ROUTES: Record<string, WrittenRoute> = {
  ...DEPLOYMENT_CALLS,
  'POST /v2/projects': { path: '/v2/projects', body: named('au-p'), records: made(project('au-p')) },
  'PUT /v2/projects/:id': { path: project('au-q'), body: named('au-q'), records: made(project('au-q')) },
  'DELETE /v2/projects/:id': {
    path: project('au-r'),
    prepare: (_api, send) => send('POST', '/v2/projects', named('au-r')),
    records: gone(project('au-r')),
  },
  'POST /v2/controllers': {
    path: '/v2/controllers',
    body: controller('au-c'),
    records: made('/v2/controllers/au-c'),
  },
  'PUT /v2/controllers/:id': {
    path: '/v2/controllers/au-d',
    body: controller('au-d'),
    records: made('/v2/controllers/au-d'),
  },
  'DELETE /v2/controllers/:id': {
    path: '/v2/controllers/au-e',
    prepare: (_api, send) => send('POST', '/v2/controllers', controller('au-e')),
    records: gone('/v2/controllers/au-e'),
  },
  'POST /v2/projects/:id/composite-apps': {
    path: `${project('au-ca')}/composite-apps`,
    body: { ...named('telemetry'), spec: { version: 'v1' } },
    prepare: (_api, send) => send('POST', '/v2/projects', named('au-ca')),
    records: made(app('au-ca')),
  },
  [`DELETE ${APP}`]: { path: app('au-cb'), prepare: bareApp('au-cb'), records: gone(app('au-cb')) },
  [`POST ${APP}/apps`]: {
    path: `${app('au-a')}/apps`,
    body: form,
    headers: FORM_HEADERS,
    prepare: deployed('au-a'),
    records: made(`${app('au-a')}/apps/second`),
  },
  [`DELETE ${APP}/apps/:id`]: {
    path: `${app('au-b')}/apps/agent`,
    prepare: deployed('au-b'),
    records: gone(`${app('au-b')}/apps/agent`),
  },
  [`POST ${APP}/composite-profiles`]: {
    path: `${app('au-cp')}/composite-profiles`,
    body: named('base'),
    prepare: bareApp('au-cp'),
    records: made(`${app('au-cp')}/composite-profiles/base`),
  },
  [`DELETE ${APP}/composite-profiles/:id`]: {
    path: `${app('au-cq')}/composite-profiles/base`,
    prepare: deployed('au-cq'),
    records: gone(`${app('au-cq')}/composite-profiles/base`),
  },
  [`POST ${APP}/composite-profiles/:id/profiles`]: {
    path: `${app('au-ap')}/composite-profiles/base/profiles`,
    body: formOf({ ...named('p'), spec: { 'app-name': 'agent' } }, 'x'),
    headers: FORM_HEADERS,
    prepare: deployed('au-ap'),
    records: made(`${app('au-ap')}/composite-profiles/base/profiles/p`),
  },
  [`DELETE ${APP}/composite-profiles/:id/profiles/:id`]: {
    path: `${app('au-aq')}/composite-profiles/base/profiles/p`,
    prepare: async (api, send) => {
      await deployed('au-aq')(api, send);
      const body = formOf({ ...named('p'), spec: { 'app-name': 'agent' } }, 'x');
      const url = `${app('au-aq')}/composite-profiles/base/profiles`;
      await api.as(api.tokens.admin, 'POST', url, body, FORM_HEADERS);
    },
    records: gone(`${app('au-aq')}/composite-profiles/base/profiles/p`),
  },
  [`POST ${APP}/deployment-intent-groups`]: {
    path: `${app('au-g')}/deployment-intent-groups`,
    body: groupBody('edge'),
    prepare: bareApp('au-g'),
    records: [...made(group('au-g')), state(group('au-g'), 'Created')],
  },
  [`DELETE ${GROUP}`]: {
    path: `${group('au-h')}`,
    prepare: async (api, send) => {
      await bareApp('au-h')(api, send);
      await send('POST', `${app('au-h')}/deployment-intent-groups`, groupBody('edge'));
    },
    records: gone(group('au-h')),
  },
  [`POST ${GROUP}/approve`]: {
    path: `${group('au-i')}/approve`,
    prepare: deployed('au-i'),
    records: [state(group('au-i'), 'Approved')],
  },
  [`POST ${GROUP}/instantiate`]: {
    path: `${group('au-j')}/instantiate`,
    prepare: approved('au-j'),
    records: [state(group('au-j'), 'Instantiated')],
  },
  [`POST ${GROUP}/terminate`]: {
    path: `${group('au-k')}/terminate`,
    prepare: running('au-k'),
    records: [state(group('au-k'), 'Terminated')],
  },
  [`POST ${GROUP}/stop`]: {
    path: `${group('au-l')}/stop`,
    prepare: running('au-l'),
    records: [state(group('au-l'), 'InstantiateStopped')],
  },
  [`POST ${GROUP}/intents`]: {
    path: `${group('au-m')}/intents`,
    body: { ...named('more'), spec: { intent: { other: 'x' } } },
    prepare: deployed('au-m'),
    records: made(`${group('au-m')}/intents/more`),
  },
  [`DELETE ${GROUP}/intents/:id`]: {
    path: `${group('au-n')}/intents/all`,
    prepare: approved('au-n'),
    // A change takes the approval back.
    records: [state(group('au-n'), 'Created'), ...gone(`${group('au-n')}/intents/all`)],
  },
  [`POST ${GROUP}/generic-placement-intents`]: {
    path: `${group('au-o')}/generic-placement-intents`,
    body: named('more'),
    prepare: deployed('au-o'),
    records: made(`${group('au-o')}/generic-placement-intents/more`),
  },
  [`DELETE ${GROUP}/generic-placement-intents/:id`]: {
    path: `${group('au-s')}/generic-placement-intents/more`,
    prepare: deployed('au-s', ({ group: path }, send) =>
      send('POST', `${path}/generic-placement-intents`, named('more')),
    ),
    records: gone(`${group('au-s')}/generic-placement-intents/more`),
  },
  [`POST ${GROUP}/generic-placement-intents/:id/app-intents`]: {
    path: `${group('au-t')}/generic-placement-intents/where/app-intents`,
    body: { ...named('more'), spec: { 'app-name': 'agent', intent: {} } },
    prepare: deployed('au-t'),
    records: made(`${group('au-t')}/generic-placement-intents/where/app-intents/more`),
  },
  [`DELETE ${GROUP}/generic-placement-intents/:id/app-intents/:id`]: {
    path: `${group('au-u')}/generic-placement-intents/where/app-intents/agent-where`,
    prepare: deployed('au-u'),
    records: gone(`${group('au-u')}/generic-placement-intents/where/app-intents/agent-where`),
  },
  'POST /v2/projects/:id/logical-clouds': {
    path: `${project('au-v')}/logical-clouds`,
    body: { ...named('default'), spec: { level: '0' } },
    prepare: (_api, send) => send('POST', '/v2/projects', named('au-v')),
    records: [...made(cloud('au-v')), state(cloud('au-v'), 'Created')],
  },
  [`DELETE ${CLOUD}`]: { path: cloud('au-w'), prepare: bareCloud('au-w'), records: gone(cloud('au-w')) },
  [`POST ${CLOUD}/cluster-references`]: {
    path: `${cloud('au-x')}/cluster-references`,
    body: { ...named('ref'), spec: { 'cluster-provider': 'p', 'cluster-name': 'c' } },
    prepare: bareCloud('au-x'),
    records: made(`${cloud('au-x')}/cluster-references/ref`),
  },
  [`DELETE ${CLOUD}/cluster-references/:id`]: {
    path: `${cloud('au-y')}/cluster-references/ref-north`,
    prepare: deployed('au-y', ({ cloud: path }, send) => send('POST', `${path}/terminate`)),
    records: gone(`${cloud('au-y')}/cluster-references/ref-north`),
  },
  [`POST ${CLOUD}/instantiate`]: {
    path: `${cloud('au-z')}/instantiate`,
    prepare: deployed('au-z', ({ cloud: path }, send) => send('POST', `${path}/terminate`)),
    records: [state(cloud('au-z'), 'Instantiated')],
  },
  [`POST ${CLOUD}/terminate`]: {
    path: `${cloud('au-aa')}/terminate`,
    prepare: deployed('au-aa'),
    records: [state(cloud('au-aa'), 'Terminated')],
  },
};
