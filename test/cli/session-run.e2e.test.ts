import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import type { SessionHost, StreamEnd } from '../../domain/sessions/detail-schema.ts';
import { always, answer, type FakeApi, openStream, problem, send, startFakeApi } from '../support/fakes/fake-api.ts';
import { freePort } from '../support/free-port.ts';
import { cli, startCli } from '../support/stack/command-line.ts';
import { sessionDetail, sessionHost, sessionProgress, streamEnd } from '../support/temporal/session-answers.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not come through
const STEERING = /[\u001b\u0007\u009b\r]/;
const RUN = ['session', 'run', 's1', '--configuration', 'web'];
const PATH = '/api/v1/sessions/s1';
const HOSTS = [
  sessionHost('web1', 'applied', [
    { ok: 3, changed: 2 },
    { layer: 2, ok: 1 },
  ]),
  sessionHost('web2', 'failed', [{ status: 'failed', ok: 1, failures: 1 }]),
];
const failedTask = (seq: number, host: string) => ({
  seq,
  time: '2026-11-21T10:00:00.000Z',
  type: 'host_result',
  layer: 0,
  attempt: 1,
  host,
  task: 'Write the file',
  result: 'failed',
  message: `no space on ${host}`,
});

let api: FakeApi;

beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

/** A session that ends as told; its streams send what is given, then the end. */
function session(
  end: Partial<StreamEnd>,
  hosts: SessionHost[] = HOSTS,
  events: ReturnType<typeof failedTask>[] = [],
): void {
  api.on('POST /v3/sessions', always(201, sessionDetail('s1')));
  api.on(`GET ${PATH}`, always(200, sessionDetail('s1')));
  api.on(`GET ${PATH}/hosts`, always(200, { hosts, next: null }));
  const finish = (response: ServerResponse) => {
    send(response, streamEnd('s1', end), undefined, 'end');
    response.end();
  };
  api.on(`GET ${PATH}/progress`, (_request, response) => {
    openStream(response);
    send(response, sessionProgress('s1', { phase: 'clone', message: 'clones 1 repository' }), 1, 'progress');
    send(response, sessionProgress('s1'), 2, 'progress');
    finish(response);
  });
  api.on(`GET ${PATH}/events`, (_request, response) => {
    openStream(response);
    for (const event of events) send(response, event, event.seq, event.type);
    finish(response);
  });
}

