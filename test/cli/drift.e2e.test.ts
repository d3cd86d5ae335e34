import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, type FakeApi, openStream, problem, send, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';
import { sessionDetail, streamEnd } from '../support/temporal/session-answers.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

const run = (...args: string[]) => cli(['drift', ...args], { url: api.url });

const layer = {
  layer: 0,
  clone_url: 'https://git.test/a.git',
  playbook: 'site.yml',
  commit: 'a'.repeat(40),
  status: 'drifted',
  changed: 3,
  session_name: 'check-web-1',
  checked_at: '2026-11-21T10:00:00.000Z',
};
const item = {
  id: 'h1',
  status: 'drifted',
  configuration: 'web',
  changed: 3,
  checked_at: layer.checked_at,
  layers: [layer],
};

describe('what is known', () => {
  test('is listed by the filters', async () => {
    api.on('GET /api/v1/drift', always(200, { drift: [item], next: null }));
    api.on('POST /api/v1/hostlists', always(200, { names: ['h1', 'h2'] }));
    const { exit, out } = await run('list', '--status', 'drifted', '--config', 'web', '--ids', 'h[1-2]');
    expect(exit).toBe(0);
    expect(out).toBe(
      'ID  STATUS   CONFIGURATION  CHANGES  LAYERS     CHECKED\n' +
        'h1  drifted  web            3        1:drifted  2026-11-21T10:00:00.000Z\n',
    );
    expect(api.seen.map(({ body }) => body)[0]).toEqual({ hosts: 'h[1-2]' });
    expect(api.seen[1]?.url).toBe('/api/v1/drift?status=drifted&config_name=web&ids=h1%2Ch2&limit=1000');
    expect((await run('list', '-o', 'name')).out).toBe('h1\n');
    expect((await run('list', '--status', 'odd')).exit).toBe(2);
  });

  test('of a hostlist that means no component is nothing, as of components', async () => {
    api.on('POST /api/v1/hostlists', always(200, { names: [] }));
    expect(await run('list', '!h1', '-o', 'name')).toEqual({ exit: 0, out: '', err: '' });
    api.on('POST /api/v1/components/selections', always(200, { unknown: [] }));
    expect(await cli(['component', 'list', '!h1', '-o', 'name'], { url: api.url })).toEqual({
      exit: 0,
      out: '',
      err: '',
    });
    const asked = ['/api/v1/hostlists', '/api/v1/components/selections'];
    expect(api.seen.filter(({ url }) => !asked.includes(url ?? ''))).toEqual([]);
  });

  test('of a component shows its tasks', async () => {
    const changes = [
      { task: 'Copy', action: 'copy', play: 'p', file: 'site.yml:3', diff: '-a\n+b\n' },
      { task: 'Secret', action: 'copy', play: 'p', censored: true },
    ];
    const detail = { ...item, layers: [{ ...layer, changes, changes_left_out: 1 }] };
    api.on('GET /api/v1/drift/h%201', always(200, detail));
    const { out } = await run('get', 'h 1');
    expect(out).toContain('layer 1: Copy (copy at site.yml:3)\n-a\n+b\n');
    expect(out).toContain('layer 1: Secret (copy)\nhidden by no_log\n');
    expect(out).toContain('layer 1: 1 more tasks\n');
    expect(JSON.parse((await run('get', 'h 1', '-o', 'json')).out)).toEqual(detail);
    api.on('GET /api/v1/drift/h2', (_request, response) => problem(response, 'drift_not_found', 'Nothing is known'));
    expect((await run('get', 'h2')).exit).toBe(3);
  });
});

describe('check', () => {
  const answer = {
    sessions: ['check-web-1', 'check-web-2'],
    components: 120,
    left_out: [{ reason: 'no configuration is desired', components: 2, first: ['x'] }],
  };

  test('says what it made and what was left out', async () => {
    api.on('POST /api/v1/drift/checks', always(201, answer));
    const { exit, out, err } = await run('check', '--config', 'web', '--tag', 'r=1', '--no-enabled', '--reconfigure');
    expect([exit, out]).toEqual([0, 'check-web-1\ncheck-web-2\n']);
    expect(err).toBe(
      'left out: 2 (no configuration is desired): x and 1 more\n120 components are looked at by 2 sessions\n',
    );
    expect(api.seen[0]?.body).toEqual({
      filter: { config_name: 'web', tags: 'r=1', enabled: false },
      reconfigure: true,
    });
  });

  test('of a hostlist that means no component is refused: no ids would be all', async () => {
    api.on('POST /api/v1/hostlists', always(200, { names: [] }));
    const { exit, err } = await run('check', '!h1');
    expect([exit, err]).toEqual([2, expect.stringContaining('the hostlist means no component')]);
    expect(api.seen.map(({ url }) => url)).toEqual(['/api/v1/hostlists']);
  });

  test('makes nothing with --dry-run, and without saying which components', async () => {
    const { out } = await run('check', '--all', '--dry-run=request');
    expect(out).toContain('POST ');
    expect(out).toContain('"filter": {}');
    expect((await run('check')).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });

  test('with --wait ends as the worst of its sessions', async () => {
    api.on('POST /api/v1/drift/checks', always(201, { ...answer, left_out: [] }));
    for (const [name, succeeded, message] of [
      ['check-web-1', 'true', '2 of 100 drifted'],
      ['check-web-2', 'false', '0 of 20 drifted, 1 could not be checked'],
    ] as const) {
      const path = `/api/v1/sessions/${name}`;
      const end = streamEnd(name, { succeeded, message });
      api.on(`GET ${path}`, always(200, sessionDetail(name, { queue: null })));
      for (const stream of ['progress', 'events']) {
        api.on(`GET ${path}/${stream}`, (_request, response) => {
          openStream(response);
          send(response, end, undefined, 'end');
          response.end();
        });
      }
    }
    const { exit, err } = await run('check', '--all', '--wait');
    expect(err).toContain('session check-web-1: 2 of 100 drifted\n');
    expect(err).toContain('session check-web-2: 0 of 20 drifted, 1 could not be checked\n');
    expect(exit).toBe(1);
  });

  test('with --wait --timeout has that time for all its sessions together', async () => {
    api.on('POST /api/v1/drift/checks', always(201, { ...answer, left_out: [] }));
    let now = 0;
    for (const name of answer.sessions) {
      const path = `/api/v1/sessions/${name}`;
      api.on(`GET ${path}`, always(200, sessionDetail(name, { queue: null })));
      for (const stream of ['progress', 'events']) {
        api.on(`GET ${path}/${stream}`, (_request, response) => {
          openStream(response);
          if (name !== 'check-web-1') return;
          // The first one has all the time for itself.
          now = 90_000;
          send(response, streamEnd(name, { succeeded: 'true', message: 'done' }), undefined, 'end');
          response.end();
        });
      }
    }
    const words = ['drift', 'check', '--all', '--wait', '--timeout', '90'];
    const { exit, err } = await cli(words, { url: api.url, now: () => now });
    expect(err).toContain('session check-web-1: done\n');
    expect(err).toContain('error: timed_out: session check-web-2 has not ended within 1m30s');
    expect(exit).toBe(6);
  });
});
