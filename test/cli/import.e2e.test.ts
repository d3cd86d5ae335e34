import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { answer, type FakeApi, type Handler, startFakeApi } from '../support/fakes/fake-api.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const GIT = 'https://git.example.test/one.git';
const layer = (commit: string, playbook = 'site.yml') => ({
  clone_url: GIT,
  playbook,
  commit,
  status: 'applied',
  session_name: 's1',
  last_updated: '2025-03-01T08:30:00Z',
});

/** A Muster with a listener. */
async function startApi(): Promise<TestApi & { url: string }> {
  const api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.app.server.address() as AddressInfo;
  return { ...api, url: `http://127.0.0.1:${port}` };
}

let here: TestApi & { url: string };
beforeEach(async () => {
  here = await startApi();
});
afterEach(async () => {
  await here.close();
});

const importFrom = (from: string, ...words: string[]) => cli(['import', '--from', from, ...words], { url: here.url });
const reportOf = async (from: string, ...words: string[]) => {
  const { exit, out, err } = await importFrom(from, '-o', 'json', ...words);
  const report = out === '' ? null : JSON.parse(out);
  const counts = Object.fromEntries(
    (report?.kinds ?? []).map((kind: Record<string, unknown>) => [
      kind.kind,
      [kind.created, kind.changed, kind.equal, kind.skipped, kind.failed],
    ]),
  );
  return { exit, err, report, counts };
};
const record = (report: { kinds: { kind: string; records: { name: string }[] }[] }, kind: string, name: string) =>
  report.kinds.find((each) => each.kind === kind)?.records.find((each) => each.name === name);

