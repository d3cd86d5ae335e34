/** Requests of every operation of lane deployments, each answered as the documents say. */
import type { Db } from '../../store/connection/database.ts';
import { FORM_HEADERS, formOf, kubeconfigOf, named } from './cluster-fixtures.ts';
import { answerPlacement } from './placement-answers.ts';
import { MANIFESTS } from './placement-fixtures.ts';

type Expect = (status: number, method: string, url: string, body?: unknown, headers?: object) => Promise<unknown>;

export async function answerDeployments(expectAnswer: Expect, db: Db): Promise<void> {
  await answerClusters(expectAnswer);
  await answerPlacement(expectAnswer, db);
  await answerShortForm(expectAnswer);
}

/** Deployments on Muster's own surface. */
async function answerShortForm(expectAnswer: Expect): Promise<void> {
  const path = '/api/v1/deployments';
  const placement = { all_of: [{ provider: 'answers', cluster: 'north' }] };
  const body = { name: 'answered', apps: [{ name: 'agent', manifests: MANIFESTS, placement }], instantiate: false };
  await expectAnswer(202, 'POST', path, body);
  await expectAnswer(409, 'POST', path, { ...body, namespace: 'other' });
  await expectAnswer(400, 'POST', path, { ...body, name: '' });
  await expectAnswer(422, 'POST', path, { ...body, name: 'x', apps: [{ ...body.apps[0], manifests: 'a: [' }] });
  await expectAnswer(501, 'POST', path, { ...body, name: 'x', muster: { force_conflicts: false } });
  await expectAnswer(200, 'GET', `${path}?limit=1`);
  await expectAnswer(200, 'GET', `${path}/answered`);
  await expectAnswer(404, 'GET', `${path}/nosuch`);
  await expectAnswer(400, 'GET', `${path}/a%2Bb`);
  await expectAnswer(202, 'POST', `${path}/answered/approve`);
  await expectAnswer(501, 'POST', `${path}/answered/instantiate?dry_run=true`);
  await expectAnswer(202, 'POST', `${path}/answered/instantiate`);
  await expectAnswer(200, 'GET', `${path}/answered/status?type=all`);
  await expectAnswer(200, 'GET', `${path}/answered/events?limit=1`);
  await expectAnswer(404, 'GET', `${path}/answered/events?instance=1`);
  await expectAnswer(202, 'POST', `${path}/answered/stop`);
  await expectAnswer(501, 'POST', `${path}/answered/terminate?keep=true`);
  await expectAnswer(202, 'POST', `${path}/answered/terminate`);
  await expectAnswer(409, 'POST', `${path}/answered/approve`);
  await expectAnswer(202, 'DELETE', `${path}/answered`);
}

async function answerClusters(expectAnswer: Expect): Promise<void> {
  const path = '/v2/cluster-providers';
  const form = formOf(named('north'), kubeconfigOf());
  await expectAnswer(201, 'POST', path, named('lab'));
  await expectAnswer(409, 'POST', path, named('lab'));
  await expectAnswer(422, 'POST', path, '{');
  await expectAnswer(200, 'GET', path);
  await expectAnswer(200, 'GET', `${path}/lab`);
  const clusters = `${path}/lab/clusters`;
  await expectAnswer(201, 'POST', clusters, form, FORM_HEADERS);
  await expectAnswer(422, 'POST', clusters, 'no form', FORM_HEADERS);
  await expectAnswer(415, 'POST', clusters, {});
  await expectAnswer(400, 'POST', clusters, formOf(named('south'), '{}'), FORM_HEADERS);
  await expectAnswer(200, 'PUT', `${clusters}/north`, form, FORM_HEADERS);
  await expectAnswer(200, 'GET', clusters);
  await expectAnswer(409, 'DELETE', `${path}/lab`);
  for (const accept of ['application/json', 'application/octet-stream', 'multipart/form-data']) {
    await expectAnswer(200, 'GET', `${clusters}/north`, undefined, { accept });
  }
  await expectAnswer(406, 'GET', `${clusters}/north`, undefined, { accept: 'text/html' });
  const labels = `${clusters}/north/labels`;
  await expectAnswer(201, 'POST', labels, { 'label-name': 'edge' });
  await expectAnswer(200, 'GET', labels);
  await expectAnswer(200, 'GET', `${labels}/edge`);
  await expectAnswer(200, 'GET', `${clusters}?label=edge`);
  await expectAnswer(200, 'GET', '/api/v1/clusters?limit=1');
  await expectAnswer(200, 'GET', '/api/v1/clusters/lab%2Bnorth');
  await expectAnswer(400, 'GET', '/api/v1/clusters/north');
  const pairs = `${clusters}/north/kv-pairs`;
  await expectAnswer(201, 'POST', pairs, { ...named('sizes'), spec: { kv: [{ ram: '64' }] } });
  await expectAnswer(400, 'POST', pairs, { ...named('bad'), spec: { kv: 'ram' } });
  await expectAnswer(200, 'GET', pairs);
  await expectAnswer(200, 'GET', `${pairs}/sizes`);
  await expectAnswer(204, 'DELETE', `${pairs}/sizes`);
  await expectAnswer(404, 'GET', `${pairs}/sizes`);
  await answerNetworks(expectAnswer, `${clusters}/west`, () =>
    expectAnswer(201, 'POST', clusters, formOf(named('west'), kubeconfigOf()), FORM_HEADERS),
  );
  await expectAnswer(204, 'DELETE', `${labels}/edge`);
  await expectAnswer(204, 'DELETE', `${clusters}/north`);
  await expectAnswer(201, 'POST', path, named('empty'));
  await expectAnswer(204, 'DELETE', `${path}/empty`);
  await expectAnswer(404, 'GET', `${path}/empty`);
}

/** Network intents of a cluster; it keeps one that waits to be applied. */
async function answerNetworks(expectAnswer: Expect, cluster: string, make: () => Promise<unknown>): Promise<void> {
  await make();
  const spec = { cniType: 'ovn4nfv', ipv4Subnets: [{ subnet: '172.16.34.0/24' }] };
  for (const [kind, more] of [
    ['networks', {}],
    ['provider-networks', { providerNetType: 'DIRECT' }],
  ] as const) {
    const network = { ...named('one'), spec: { ...spec, ...more } };
    await expectAnswer(201, 'POST', `${cluster}/${kind}`, network);
    await expectAnswer(409, 'POST', `${cluster}/${kind}`, network);
    await expectAnswer(400, 'POST', `${cluster}/${kind}`, named('bad'));
    await expectAnswer(200, 'PUT', `${cluster}/${kind}/one`, network);
    await expectAnswer(200, 'GET', `${cluster}/${kind}`);
    await expectAnswer(200, 'GET', `${cluster}/${kind}/one`);
    await expectAnswer(204, 'DELETE', `${cluster}/${kind}/one`);
    await expectAnswer(404, 'GET', `${cluster}/${kind}/one`);
  }
  await expectAnswer(204, 'POST', `${cluster}/apply`);
  await expectAnswer(204, 'POST', `${cluster}/terminate`);
  await expectAnswer(409, 'POST', `${cluster}/stop`);
  await expectAnswer(201, 'POST', `${cluster}/networks`, { ...named('two'), spec });
  await expectAnswer(204, 'POST', `${cluster}/apply`);
  await expectAnswer(204, 'POST', `${cluster}/stop`);
  await expectAnswer(200, 'GET', `${cluster}/status`);
}
