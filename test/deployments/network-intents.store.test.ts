/** Network intents of clusters: records over REST, and their life cycle on a cluster in memory. */
import { describe, expect, test } from '@jest/globals';
import { named } from './cluster-fixtures.ts';
import { contextBenchOfBlock } from './context-bench.ts';
import { AWAY } from './fake-member.ts';
import { makeClusters } from './short-fixtures.ts';

const bench = contextBenchOfBlock('n');
let count = 0;

const subnets = [
  {
    name: 'one',
    subnet: '172.16.34.0/24',
    gateway: '172.16.34.1/24',
    excludeIps: '172.16.34.2 172.16.34.5..172.16.34.10',
  },
];
const network = (name: string, spec: object = {}) => ({
  ...named(name),
  spec: { cniType: 'ovn4nfv', ipv4Subnets: subnets, ...spec },
});
const VLAN = { vlanID: '100', providerInterfaceName: 'eth1', vlanNodeSelector: 'any' };
const providerNetwork = (name: string, spec: object = {}) =>
  network(name, { providerNetType: 'VLAN', vlan: VLAN, ...spec });

/** Registers a cluster; returns its path and how to ask below it. */
async function cluster() {
  const provider = `net-${++count}`;
  await makeClusters(bench.api.call, provider, { north: [] });
  const url = `/v2/cluster-providers/${provider}/clusters/north`;
  const ask = (method: string, path: string, body?: unknown) => bench.api.call(method, `${url}/${path}`, body);
  const code = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    return [answer.status, answer.body?.code ?? null];
  };
  const status = async (query = '') => (await ask('GET', `status${query}`)).body;
  /** Does what is wanted of the current AppContext. */
  const round = async () => {
    const { body } = await ask('GET', 'status');
    return await bench.round({ id: body.states.actions.at(-1).instance } as Parameters<typeof bench.round>[0]);
  };
  const states = async () => (await status()).states.actions.map(({ state }: { state: string }) => state);
  return { provider, url, ask, code, status, round, states };
}