describe('from another Muster', () => {
  let there: TestApi & { url: string };
  beforeAll(async () => {
    there = await startApi();
    const source = { clone_url: 'https://git.example.test/private.git', credentials: { username: 'u', password: 'p' } };
    await there.call('POST', '/v3/sources', { name: 'team/private', ...source, ca_cert: { configmap_name: 'ca' } });
    there.refs.set(`${GIT} main`, A);
    await there.call('PUT', '/v3/configurations/one', {
      description: 'first',
      layers: [
        { name: 'base', clone_url: GIT, playbook: 'site.yml', branch: 'main' },
        { source: 'team/private', playbook: 'net.yml', commit: B, special_parameters: { ims_require_dkms: true } },
      ],
      additional_inventory: { clone_url: GIT, commit: A },
      tenant_name: 'blue',
    });
    there.refs.set(`${GIT} main`, B);
    await there.call('PATCH', '/v3/options', {
      batch_size: 7,
      session_ttl: '',
      additional_inventory_source: 'team/private',
    });
    await there.call('PUT', '/v3/components', [
      ...Array.from({ length: 1_203 }, (_, index) => ({ id: `x${index}`, enabled: true, desired_config: 'one' })),
      { id: 'busy', enabled: false, desired_config: 'one', tags: { rack: 'r1' }, retry_policy: -1 },
    ]);
    there.now.value = new Date('2025-03-01T08:30:00Z');
    const append = { session_name: 's1', clone_url: GIT, playbook: 'site.yml', commit: `${A}_failed` };
    await there.call('PATCH', '/v3/components/busy', { state_append: append, error_count: 2 });
  });
  afterAll(async () => {
    await there?.close();
  });

  test('everything is taken over as it is, and a second run finds nothing to do', async () => {
    const first = await reportOf(`${there.url}/apis/cfs`);
    expect(first).toMatchObject({ exit: 0, counts: { sources: [1, 0, 0, 0, 0], configurations: [1, 0, 0, 0, 0] } });
    expect(first.counts.components).toEqual([1_204, 0, 0, 0, 0]);
    expect(first.counts.options?.slice(0, 2)).toEqual([0, 3]);
    for (const path of [
      '/v3/configurations/one',
      '/v3/sources/team%252Fprivate',
      '/v3/components/busy?state_details=true',
      '/v3/components/x17?state_details=true',
      '/v3/options',
    ]) {
      const [copy, original] = [await here.call('GET', path), await there.call('GET', path)];
      expect(copy.body).toEqual(original.body);
    }
    expect((await here.call('GET', '/v3/components/busy?state_details=true')).body.state).toEqual([
      { ...layer(A), status: 'failed' },
    ]);
    expect(here.asked).toEqual([]);
    const { secret_name } = (await here.call('GET', '/v3/sources/team%252Fprivate')).body.credentials;
    expect(first.err).toContain(`muster secret set ${secret_name} password`);

    const second = await importFrom(there.url);
    expect(second.exit).toBe(0);
    expect(second.err).toContain('nothing to change');
    expect(second.out).toMatch(/KIND +CREATED +CHANGED +EQUAL/);
    expect(second.out).toMatch(/components +0 +0 +1204 +0 +0/);
  });

  test('a dry run says what would change, and changes nothing', async () => {
    const before = (await here.call('GET', '/v3/options')).body;
    const dry = await reportOf(there.url, '--dry-run');
    expect(dry).toMatchObject({ exit: 0, report: { dry_run: true } });
    expect(dry.counts).toMatchObject({
      sources: [1, 0, 0, 0, 0],
      configurations: [1, 0, 0, 0, 0],
      components: [1_204, 0, 0, 0, 0],
    });
    expect(dry.err).toContain('configurations one: would be created');
    expect((await here.call('GET', '/v3/components')).body.components).toEqual([]);
    expect((await here.call('GET', '/v3/sources')).body.sources).toEqual([]);
    expect((await here.call('GET', '/v3/configurations')).body.configurations).toEqual([]);
    expect((await here.call('GET', '/v3/options')).body).toEqual(before);
  });

  test('kinds can be chosen, components can come disabled, and what is here can be kept', async () => {
    expect((await reportOf(there.url, '--only', 'components', '--no-enable')).counts).toEqual({
      components: [1_204, 0, 0, 0, 0],
    });
    expect((await here.call('GET', '/v3/components/x1')).body.enabled).toBe(false);
    const kept = await reportOf(there.url, '--skip', 'options,sources', '--skip', 'configurations', '--keep-existing');
    expect(kept.counts).toEqual({ components: [0, 0, 1, 1_203, 0] });
    expect(record(kept.report, 'components', 'x1')).toMatchObject({
      outcome: 'skipped',
      detail: 'it exists and differs',
    });
    expect((await here.call('GET', '/v3/components/x1')).body.enabled).toBe(false);
    expect((await importFrom(there.url, '--only', 'nodes')).exit).toBe(2);
    expect((await importFrom(there.url, '--only', 'options', '--skip', 'options')).exit).toBe(2);
  });

  test('what changed there is changed here; a source keeps the secret it has here', async () => {
    const secret = { name: 'team/private', clone_url: GIT, credentials: { username: 'mine', password: 'mine' } };
    const { secret_name } = (await here.call('POST', '/v3/sources', secret)).body.credentials;
    await here.call('PUT', '/v3/configurations/one', { layers: [] });
    const { counts, report } = await reportOf(there.url, '--skip', 'components');
    expect(counts).toMatchObject({ sources: [0, 1, 0, 0, 0], configurations: [0, 1, 0, 0, 0] });
    expect(record(report, 'sources', 'team/private')).toEqual({ name: 'team/private', outcome: 'changed' });
    const source = (await here.call('GET', '/v3/sources/team%252Fprivate')).body;
    expect(source).toMatchObject({ clone_url: 'https://git.example.test/private.git', credentials: { secret_name } });
    expect((await reportOf(there.url, '--skip', 'components')).counts).toMatchObject({ sources: [0, 0, 1, 0, 0] });
  });

  test('a configuration whose source is not here cannot be taken', async () => {
    const { exit, counts, report } = await reportOf(there.url, '--only', 'configurations');
    expect({ exit, counts }).toEqual({ exit: 1, counts: { configurations: [0, 0, 0, 0, 1] } });
    expect(record(report, 'configurations', 'one')).toMatchObject({ detail: expect.stringContaining('team/private') });
  });
});

