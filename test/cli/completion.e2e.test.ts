/** Completion by the real program in real shells. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SCRIPTS, SHELLS } from '../../cli/commands/service/completion-scripts.ts';
import { eventually } from '../support/eventually.ts';
import { always, type FakeApi, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const run = promisify(execFile);
const MAIN = join(import.meta.dirname, '../../cli/main.ts');

let api: FakeApi;
let folder: string;
beforeEach(async () => {
  api = await startFakeApi();
  api.on('GET /api/v1/sessions', always(200, { sessions: [{ name: 'nightly' }, { name: 'web-1' }], next: null }));
  folder = await mkdtemp(join(tmpdir(), 'muster-completion-'));
  const program = join(folder, 'muster');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(program, 0o755);
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

/** The first names that are offered: the program waits for them for a moment only, in which a busy machine may not answer. */
const named = (ask: () => Promise<string[]>) =>
  eventually('names are offered', async () => {
    const found = await ask();
    return found.length > 0 && found;
  });

const environment = () => {
  const env = processEnvironment();
  return { ...env, PATH: `${folder}:${env.PATH}`, HOME: folder, MUSTER_DATA_DIR: folder, MUSTER_URL: api.url };
};

describe('bash', () => {
  /** What bash offers for a line whose last word is unfinished. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = `${SCRIPTS.bash}
COMP_WORDS=(muster "$@"); COMP_CWORD=$#
_muster muster
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run('bash', ['-c', script, 'bash', ...words], { env: environment() });
    return stdout.split('\n').filter((line) => line !== '');
  }

  test('offers verbs, flags and names from the API', async () => {
    expect(await offered('session', 'fin')).toEqual(['finish-debug']);
    expect(await offered('session', 'run', '--require')).toEqual(['--require-hosts']);
    expect(await named(() => offered('session', 'get', ''))).toEqual(['nightly', 'web-1']);
    expect(await offered('session', 'list', '--output', '=', 'js')).toEqual(['json', 'jsonl']);
  });

  test('offers nothing, and says nothing, when the API is away or slow', async () => {
    api.on('GET /api/v1/sessions', () => undefined);
    const start = performance.now();
    expect(await cli(['complete', '--', 'session', 'get', ''], { url: api.url })).toEqual({
      exit: 0,
      out: '',
      err: '',
    });
    // The half of a second is for the program and the API, which answers never; a busy machine is late.
    expect(performance.now() - start).toBeLessThan(20_000);
    const nobody = await cli(['complete', '--', 'session', 'get', ''], { url: 'http://127.0.0.1:1' });
    expect(nobody).toEqual({ exit: 0, out: '', err: '' });
  });
});

test.each([
  [['batch', 'get', ''], '/api/v1/batches?limit=1000', { batches: [{ id: 'b-1' }] }, ['b-1']],
  [
    ['repository', 'get', ''],
    '/api/v1/propagation/repositories?limit=1000',
    { repositories: [{ name: 'site' }] },
    ['site'],
  ],
  [['operator', 'list', '--operator', ''], '/api/v1/operator', { operators: [{ name: 'ops' }] }, ['ops']],
  [
    ['operator', 'get', ''],
    '/api/v1/operator/watches',
    { watches: [{ kind: 'Cache' }, { kind: 'Cache' }, { kind: 'Store' }] },
    ['Cache', 'Store'],
  ],
  [
    ['operator', 'get', 'Cache', ''],
    '/api/v1/operator/resources?limit=1000&kind=Cache',
    {
      resources: [
        { namespace: 'east', name: 'one' },
        { namespace: '', name: 'whole' },
      ],
    },
    ['east/one', 'whole'],
  ],
  [
    ['deployment', 'get', ''],
    '/api/v1/deployments?limit=1000',
    { deployments: [{ name: 'telemetry' }] },
    ['telemetry'],
  ],
  [
    ['cluster', 'get', ''],
    '/api/v1/clusters?limit=1000',
    { clusters: [{ provider: 'east', name: 'one' }] },
    ['east+one'],
  ],
  [['plan', 'get', ''], '/api/v1/propagation/plans?limit=1000', { plans: [{ id: '0a' }] }, ['0a']],
])('names are those that the API lists: %j', async (words, url, answer, names) => {
  api.on(`GET ${url.split('?')[0]}`, always(200, { ...answer, next: null }));
  const offered = await named(async () => {
    const { out } = await cli(['complete', '--', ...words], { url: api.url });
    return out.split('\n').filter((line) => line !== '');
  });
  expect(offered).toEqual(names.map((name) => `${name}\t`));
  expect(new Set(api.seen.map((request) => request.url))).toEqual(new Set([url]));
});

test.each(SHELLS)('completion %s writes the script, whatever the contexts are', async (shell) => {
  await mkdir(join(folder, '.config', 'muster'), { recursive: true });
  await writeFile(join(folder, '.config', 'muster', 'config.yaml'), ': : :', { mode: 0o644 });
  const { stdout, stderr } = await run('muster', ['completion', shell], { env: environment() });
  expect([stdout, stderr]).toEqual([SCRIPTS[shell], '']);
  expect(stdout).not.toContain('\\${');
});

test('a shell that is not known is refused with those that are', async () => {
  const { exit, err } = await cli(['completion', 'tcsh']);
  expect([exit, err]).toEqual([2, expect.stringContaining('bash, zsh, fish')]);
});
