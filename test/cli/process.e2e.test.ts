import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { always, type FakeApi, openStream, send, startFakeApi } from '../support/fakes/fake-api.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';
import { sessionDetail, sessionProgress } from '../support/temporal/session-answers.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');

let api: FakeApi;
let child: ChildProcess | undefined;

beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await api.close();
});

/** The command line as a process of its own, with nothing of our environment but what it needs to start. */
function start(args: string[], env: Record<string, string> = {}) {
  const started = spawn(process.execPath, [MAIN, ...args], {
    env: { ...processEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const ended = once(started, 'exit').then(([code, signal]) => ({ code, signal }));
  const out = text(started.stdout);
  // A test may stop reading; who wants the text still gets the error.
  out.catch(() => undefined);
  return { child: started, ended, out, err: text(started.stderr) };
}

describe('the process', () => {
  test('finds the API by MUSTER_URL and by MUSTER_API_PORT', async () => {
    api.on('GET /v3/components', always(200, { components: [{ id: 'a' }], next: null }));
    const settings: Record<string, string>[] = [{ MUSTER_URL: api.url }, { MUSTER_API_PORT: String(api.port) }];
    for (const env of settings) {
      const { ended, out } = start(['component', 'list', '-o', 'name'], env);
      expect([(await ended).code, await out]).toEqual([0, 'a\n']);
    }
  });

  test('ends with the exit status of the failure', async () => {
    const { ended, out, err } = start(['session', 'get', 'nobody'], { MUSTER_URL: api.url });
    expect((await ended).code).toBe(3);
    expect(await out).toBe('');
    expect(await err).toMatch(/^error: not_found: /);
  });

  test('a mistake in the words is exit status 2, help and version are 0', async () => {
    expect((await start(['session', 'run']).ended).code).toBe(2);
    expect((await start(['nonsense']).ended).code).toBe(2);
    expect((await start(['--help']).ended).code).toBe(0);
    const version = start(['--version']);
    expect((await version.ended).code).toBe(0);
    expect(await version.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('Ctrl-C, even when it arrives twice at once, detaches with 130', async () => {
    api.on('POST /v3/sessions', always(201, sessionDetail('s1')));
    api.on('GET /api/v1/sessions/s1', always(200, sessionDetail('s1')));
    for (const stream of ['progress', 'events']) {
      api.on(`GET /api/v1/sessions/s1/${stream}`, (_request, response) => {
        openStream(response);
        send(response, sessionProgress('s1'), 1);
      });
    }
    const {
      child: process_,
      ended,
      err,
    } = start(['session', 'run', 's1', '--configuration', 'web'], { MUSTER_URL: api.url });
    const shown = new Promise<void>((resolve) => {
      let seen = '';
      process_.stderr.on('data', (chunk) => {
        seen += String(chunk);
        if (seen.includes('layer')) resolve();
      });
    });
    await shown;
    process_.kill('SIGINT');
    process_.kill('SIGINT');
    expect(await ended).toEqual({ code: 130, signal: null });
    expect(await err).toContain('detached: session s1 goes on');
  });

  test('a reader that has seen enough is no failure', async () => {
    api.on('GET /api/v1/sessions/s1/logs', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const { child: process_, ended, err } = start(['session', 'logs', 's1'], { MUSTER_URL: api.url });
    process_.stdout.once('data', () => process_.stdout.destroy());
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await err).toBe('');
  });

  test('nothing is written to a pipe but data', async () => {
    api.on('GET /api/v1/sessions', always(200, { sessions: [sessionDetail('s1')], next: null }));
    const { out } = start(['session', 'list'], { MUSTER_URL: api.url, FORCE_COLOR: '1' });
    expect(await out).toMatch(/^NAME {2}CONFIGURATION {2}STATUS .*\ns1 {4}web .*\n$/);
  });
});
