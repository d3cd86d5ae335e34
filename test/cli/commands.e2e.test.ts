import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, answer, type FakeApi, openStream, problem, send, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { sessionDetail, sessionHost, streamEnd } from '../support/temporal/session-answers.ts';

let api: FakeApi;
let folder: string;

beforeEach(async () => {
  api = await startFakeApi();
  folder = await mkdtemp(join(tmpdir(), 'muster-cli-'));
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const run = (args: string[], stdin?: string) => cli(args, { url: api.url, ...(stdin === undefined ? {} : { stdin }) });
const changes = () =>
  api.seen.filter(({ method }) => method !== 'GET').map(({ method, url, body }) => [method, url, body]);

async function file(content: unknown): Promise<string> {
  const path = join(folder, 'records');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const component = (id: string) => ({
  id,
  desired_config: 'web',
  error_count: 0,
  enabled: true,
  tags: {},
  configuration_status: 'pending',
});

describe('lists', () => {
  test('follow the pages with what the server says is next', async () => {
    api.on('GET /v3/components', ({ url }, response) => {
      const after = new URLSearchParams(url.split('?')[1]).get('after_id');
      const next = { ids: '', status: 'pending', enabled: null, limit: 1000 };
      if (after === 'b') return answer(response, 200, { components: [component('c')], next: null });
      if (after === 'a')
        return answer(response, 200, { components: [component('b')], next: { ...next, after_id: 'b' } });
      return answer(response, 200, { components: [component('a')], next: { ...next, after_id: 'a' } });
    });
    const { exit, out } = await run(['component', 'list', '--status', 'pending', '--tag', 'r=1', '-o', 'name']);
    expect([exit, out]).toEqual([0, 'a\nb\nc\n']);
    expect(api.seen.map(({ url }) => url)).toEqual([
      '/v3/components?status=pending&tags=r%3D1&limit=1000',
      '/v3/components?ids=&status=pending&limit=1000&after_id=a',
      '/v3/components?ids=&status=pending&limit=1000&after_id=b',
    ]);
  });

  test('--limit ends them early', async () => {
    api.on(
      'GET /v3/components',
      always(200, { components: [component('a'), component('b')], next: { after_id: 'b' } }),
    );
    const { out } = await run(['component', 'list', '--limit', '1', '-o', 'name']);
    expect(out).toBe('a\n');
    expect(api.seen.map(({ url }) => url)).toEqual(['/v3/components?limit=1']);
  });

  test('an empty one leaves stdout empty and says so, except for programs', async () => {
    api.on('GET /api/v1/sessions', always(200, { sessions: [], next: null }));
    expect(await run(['session', 'list'])).toEqual({ exit: 0, out: '', err: 'no sessions\n' });
    expect((await run(['session', 'list', '-o', 'json'])).out).toBe('[]\n');
  });

  test('--watch shows again until Ctrl-C, also over a break', async () => {
    let turn = 0;
    api.on('GET /v3/components', (_request, response) => {
      turn += 1;
      if (turn === 2) return problem(response, 'storage_unavailable', 'Postgres does not answer');
      answer(response, 200, { components: [component(`turn-${turn}`)], next: null });
      if (turn === 3) command.interrupt();
    });
    const command = startCli(['component', 'list', '--watch', '0.01', '-o', 'name'], { url: api.url });
    expect(await command.ended).toBe(130);
    expect(command.out()).toContain('turn-1\n');
    expect(command.err()).toContain('Postgres does not answer; asking again');
    expect(turn).toBe(3);
  });
});

describe('one record', () => {
  test('a session: what it runs and how far it is', async () => {
    api.on('GET /api/v1/sessions/s1', always(200, sessionDetail('s1')));
    const { exit, out } = await run(['session', 'get', 's1']);
    expect(exit).toBe(0);
    expect(out).toMatch(/^name +s1$/m);
    expect(out).toMatch(/^message +2 layers done on 2 hosts$/m);
    expect(out).toMatch(/^1\/2 +base +site\.yml +a{12} +ended +0 +https:/m);
    expect(out).toMatch(/^2\/2 +app +app\.yml +a{12} +- +https:/m);
  });

  test('one that is not there is exit status 3', async () => {
    api.on('GET /v3/configurations/x', (_request, response) => problem(response, 'configuration_not_found', 'no x'));
    const { exit, err } = await run(['configuration', 'get', 'x']);
    expect(exit).toBe(3);
    expect(err).toContain('error: configuration_not_found: no x\n  `./muster configuration list`');
  });

  test('hosts by layer', async () => {
    const host = sessionHost('web1', 'applied', [{ ok: 3 }, { layer: 2, attempt: 2, ok: 1 }]);
    api.on('GET /api/v1/sessions/s1/hosts', always(200, { hosts: [host], next: null }));
    const { out } = await run(['session', 'hosts', 's1', '--by-layer', '-o', 'tsv']);
    expect(out.split('\n').map((line) => line.split('\t').slice(0, 4))).toEqual([
      ['host', 'layer', 'attempt', 'ok'],
      ['web1', '0', '1', '3'],
      ['web1', '2', '2', '1'],
      [''],
    ]);
  });
});

describe('apply', () => {
  test('components --replace: all are PUT, without a look', async () => {
    api.on('PUT /v3/components', always(200, { component_ids: ['a'] }));
    await run(['component', 'apply', '--replace', '-f', '-'], '- id: a\n- id: b\n');
    expect(api.seen.map(({ method, body }) => [method, body])).toEqual([['PUT', [{ id: 'a' }, { id: 'b' }]]]);
  });

  test('configurations: many YAML documents, repository and branch filled in, server members left out', async () => {
    const text =
      'name: one\nlast_updated: t\nlayers:\n- {name: a, playbook: a.yml}\n- {source: s, playbook: b.yml, commit: c}\n---\nname: t/w o\nlayers: []\n';
    api.on('PUT /v3/configurations/one', always(200, { name: 'one', last_updated: 't', layers: [] }));
    api.on('PUT /v3/configurations/t%2Fw%20o', always(200, { name: 't/w o', last_updated: 't', layers: [] }));
    const words = ['--clone-url', 'file:///r', '--branch', 'main', '--drop-branches', '-o', 'name'];
    const { exit, out } = await run(['configuration', 'apply', '-f', await file(text), ...words]);
    expect([exit, out]).toEqual([0, 'one\nt/w o\n']);
    expect(changes()).toEqual([
      [
        'PUT',
        '/v3/configurations/one?drop_branches=true',
        {
          layers: [
            { name: 'a', playbook: 'a.yml', clone_url: 'file:///r', branch: 'main' },
            { source: 's', playbook: 'b.yml', commit: 'c' },
          ],
        },
      ],
      ['PUT', '/v3/configurations/t%2Fw%20o?drop_branches=true', { layers: [] }],
    ]);
  });

  test('sources: a new one is POSTed, a known one PATCHed under its doubly encoded name', async () => {
    const source = {
      name: 'https://h/r',
      clone_url: 'https://h/r',
      last_updated: 't',
      credentials: { secret_name: 'x' },
    };
    api.on('GET /v3/sources/new', (_request, response) => problem(response, 'source_not_found', 'no'));
    api.on('POST /v3/sources', always(201, { ...source, name: 'new' }));
    api.on('GET /v3/sources/https%253A%252F%252Fh%252Fr', always(200, source));
    api.on('PATCH /v3/sources/https%253A%252F%252Fh%252Fr', always(200, source));
    const credentials = { username: 'u', password: 'p' };
    const records = [
      { name: 'new', clone_url: 'https://h/n', credentials },
      { clone_url: 'https://h/r', credentials },
    ];
    const { exit, out } = await run(['source', 'apply', '-f', '-', '-o', 'name'], JSON.stringify(records));
    expect([exit, out]).toEqual([0, 'new\nhttps://h/r\n']);
    expect(changes()).toEqual([
      ['POST', '/v3/sources', records[0]],
      ['PATCH', '/v3/sources/https%253A%252F%252Fh%252Fr', { credentials }],
    ]);
    const shown = await run(['source', 'apply', '-f', '-', '--dry-run=request'], JSON.stringify(records));
    expect(shown.out).toContain('"password": "********"');
  });

  test.each([
    ['no such file', ['-f', '/nonexistent/file'], undefined, 'cannot read /nonexistent/file'],
    ['neither JSON nor YAML', ['-f', '-'], '{[', 'stdin, line 1: unexpected end; `[` of line 1 is not closed'],
    ['nothing', ['-f', '-'], '', 'stdin holds no record'],
    ['not records', ['-f', '-'], '[1]', 'stdin: entry 0 is not an object'],
    ['no id', ['-f', '-'], '[{"id":"a"},{"tags":{}}]', 'component 1 has no id'],
    ['no file named', [], undefined, "required option '-f, --file <file>' not specified"],
  ])('a mistake in the input sends nothing: %s', async (_name, words, stdin, message) => {
    const { exit, err } = await run(['component', 'apply', ...words], stdin);
    expect(exit).toBe(2);
    expect(err).toContain(message);
    expect(api.seen).toEqual([]);
  });
});

describe('options and secrets', () => {
  const OPTIONS = { batch_size: 25, session_ttl: '7d', batcher_disable: false };

  test('values take the type that the option has', async () => {
    api.on('GET /api/v1/options', always(200, OPTIONS));
    api.on('PATCH /api/v1/options', always(200, { batch_size: 5, session_ttl: '12h', batcher_disable: true }));
    const words = ['batch_size=5', 'session_ttl=12h', 'batcher_disable=true'];
    expect((await run(['option', 'set', ...words])).exit).toBe(0);
    expect(changes()).toEqual([
      ['PATCH', '/api/v1/options', { batch_size: 5, session_ttl: '12h', batcher_disable: true }],
    ]);
  });

  test('one value, or all', async () => {
    api.on('GET /api/v1/options', always(200, OPTIONS));
    expect((await run(['option', 'get', 'session_ttl'])).out).toBe('7d\n');
    expect((await run(['option', 'get', 'session_ttl', '-o', 'json'])).out).toBe('"7d"\n');
    expect((await run(['option', 'get', 'batch_size', '-o', 'yaml'])).out).toBe('25\n');
    expect((await run(['option', 'get', '-o', 'tsv'])).out).toBe(
      'option\tvalue\nbatch_size\t25\nsession_ttl\t7d\nbatcher_disable\tfalse\n',
    );
    expect(JSON.parse((await run(['option', 'get', '-o', 'json'])).out)).toEqual(OPTIONS);
  });

  test.each([
    ['nothing=1', 3],
    ['batch_size=many', 2],
    ['batcher_disable=yes', 2],
    ['batch_size', 2],
  ])('option set %s is refused with %i before anything is sent', async (word, exit) => {
    api.on('GET /api/v1/options', always(200, OPTIONS));
    expect((await run(['option', 'set', word])).exit).toBe(exit);
    expect(changes()).toEqual([]);
  });

  test.each([
    ['a line without its end', 'hunter2\n', 'hunter2'],
    ['a text without line end', 'hunter2', 'hunter2'],
    ['a key of several lines as it is', '-----BEGIN\nabc\n-----END\n', '-----BEGIN\nabc\n-----END\n'],
  ])('a secret is read from stdin: %s', async (_name, stdin, value) => {
    api.on('PUT /api/v1/secrets/vcs-user-credentials/vcs_password', (_request, response) => {
      response.writeHead(204).end();
    });
    const { exit, out, err } = await run(['secret', 'set', 'vcs-user-credentials', 'vcs_password'], stdin);
    expect([exit, out]).toEqual([0, '']);
    expect(err).toBe('secret vcs-user-credentials vcs_password stored\n');
    expect(changes()).toEqual([['PUT', '/api/v1/secrets/vcs-user-credentials/vcs_password', { value }]]);
  });

  test('a secret is never an argument, never empty and never shown', async () => {
    expect((await run(['secret', 'set', 'n', 'k', 'hunter2'], 'x')).exit).toBe(2);
    expect((await run(['secret', 'set', 'n', 'k'], '\n')).exit).toBe(2);
    const { out } = await run(['secret', 'set', 'n', 'k', '--dry-run=request'], 'hunter2');
    expect(out).toContain('"value": "********"');
    expect(api.seen).toEqual([]);
  });
});

describe('component explain', () => {
  const explanation = {
    ...{ state: 'pending', since: '2026-11-21T10:00:00.000Z', command: './muster component enable n1' },
    conditions: [
      { text: 'a configuration is desired', holds: true, becomes_true_when: null },
      { text: 'it is enabled', holds: false, becomes_true_when: 'it is enabled' },
    ],
    next: { event: 'it is enabled', at: null },
  };

  test('shows what holds, what lacks, and what to type', async () => {
    api.on('GET /api/v1/components/n1/explain', always(200, explanation));
    expect((await run(['component', 'explain', 'n1'])).out).toBe(
      [
        'state  pending',
        'since  2026-11-21T10:00:00.000Z',
        'holds  a configuration is desired',
        'lacks  it is enabled; becomes so when: it is enabled',
        'next   it is enabled',
        'do     ./muster component enable n1',
        '',
      ].join('\n'),
    );
    expect(JSON.parse((await run(['component', 'explain', 'n1', '-o', 'json'])).out)).toEqual(explanation);
  });

  test('a component that is not there, and a server that explains nothing', async () => {
    api.on('GET /api/v1/components/n1/explain', (_request, response) =>
      problem(response, 'component_not_found', 'Component n1 could not be found'),
    );
    expect((await run(['component', 'explain', 'n1'])).exit).toBe(3);
    const older = await run(['component', 'explain', 'n2']);
    expect([older.exit, older.err]).toEqual([
      2,
      expect.stringContaining('not_supported: this server does not explain'),
    ]);
  });
});

describe('logs and events', () => {
  test('logs are copied as they are into a pipe, and made harmless on a terminal', async () => {
    api.on('GET /api/v1/sessions/s1/logs', ({ headers }, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(headers.accept === 'text/plain' ? 'ok: [web1]\nü\u001b[2J\n' : '');
    });
    api.on('GET /api/v1/sessions/s1', always(200, sessionDetail('s1')));
    expect((await run(['session', 'logs', 's1', '--layer', '0'])).out).toBe('ok: [web1]\nü\u001b[2J\n');
    expect(api.seen.map(({ url }) => url)).toEqual(['/api/v1/sessions/s1', '/api/v1/sessions/s1/logs?layer=0']);
    expect((await cli(['session', 'logs', 's1'], { url: api.url, terminal: true })).out).toBe(
      'ok: [web1]\nü\\x1b[2J\n',
    );
  });

  test.each([
    [['logs', 's1', '--layer', '9'], 3, 'session s1 has no layer 9'],
    [['events', 's1', '--layer', '9'], 3, 'session s1 has no layer 9'],
    [['logs', 's1', '--attempt', '7'], 3, 'session s1 has no attempt 7'],
    [['logs', 's1', '--host', 'nope'], 3, 'session s1 did nothing on a host nope'],
    [['events', 's1', '--host', 'nope'], 3, 'session s1 did nothing on a host nope'],
    [['logs', 'gone', '--host', 'nope'], 3, 'there is no /api/v1/sessions/gone'],
    [['events', 's1', '--result', 'bad'], 2, 'Allowed choices are ok, changed, failed'],
    [['events', 's1', '--type', 'foo'], 2, 'Allowed choices are play_start'],
  ])('a filter that can match nothing is said: %j', async (words, status, sentence) => {
    api.on('GET /api/v1/sessions/s1', always(200, sessionDetail('s1')));
    api.on('GET /api/v1/sessions/s1/hosts', always(200, { hosts: [sessionHost('web1', 'applied', [{}])], next: null }));
    const { exit, out, err } = await run(['session', ...words]);
    expect([exit, out, err]).toEqual([status, '', expect.stringContaining(sentence)]);
    expect(api.seen.filter(({ url }) => /logs|events/.test(url))).toEqual([]);
  });

  test('a session that goes on may come to a host yet', async () => {
    const { status } = sessionDetail('s1');
    const running = { ...status, session: { ...status.session, status: 'running' as const } };
    api.on('GET /api/v1/sessions/s1', always(200, sessionDetail('s1', { status: running })));
    api.on('GET /api/v1/sessions/s1/events', always(200, { events: [], next: null }));
    expect((await run(['session', 'events', 's1', '--host', 'later', '-o', 'json'])).exit).toBe(0);
  });

  test('logs -f goes on to the end', async () => {
    api.on('GET /api/v1/sessions/s1/logs', (_request, response) => {
      openStream(response);
      send(response, { seq: 1, layer: 0, attempt: 1, text: 'one\n' }, 1);
      send(response, { seq: 2, layer: 0, attempt: 1, text: 'two\n' }, 2);
      send(response, streamEnd('s1'), undefined, 'end');
      response.end();
    });
    expect(await run(['session', 'logs', '-f', 's1'])).toEqual({ exit: 0, out: 'one\ntwo\n', err: '' });
  });

  test('events -f writes one line an event, titles once', async () => {
    const event = { time: 't', type: 'host_result', layer: 0, attempt: 1, result: 'ok', task: 'Copy' };
    api.on('GET /api/v1/sessions/s1/events', (_request, response) => {
      openStream(response);
      send(response, { ...event, seq: 1, host: 'web1' }, 1);
      send(response, { ...event, seq: 2, host: 'web2' }, 2);
      send(response, streamEnd('s1'), undefined, 'end');
      response.end();
    });
    expect((await run(['session', 'events', '-f', 's1'])).out).toBe(
      'time\ttype\tlayer\tattempt\thost\tresult\ttask\tmessage\n' +
        't\thost_result\t0\t1\tweb1\tok\tCopy\t\n' +
        't\thost_result\t0\t1\tweb2\tok\tCopy\t\n',
    );
    expect((await run(['session', 'events', '-f', 's1', '-o', 'jsonl'])).out.split('\n')).toHaveLength(3);
  });
});

describe('delete', () => {
  test('sessions by name', async () => {
    api.on('DELETE /v3/sessions/a', (_request, response) => void response.writeHead(204).end());
    expect(await run(['session', 'delete', 'a'])).toEqual({ exit: 0, out: '', err: 'session a deleted\n' });
  });

  test('sessions by filters', async () => {
    api.on('POST /api/v1/sessions/delete', always(200, { deleted: 2, cancelled: 0, names: ['a', 'b'], missing: [] }));
    const { out, err } = await run(['session', 'delete', '--min-age', '7d', '--yes', '--reason', 'old']);
    expect([out, err]).toEqual(['a\nb\n', '2 sessions deleted\n']);
    expect(changes()).toEqual([['POST', '/api/v1/sessions/delete', { filter: { min_age: '7d' }, reason: 'old' }]]);
  });

  const three = always(200, { sessions: [], next: null, total: 3 });
  const gone = always(200, { deleted: 3, cancelled: 1, names: ['a', 'b', 'c'], missing: [] });
  const FILTERED = ['session', 'delete', '--succeeded', 'false'];

  test('a terminal is asked with the number, of what the filters mean', async () => {
    api.on('GET /api/v1/sessions', three);
    api.on('POST /api/v1/sessions/delete', gone);
    const no = await cli(FILTERED, { url: api.url, typed: 'n\n' });
    expect([no.exit, no.err]).toEqual([2, expect.stringContaining('Delete 3 sessions? [y/N]')]);
    expect((await cli(FILTERED, { url: api.url, typed: '' })).exit).toBe(2);
    expect(changes()).toEqual([]);
    expect(api.seen[0]?.url).toBe('/api/v1/sessions?succeeded=false&status=complete&count=true&limit=1');
    const script = await run(FILTERED);
    expect([script.exit, script.err]).toEqual([2, expect.stringContaining('Delete 3 sessions?')]);
    expect(changes()).toEqual([]);
    expect((await cli(FILTERED, { url: api.url, typed: 'y\n' })).exit).toBe(0);
    expect((await cli([...FILTERED, '--yes'], { url: api.url, typed: '' })).exit).toBe(0);
    expect(changes()).toHaveLength(2);
  });

  test('a terminal is asked before sessions go by name', async () => {
    api.on('DELETE /v3/sessions/a', (_request, response) => void response.writeHead(204).end());
    expect((await cli(['session', 'delete', 'a'], { url: api.url, typed: 'no\n' })).err).toContain('Delete 1 session?');
    expect(changes()).toEqual([]);
  });

  test('--dry-run says how many', async () => {
    api.on('GET /api/v1/sessions', three);
    const { out, err } = await run([...FILTERED, '--dry-run=request']);
    const body = '{\n  "filter": {\n    "succeeded": "false"\n  }\n}\n';
    expect([out, err]).toEqual([`POST ${api.url}/api/v1/sessions/delete\n${body}`, '3 sessions would be deleted\n']);
    expect((await run(['session', 'delete', 'a', '--dry-run=request'])).err).toBe('1 session would be deleted\n');
    expect(changes()).toEqual([]);
  });

  test.each([[[]], [['a', '--min-age', '7d']]])('neither nothing nor both: %j', async (words) => {
    expect((await run(['session', 'delete', ...words])).exit).toBe(2);
    expect(api.seen).toEqual([]);
  });
});

describe('what answers is not Muster', () => {
  test('no JSON', async () => {
    api.on('GET /api/v1/sessions', (_request, response) => void response.end('<html>'));
    const { exit, err } = await run(['session', 'list']);
    expect(exit).toBe(7);
    expect(err).toContain('did not answer JSON');
  });

  test('no URL', async () => {
    expect((await cli(['session', 'list', '--url', 'nonsense'])).exit).toBe(2);
  });
});