describe('network intents', () => {
  test('are applied once, as objects of one app in namespace default (vector 35)', async () => {
    const { provider, ask, code, status, round, states } = await cluster();
    expect(await status()).toMatchObject({ name: `${provider}+north`, state: 'Created' });
    expect(await states()).toEqual(['Created']);
    await ask('POST', 'provider-networks', providerNetwork('third'));
    await ask('POST', 'networks', { ...network('second'), metadata: { name: 'second', description: 'of machines' } });
    await ask('POST', 'networks', network('first'));
    expect(await code('POST', 'apply')).toEqual([204, null]);
    expect(await status()).toMatchObject({ state: 'Applied', status: 'Instantiating' });
    expect(await code('POST', 'apply')).toEqual([204, null]);
    expect(await states()).toEqual(['Created', 'Applied']);
    await round();
    const shown = await status('?output=detail');
    expect(shown).toMatchObject({ name: `${provider}+north`, status: 'Instantiated', 'rsync-status': { Applied: 3 } });
    expect(shown.apps).toHaveLength(1);
    expect(shown.apps[0]).toMatchObject({ name: 'network-intents', clusters: [{ cluster: 'north' }] });
    const objects = [...bench.member.applied].map(([path, { kind, metadata, spec }]) => [
      path,
      { kind, metadata, spec },
    ]);
    const base = '/apis/k8s.plugin.opnfv.org/v1alpha1/namespaces/default';
    expect(objects).toMatchObject([
      [
        `${base}/networks/second`,
        { metadata: { annotations: { 'muster/description': 'of machines' } }, spec: { ipv4Subnets: subnets } },
      ],
      [`${base}/networks/first`, { kind: 'Network' }],
      [`${base}/providernetworks/third`, { kind: 'ProviderNetwork', spec: { vlan: { vlanId: '100' } } }],
    ]);
  });

  test('cannot change while they are applied; they go off again (vector 36)', async () => {
    const { url, ask, code, status, round, states } = await cluster();
    await ask('POST', 'networks', network('one'));
    await ask('POST', 'networks', network('two'));
    expect(await code('POST', 'terminate')).toEqual([409, 'invalid_state']);
    await ask('POST', 'apply');
    await round();
    expect(await code('POST', 'networks', network('three'))).toEqual([409, 'invalid_state']);
    expect(await code('PUT', 'networks/one', network('one'))).toEqual([409, 'invalid_state']);
    expect(await code('DELETE', 'networks/one')).toEqual([409, 'invalid_state']);
    const removed = await bench.api.call('DELETE', url);
    expect([removed.status, removed.body.code]).toEqual([409, 'invalid_state']);
    expect(await code('POST', 'stop')).toEqual([409, 'invalid_state']);
    expect(await code('POST', 'terminate')).toEqual([204, null]);
    expect(await code('POST', 'terminate')).toEqual([204, null]);
    expect(await code('POST', 'networks', network('three'))).toEqual([409, 'context_busy']);
    expect(await code('POST', 'apply')).toEqual([409, 'context_busy']);
    await round();
    expect(await status('?output=summary')).toMatchObject({ status: 'Terminated', 'rsync-status': { Deleted: 2 } });
    expect(await states()).toEqual(['Created', 'Applied', 'Terminated']);
    expect(bench.member.objects.size).toBe(0);
    expect(await code('POST', 'networks', network('three'))).toEqual([201, null]);
  });

  test('that are stopped are terminated and applied again', async () => {
    const { ask, code, status, round, states } = await cluster();
    await ask('POST', 'networks', network('one'));
    bench.member.fault = () => AWAY;
    await ask('POST', 'apply');
    await round();
    expect(await status()).toMatchObject({ status: 'Instantiating', 'rsync-status': { Retrying: 1 } });
    expect(await code('POST', 'stop')).toEqual([204, null]);
    await round();
    expect(await status()).toMatchObject({ state: 'InstantiateStopped', status: 'InstantiateFailed' });
    expect(await code('POST', 'apply')).toEqual([204, null]);
    bench.member.fault = () => undefined;
    await ask('POST', 'terminate');
    await ask('POST', 'apply');
    await round();
    expect(await status()).toMatchObject({ state: 'Applied', status: 'Instantiated', 'rsync-status': { Applied: 1 } });
    expect(await states()).toEqual(['Created', 'Applied', 'InstantiateStopped', 'Terminated', 'Applied']);
  });

  test('without any are instantiated at once', async () => {
    const { ask, status } = await cluster();
    await ask('POST', 'apply');
    expect(await status()).toMatchObject({ state: 'Applied', status: 'Instantiated' });
    await ask('POST', 'terminate');
    expect(await status()).toMatchObject({ state: 'Terminated', status: 'Terminated' });
  });

  test('keep their cluster while they are there; then it goes with their AppContexts', async () => {
    const { url, ask, round } = await cluster();
    await ask('POST', 'networks', network('one'));
    await ask('POST', 'apply');
    await round();
    await ask('POST', 'terminate');
    const remove = async () => {
      const { status, body } = await bench.api.call('DELETE', url);
      return [status, body?.code ?? null];
    };
    expect(await remove()).toEqual([409, 'context_busy']);
    await round();
    expect(await remove()).toEqual([409, 'has_children']);
    await ask('DELETE', 'networks/one');
    expect(await remove()).toEqual([204, null]);
    const { db } = bench.api.database;
    const left = await db
      .selectFrom('placement_records')
      .select('path')
      .where('path', 'like', `${url.slice(4)}/%`)
      .execute();
    expect(left).toEqual([]);
  });

  test('are read, replaced and removed', async () => {
    const { ask, code } = await cluster();
    const one = await ask('PUT', 'provider-networks/one', providerNetwork('one'));
    expect([one.status, one.body.spec.vlan]).toEqual([201, VLAN]);
    const other = await ask('PUT', 'provider-networks/one', providerNetwork('one', { providerNetType: 'DIRECT' }));
    expect([other.status, other.body.spec.providerNetType]).toEqual([200, 'DIRECT']);
    expect((await ask('GET', 'provider-networks/one')).body).toEqual(other.body);
    expect((await ask('GET', 'provider-networks')).body).toEqual([other.body]);
    expect((await ask('GET', 'networks')).body).toEqual([]);
    expect(await code('POST', 'provider-networks', providerNetwork('one'))).toEqual([409, 'already_exists']);
    expect(await code('PUT', 'provider-networks/two', providerNetwork('one'))).toEqual([400, 'bad_request']);
    expect(await code('DELETE', 'provider-networks/one')).toEqual([204, null]);
    expect(await code('DELETE', 'provider-networks/one')).toEqual([404, 'not_found']);
  });

  test.each<[string, string, unknown]>([
    ['without a spec', 'networks', named('bad')],
    ['without subnets', 'networks', network('bad', { ipv4Subnets: undefined })],
    ['with a subnet that is no CIDR', 'networks', network('bad', { ipv4Subnets: [{ subnet: '172.16.34.0' }] })],
    ['with a subnet of five numbers', 'networks', network('bad', { ipv4Subnets: [{ subnet: '1.2.3.4.5/8' }] })],
    ['with a prefix that is too long', 'networks', network('bad', { ipv4Subnets: [{ subnet: '1.2.3.4/33' }] })],
    ['with a gateway that is no CIDR', 'networks', network('bad', { ipv4Subnets: [{ ...subnets[0], gateway: 'x' }] })],
    [
      'with a range of one end',
      'networks',
      network('bad', { ipv4Subnets: [{ ...subnets[0], excludeIps: '1.2.3.4..' }] }),
    ],
    ['without a type', 'provider-networks', network('bad')],
    ['with an unknown type', 'provider-networks', providerNetwork('bad', { providerNetType: 'VXLAN' })],
    [
      'with a selector that is none',
      'provider-networks',
      providerNetwork('bad', { vlan: { vlanNodeSelector: 'all' } }),
    ],
  ])('%s are refused: %s', async (_what, path, body) => {
    const { code } = await cluster();
    expect(await code('POST', path, body)).toEqual([400, 'bad_request']);
  });

  test('of a cluster that is not there are not found', async () => {
    const { provider } = await cluster();
    const url = `/v2/cluster-providers/${provider}/clusters/nosuch`;
    for (const [method, path, body] of [
      ['GET', 'networks'],
      ['POST', 'networks', network('one')],
      ['PUT', 'networks/one', network('one')],
      ['DELETE', 'networks/one'],
      ['POST', 'apply'],
      ['POST', 'terminate'],
      ['POST', 'stop'],
      ['GET', 'status'],
    ] as const) {
      const answer = await bench.api.call(method, `${url}/${path}`, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'not_found']);
    }
    const instance = await bench.api.call('GET', `/v2/cluster-providers/${provider}/clusters/north/status?instance=1`);
    expect([instance.status, instance.body.code]).toEqual([404, 'not_found']);
  });
});