describe('session run', () => {
  test('follows to the end: steps, failures, a line per host, the reason', async () => {
    session({ succeeded: 'false', message: 'layer 1 site.yml failed: 1 of 2 hosts failed' }, HOSTS, [
      failedTask(4, 'web2'),
    ]);
    const { exit, out, err } = await cli(RUN, { url: api.url });
    expect(exit).toBe(1);
    expect(out).toBe(
      'HOST  LAYERS  OK  CHANGED  FAILED  UNREACHABLE  RESULT\n' +
        'web2  1       1   0        1       0            failed\n' +
        'web1  2       4   2        0       0            applied\n',
    );
    expect(err).toContain('retry them: `./muster session retry s1 --hosts failed`\n');
    expect(err).toContain('session s1 created\n');
    expect(err).toContain('clones 1 repository\n');
    expect(err).toContain('failed: web2: Write the file: no space on web2\n');
    expect(err).toContain('session s1 failed: layer 1 site.yml failed: 1 of 2 hosts failed\n');
    expect(err).not.toContain('\u001b');
  });

  test('shows those that failed first, and no more hosts than a person reads', async () => {
    const fleet = Array.from({ length: 30 }, (_, index) =>
      sessionHost(`n${10 + index}`, index === 25 ? 'failed' : index === 7 ? 'not_reached' : 'applied', [{}]),
    );
    session({ succeeded: 'false' }, fleet);
    const failures = [{ message: 'Install: rc 100: E: gone (site.yml:3)', count: 12, hosts: ['n35', 'n36'] }];
    api.on(`GET ${PATH}`, always(200, sessionDetail('s1', { failures })));
    const { out, err } = await cli(RUN, { url: api.url });
    const names = out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(' ')[0]);
    expect(names.slice(0, 3)).toEqual(['n35', 'n17', 'n10']);
    expect(names).toHaveLength(20);
    expect(err).toContain('10 more hosts: `./muster session hosts s1`\n');
    expect(err).toContain('12 hosts (n35, n36, 10 more): Install: rc 100: E: gone (site.yml:3)\n');
    const all = JSON.parse((await cli([...RUN, '-o', 'json'], { url: api.url })).out);
    expect(all.hosts).toHaveLength(30);
  });

  test('sends what was asked for', async () => {
    session({});
    const words = ['--limit', 'web1,web2', '--layers', 'base', '-vv', '--tag', 'a=b', '--debug-on-failure'];
    expect((await cli([...RUN, ...words], { url: api.url })).exit).toBe(0);
    expect(api.seen[0]).toMatchObject({
      method: 'POST',
      url: '/v3/sessions',
      body: {
        name: 's1',
        configuration_name: 'web',
        configuration_limit: 'base',
        ansible_limit: 'web1,web2',
        ansible_verbosity: 2,
        tags: { a: 'b' },
        debug_on_failure: true,
      },
    });
  });

  test.each([
    ['true', 0],
    ['false', 1],
    ['unknown', 1],
  ] as const)('success %s is exit status %i', async (succeeded, exit) => {
    session({ succeeded });
    expect((await cli(RUN, { url: api.url })).exit).toBe(exit);
  });

  test('--require-hosts: a success without any host is a failure', async () => {
    session({ message: 'no host ran any task' }, []);
    expect((await cli(RUN, { url: api.url })).exit).toBe(0);
    const { exit, err } = await cli([...RUN, '--require-hosts'], { url: api.url });
    expect(exit).toBe(1);
    expect(err).toContain('no host ran any task, which --require-hosts makes a failure');
  });

  test('-o json and yaml: one record with the session and its hosts', async () => {
    session({});
    const json = JSON.parse((await cli([...RUN, '-o', 'json'], { url: api.url })).out);
    expect(json.session.name).toBe('s1');
    expect(json.hosts.map((host: { host: string }) => host.host)).toEqual(['web1', 'web2']);
    expect(parseYaml((await cli([...RUN, '-o', 'yaml'], { url: api.url })).out)).toEqual(json);
  });

  test('a lost stream is taken up after the last event seen, and nothing is shown twice', async () => {
    session({});
    const resumed: (string | undefined)[] = [];
    api.on(`GET ${PATH}/events`, (request, response) => {
      const last = request.headers['last-event-id'];
      resumed.push(last === undefined ? undefined : String(last));
      openStream(response);
      response.write('retry: 10\n\n');
      if (last === undefined) {
        send(response, failedTask(1, 'web1'), 1);
        send(response, failedTask(2, 'web2'), 2);
        setImmediate(() => response.destroy());
        return;
      }
      send(response, failedTask(3, 'web3'), 3);
      send(response, streamEnd('s1'), undefined, 'end');
      response.end();
    });
    const { exit, err } = await cli(RUN, { url: api.url });
    expect(exit).toBe(0);
    expect(resumed).toEqual([undefined, '2']);
    for (const host of ['web1', 'web2', 'web3']) expect(err.split(`no space on ${host}`)).toHaveLength(2);
  });

  test('an API that goes away and comes back only costs a message', async () => {
    await api.close();
    // No other program is given this port while the API is away.
    api = await startFakeApi(await freePort());
    session({});
    api.on(`GET ${PATH}/progress`, (_request, response) => openStream(response));
    api.on(`GET ${PATH}/events`, (_request, response) => openStream(response));
    const command = startCli(RUN, { url: api.url });
    await command.says('session s1 created');
    await api.close();
    await command.says('the session goes on, trying again');
    api = await startFakeApi(api.port);
    session({});
    expect(await command.ended).toBe(0);
    expect(command.err()).toContain('the API answers again');
    expect(command.err().split('the session goes on, trying again')).toHaveLength(2);
  });

  test('an API that cannot be reached at all is exit status 7', async () => {
    await api.close();
    const { exit, out, err } = await cli(RUN, { url: api.url });
    expect(exit).toBe(7);
    expect(out).toBe('');
    expect(err).toMatch(/^error: unreachable: .*ECONNREFUSED.*\n {2}start the stack with `\.\/muster up`/);
    api = await startFakeApi();
  });

  test('a refusal says the code, the reason and what to do', async () => {
    api.on('POST /v3/sessions', (_request, response) =>
      problem(response, 'session_exists', 'A session with the name s1 already exists'),
    );
    const { exit, err } = await cli(RUN, { url: api.url });
    expect(exit).toBe(5);
    expect(err).toBe(
      'error: session_exists: A session with the name s1 already exists\n  choose another name, or leave it away to get a new one\n',
    );
  });

  test('Ctrl-C detaches, says how to go on, and cancels nothing', async () => {
    session({});
    api.on(`GET ${PATH}/progress`, (_request, response) => {
      openStream(response);
      send(response, sessionProgress('s1'), 1, 'progress');
    });
    api.on(`GET ${PATH}/events`, (_request, response) => openStream(response));
    const command = startCli(RUN, { url: api.url });
    await command.says('layer');
    command.interrupt();
    expect(await command.ended).toBe(130);
    expect(command.err()).toContain(
      'detached: session s1 goes on; follow it with `./muster session logs -f s1`, end it with `./muster session cancel s1`',
    );
    expect(api.seen.filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });

  test('--timeout stops following and leaves the session alone', async () => {
    session({});
    api.on(`GET ${PATH}/progress`, (_request, response) => openStream(response));
    api.on(`GET ${PATH}/events`, (_request, response) => openStream(response));
    const { exit, err } = await cli([...RUN, '--timeout', '0.2'], { url: api.url });
    expect(exit).toBe(6);
    expect(err).toContain('error: timed_out: session s1 has not ended');
    expect(api.seen.filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });

  test('a session that is deleted while it is followed is not found', async () => {
    session({ succeeded: 'none', status: 'running', deleted: true });
    expect((await cli(RUN, { url: api.url })).exit).toBe(3);
    api.on(`GET ${PATH}/progress`, (_request, response) =>
      problem(response, 'session_not_found', 'Session s1 could not be found'),
    );
    expect((await cli(RUN, { url: api.url })).exit).toBe(3);
  });

  test('a waiting session shows its place in the queue', async () => {
    session({});
    let places = 2;
    api.on(`GET ${PATH}`, (_request, response) => {
      answer(response, 200, sessionDetail('s1', { queue: places > 0 ? { place: places } : null }));
      places -= 1;
    });
    const streams: ServerResponse[] = [];
    const wait = (_request: unknown, response: ServerResponse) => {
      openStream(response);
      send(response, sessionProgress('s1', { phase: 'queued', message: 'waiting for a session slot' }), 1, 'progress');
      streams.push(response);
    };
    api.on(`GET ${PATH}/progress`, wait);
    api.on(`GET ${PATH}/events`, wait);
    const command = startCli(RUN, { url: api.url });
    await command.says('place 2 in the queue: waiting for a session slot');
    await command.says('place 1 in the queue: waiting for a session slot');
    for (const stream of streams) {
      send(stream, streamEnd('s1'), undefined, 'end');
      stream.end();
    }
    expect(await command.ended).toBe(0);
  });

  test('on a terminal there is one live line, and hosts cannot steer it', async () => {
    const hostile = 'x\u001b[2J\u001b]0;owned\u0007\u009b31m\nsession s1 succeeded';
    session(
      { succeeded: 'false', message: hostile },
      [sessionHost(hostile, 'failed', [{ status: 'failed', failures: 1 }])],
      [{ ...failedTask(1, hostile), message: hostile }],
    );
    const { out, err } = await cli(RUN, { url: api.url, terminal: true });
    expect(err).toContain('\r\u001b[Klayer 1/2 base  1/3 hosts  task "copy"  00:00');
    expect(err.replaceAll('\r\u001b[K', '')).not.toMatch(STEERING);
    expect(out).not.toMatch(STEERING);
    expect(out.split('\n')).toHaveLength(3);
    expect(err).toContain('x\\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\nsession s1 succeeded');
  });

  test('--detach creates and leaves', async () => {
    session({});
    const { exit, out, err } = await cli([...RUN, '--detach', '-o', 'name'], { url: api.url });
    expect([exit, out]).toEqual([0, 's1\n']);
    expect(err).toContain('./muster session logs -f s1');
    expect(api.seen).toHaveLength(1);
  });

  test('without a name one is made from the configuration', async () => {
    session({});
    await cli(['session', 'run', '--configuration', 'Web_1', '--detach'], { url: api.url });
    expect(api.seen[0]?.body).toMatchObject({ name: expect.stringMatching(/^web-1-[0-9a-f]{8}$/) });
  });

  test('--dry-run shows the request and makes none', async () => {
    const { exit, out } = await cli([...RUN, '--dry-run=request'], { url: api.url });
    expect(exit).toBe(0);
    expect(out).toBe(`POST ${api.url}/v3/sessions\n{\n  "name": "s1",\n  "configuration_name": "web"\n}\n`);
    expect(api.seen).toEqual([]);
  });
});

describe('commands that wait', () => {
  test('session get --wait ends as the session does', async () => {
    session({ succeeded: 'false', message: 'layer 0 failed' });
    const { exit, err } = await cli(['session', 'get', 's1', '--wait'], { url: api.url });
    expect(exit).toBe(1);
    expect(err).toContain('session s1 failed: layer 0 failed');
  });

  test('session retry --wait follows the new session', async () => {
    session({});
    api.on('POST /api/v1/sessions/old/retry', always(201, sessionDetail('s1')));
    const { exit, err } = await cli(['session', 'retry', 'old', '--hosts', 'failed', '--as', 's1', '--wait'], {
      url: api.url,
    });
    expect(exit).toBe(0);
    expect(api.seen[0]?.body).toEqual({ hosts: 'failed', name: 's1' });
    expect(err).toContain('session s1 created');
  });

  test('session cancel tells the reason and waits for the end', async () => {
    session({ succeeded: 'false', message: 'cancelled: enough' });
    api.on(`POST ${PATH}/cancel`, always(202, sessionDetail('s1')));
    const { exit, err } = await cli(['session', 'cancel', 's1', '--reason', 'enough', '--wait'], { url: api.url });
    expect(exit).toBe(1);
    expect(api.seen[0]?.body).toEqual({ reason: 'enough' });
    expect(err).toContain('session s1 failed: cancelled: enough');
  });
});