describe('from a CFS with its oddities', () => {
  let cfs: FakeApi;
  beforeEach(async () => {
    cfs = await startFakeApi();
    cfs.on('GET /v3/options', (_, response) =>
      answer(response, 200, { default_playbook: 'site.yml', logging_level: 'INFO' }),
    );
    for (const kind of ['sources', 'configurations', 'components']) list(kind, []);
  });
  afterEach(async () => {
    await cfs.close();
  });

  /** Answers a list as CFS does: by limit and after_id. */
  function list(
    kind: string,
    records: Record<string, unknown>[],
    spoil?: (page: Record<string, unknown>[], query: URLSearchParams) => boolean,
  ): void {
    const key = kind === 'components' ? 'id' : 'name';
    const sorted = [...records].sort((one, other) => (String(one[key]) < String(other[key]) ? -1 : 1));
    cfs.on(`GET /v3/${kind}`, ({ url }, response) => {
      const query = new URL(url, 'http://x').searchParams;
      const limit = Number(query.get('limit') ?? 1000);
      const rest = sorted.filter((each) => String(each[key]) > (query.get('after_id') ?? ''));
      const page = rest.slice(0, limit);
      if (spoil?.(page, query)) return answer(response, 500, { title: 'Internal Server Error', status: 500 });
      const next = rest.length > limit ? { limit, after_id: page.at(-1)?.[key], in_use: null } : null;
      answer(response, 200, { [kind]: page, next });
    });
  }
  const at = (kind: string, handler: Handler) => cfs.on(`GET /v3/${kind}`, handler);

  test('records without state, null members, unknown members, broken layers', async () => {
    list('components', [
      { id: 'bare' },
      {
        id: 'nulls',
        state: null,
        tags: null,
        desired_config: null,
        error_count: null,
        retry_policy: null,
        enabled: null,
      },
      {
        id: 'odd',
        state: [layer(A), { playbook: 'x' }, { ...layer(`${B}_skipped`, 'net.yml'), status: undefined }, 5],
        tags: { a: 'b', n: 5, empty: '' },
        configuration_status: 'pending',
        extra: 1,
      },
      { id: 'list', state: {} },
      { id: 'x'.repeat(700), state: [] },
      { id: 'bad-count', error_count: 'many' },
      { no: 'id' },
    ]);
    list('configurations', [
      {
        name: 'plain',
        description: null,
        layers: [{ clone_url: GIT, source: null, playbook: 'a.yml', commit: A, branch: 'main', name: '' }],
        additional_inventory: null,
        last_updated: '2024-01-01T00:00:00Z',
      },
      {
        name: 'open',
        layers: [{ clone_url: GIT, playbook: 'a.yml', branch: 'main' }],
        last_updated: '2024-01-01T00:00:00Z',
      },
      {
        name: 'double',
        layers: [
          { clone_url: GIT, playbook: 'a.yml' },
          { clone_url: GIT, playbook: 'a.yml' },
        ],
      },
      { name: 'short', layers: [{ clone_url: GIT, playbook: 'a.yml', commit: 'abc' }] },
      { name: 'none' },
    ]);
    list('sources', [
      { name: 's', clone_url: GIT, credentials: { secret_name: 'cfs-source-credentials-1' }, ca_cert: null },
      { name: 't', clone_url: GIT },
    ]);
    cfs.on('GET /v3/options', (_, response) =>
      answer(response, 200, { batch_size: 9, batch_window: 'soon', hardware: 1 }),
    );
    const { exit, counts, report } = await reportOf(cfs.url);
    expect({ exit, counts }).toEqual({
      exit: 1,
      counts: {
        sources: [1, 0, 0, 0, 1],
        configurations: [2, 0, 0, 0, 3],
        options: [0, 1, 0, 1, 1],
        components: [4, 0, 0, 0, 3],
      },
    });
    expect((await here.call('GET', '/v3/components/nulls?state_details=true')).body).toMatchObject({
      state: [],
      tags: {},
      desired_config: '',
      error_count: 0,
      enabled: false,
    });
    const odd = (await here.call('GET', '/v3/components/odd?state_details=true')).body;
    expect(odd).toMatchObject({ tags: { a: 'b' }, state: [layer(A), { ...layer(B, 'net.yml'), status: 'skipped' }] });
    expect(record(report, 'components', 'odd')).toMatchObject({ detail: expect.stringContaining('state.1 left out') });
    expect(record(report, 'components', 'bad-count')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('error_count'),
    });
    expect((await here.call('GET', '/v3/configurations/plain')).body).toEqual({
      name: 'plain',
      layers: [{ clone_url: GIT, playbook: 'a.yml', commit: A, branch: 'main' }],
      last_updated: '2024-01-01T00:00:00Z',
    });
    expect(record(report, 'configurations', 'open')).toMatchObject({
      outcome: 'created',
      detail: expect.stringContaining('no commit'),
    });
    expect(record(report, 'options', 'hardware')).toMatchObject({ outcome: 'skipped' });
    expect(record(report, 'options', 'batch_window')).toMatchObject({ outcome: 'failed' });
    expect((await here.call('GET', '/v3/options')).body).toMatchObject({ batch_size: 9, batch_window: 60 });
    const again = await reportOf(cfs.url);
    expect(again.counts).toEqual({
      sources: [0, 0, 1, 0, 1],
      configurations: [0, 0, 2, 0, 3],
      options: [0, 0, 1, 1, 1],
      components: [0, 0, 4, 0, 3],
    });
  });

  test('a record that breaks its list is named, and all others come', async () => {
    const records = Array.from({ length: 1_200 }, (_, index) => ({
      id: `x${String(index).padStart(4, '0')}`,
      state: [],
      enabled: true,
    }));
    const broken = 'x0777';
    list(
      'components',
      records,
      (page, query) => query.get('state_details') === 'true' && page.some(({ id }) => id === broken),
    );
    const { exit, counts, report } = await reportOf(cfs.url, '--only', 'components');
    expect({ exit, counts }).toEqual({ exit: 1, counts: { components: [1_199, 0, 0, 0, 1] } });
    expect(record(report, 'components', broken)).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('cannot show'),
    });
  });

  test('a list that never comes is told, and the other kinds are taken', async () => {
    list('components', [{ id: 'a' }, { id: 'b' }], (page) => page.some(({ id }) => id === 'b'));
    list('configurations', [{ name: 'c', layers: [] }]);
    const { exit, counts, report, err } = await reportOf(cfs.url);
    expect({ exit, counts }).toMatchObject({
      exit: 1,
      counts: { configurations: [1, 0, 0, 0, 0], components: [1, 0, 0, 0, 0] },
    });
    expect(report.kinds.at(-1).incomplete).toContain("the record after 'a'");
    expect(err).toContain('components could not all be read');
  });

  const odd: [string, string, (url: string, response: ServerResponse) => void][] = [
    [
      'pages that go round',
      'does not end',
      (_, response) => answer(response, 200, { components: [{ id: 'a', state: [] }], next: { after_id: 'a' } }),
    ],
    ['no list', "has no list 'components'", (_, response) => answer(response, 200, { items: [] })],
    ['a bare list', "has no list 'components'", (_, response) => answer(response, 200, [])],
    [
      'a next that is none',
      'without after_id',
      (_, response) => answer(response, 200, { components: [], next: 'more' }),
    ],
    ['no JSON', 'did not answer JSON', (_, response) => response.end('<html>')],
    [
      'an answer without end',
      'more than 67108864 bytes',
      (_, response) => {
        const piece = Buffer.alloc(2 ** 20, '[');
        const more = () => {
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', more).on('error', () => undefined);
        more();
      },
    ],
    ['nesting without end', 'did not answer JSON', (_, response) => response.end('['.repeat(200_000))],
    [
      'a redirect',
      'answered 302',
      (_, response) => response.writeHead(302, { location: 'https://elsewhere.test/' }).end(),
    ],
    ['a refusal', 'answered 418', (_, response) => answer(response, 418, { detail: 'no\u001b[31m' })],
  ];
  test.each(odd)('%s: a clear end', async (_, said, respond) => {
    at('components', ({ url }, response) => respond(url, response));
    const { exit, out, err } = await importFrom(cfs.url, '--only', 'components');
    expect(exit).toBe(1);
    expect(err).toContain(said);
    expect(out).toMatch(/components \(incomplete\)/);
    expect(cfs.seen.filter(({ url }) => url.startsWith('/v3/components')).length).toBeLessThan(5);
  });

  test.each(['sources', 'configurations', 'options', 'components'])(
    'records of %s that nest for ever are refused like any other',
    async (kind) => {
      const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
      const names = '"id": "d", "name": "d", "clone_url": "u", "credentials": {"secret_name": "s"}';
      const text = `{"records": [{${names}, "value": ${deep}, "layers": ${deep}, "state": ${deep}, "extra": ${deep}}]}`;
      const { status, body } = await here.call('POST', `/api/v1/import/${kind}`, text);
      expect({ status, results: body.results?.length }).toEqual({ status: 200, results: 1 });
    },
  );

  test('a server that gives way for a while is asked again', async () => {
    let asked = 0;
    at('components', (_, response) => {
      asked += 1;
      if (asked === 1) answer(response, 503, { detail: 'busy' });
      else if (asked === 2) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"components": [');
        setImmediate(() => response.destroy());
      } else answer(response, 200, { components: [{ id: 'a', state: [] }], next: null });
    });
    const { exit, counts, err } = await reportOf(cfs.url, '--only', 'components');
    expect({ exit, counts, asked }).toEqual({ exit: 0, counts: { components: [1, 0, 0, 0, 0] }, asked: 3 });
    expect(err).toContain('trying again in 0.5 s');
  });

  test('a token goes along, and never into what is said', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'muster-import-'));
    try {
      await writeFile(join(dir, 'token'), 'secret-token-of-the-test\n');
      const { exit, out, err } = await importFrom(cfs.url, '--from-token-file', join(dir, 'token'), '-o', 'json');
      expect(exit).toBe(0);
      expect(cfs.seen.every(({ headers }) => headers.authorization === 'Bearer secret-token-of-the-test')).toBe(true);
      expect(out + err).not.toContain('secret-token');
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  test.each([
    ['401', 4, (response: ServerResponse) => answer(response, 401, { detail: 'who?' })],
    ['404', 3, (response: ServerResponse) => answer(response, 404, {})],
  ])('an answer %s at the beginning ends it with its status', async (_, status, respond) => {
    cfs.on('GET /v3/options', (__, response) => respond(response));
    expect((await importFrom(cfs.url)).exit).toBe(status);
  });

  test.each([
    ['ftp://x', 2],
    ['http://u:p@127.0.0.1:1', 2],
    ['http://127.0.0.1:1', 7],
  ])('from %s: exit status %i', async (from, status) => {
    expect((await importFrom(from)).exit).toBe(status);
  });

  test('Ctrl-C ends it, and the next run goes on', async () => {
    at('components', () => undefined);
    const running = startCli(['import', '--from', cfs.url], { url: here.url });
    while (!cfs.seen.some(({ url }) => url.startsWith('/v3/components'))) await new Promise(setImmediate);
    running.interrupt();
    expect(await running.ended).toBe(130);
    expect(running.err()).toContain('run the import again');
  });

  test('a certificate is checked: with its CA it is taken', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'muster-import-'));
    const { caFile, tls } = makeCertificates(dir);
    const secure = createServer(tls, (request, response) => {
      const kind = /^\/v3\/(\w+)/.exec(request.url ?? '')?.[1] ?? '';
      answer(response, 200, kind === 'options' ? {} : { [kind]: [], next: null });
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const from = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    try {
      const refused = await importFrom(from);
      expect(refused.exit).toBe(7);
      expect(refused.err).toContain('--from-ca');
      expect((await importFrom(from, '--from-ca', caFile)).exit).toBe(0);
    } finally {
      await new Promise((resolve) => secure.close(resolve));
      await rm(dir, { recursive: true, force: true });
    }
  });
});
