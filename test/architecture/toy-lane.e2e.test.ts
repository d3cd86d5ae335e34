import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { ansibleBin } from '../support/ansible/ansible.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { ROOT, readSourceTree } from '../support/source-tree.ts';
import { stackMissing } from '../support/stack/muster-stack.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';
import { type PlaceOnServers, placeOnServers } from '../support/stack/shared-servers.ts';
import { type CopyWithToy, copyWithToy } from '../support/toy-lane/copy-with-toy.ts';

const run = promisify(execFile);

let copy: CopyWithToy;
let dir: string;
let place: PlaceOnServers | null = null;
let env: Record<string, string>;
/** An administrator's, which the API makes. */
let token: string;
const processes: ChildProcess[] = [];

const missing = stackMissing();
const withStack = missing === null ? describe : describe.skip;

beforeAll(async () => {
  copy = await copyWithToy();
  dir = await mkdtemp(join(tmpdir(), 'muster-toy-'));
});
afterAll(async () => {
  await Promise.all(
    processes.map(async (child) => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }),
  );
  await place?.remove();
  await copy.remove();
  await rm(dir, { recursive: true, force: true });
});

/** Runs a program of the copy. Returns its exit status and what it wrote. */
async function ran(args: string[], more: Record<string, string> = {}, cwd = dir) {
  try {
    const { stdout, stderr } = await run(process.execPath, args, { cwd, env: { ...process.env, ...more } });
    return { status: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

const muster = (...args: string[]) => ran([join(copy.root, 'cli', 'main.ts'), ...args], env);

describe('a lane in a copy of the checkout', () => {
  test('is its own files, and a line in each of the lists', () => {
    const others = readSourceTree().filter(({ path }) => /^[a-z]+\//.test(path) && !copy.edited.includes(path));
    const edited = others.filter(({ path }) => !sameIn(path));
    expect(edited.map(({ path }) => path)).toEqual([]);
    // The line of the list, and that of its import.
    for (const path of copy.edited) expect([1, 2]).toContain(addedLines(path));
  });

  test('has the types that its place wants', async () => {
    const files = [
      'api/main.ts',
      'worker/main.ts',
      'cli/main.ts',
      'workflows/index.ts',
      'store/migrations/9000-toys.ts',
    ];
    writeFileSync(
      join(copy.root, 'toy.tsconfig.json'),
      JSON.stringify({ extends: './tsconfig.json', include: [], files }),
    );
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const { status, stdout } = await ran([compiler, '-p', join(copy.root, 'toy.tsconfig.json')]);
    expect([status, stdout]).toEqual([0, '']);
  }, 600_000);

  test('imports what its lane may import, and is in the list of each layer', async () => {
    const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
    const args = [
      jest,
      '--rootDir',
      copy.root,
      '--selectProjects',
      'domain',
      '--testPathPatterns',
      'architecture/imports',
    ];
    const { status, stderr } = await ran(args, {}, copy.root);
    expect([status, stderr.match(/^Tests: .*$/m)?.[0]]).toEqual([0, expect.stringMatching(/ [0-9]+ passed/)]);
  }, 600_000);

  test('is in the help, and a misspelt setting of it is refused by name', async () => {
    const help = await ran([join(copy.root, 'cli', 'main.ts'), '--help']);
    expect(help.stdout).toMatch(/^ {2}toy {2,}toys, and what they say$/m);
    const api = await ran([join(copy.root, 'api', 'main.ts')], { MUSTER_TOY_WROD: 'x', MUSTER_TOY_WORD: 'y' });
    expect(api.status).toBe(2);
    expect(api.stderr).toContain('MUSTER_TOY_WROD: no such setting');
    expect(api.stderr).not.toContain('MUSTER_TOY_WORD');
  });
});

withStack('its processes', () => {
  const as = (who: string, path: string) =>
    fetch(`${env.MUSTER_URL}${path}`, { headers: who === '' ? {} : { authorization: `Bearer ${who}` } });

  beforeAll(async () => {
    place = await placeOnServers();
    if (place === null) throw new Error('this run has no Temporal');
    const port = await freePort();
    env = {
      ...processEnvironment(),
      HOME: dir,
      MUSTER_DATA_DIR: join(dir, 'data'),
      MUSTER_API_PORT: String(port),
      MUSTER_URL: `http://127.0.0.1:${port}`,
      MUSTER_AUTH: 'token',
      MUSTER_ADMIN_TOKEN_FILE: join(dir, 'admin-token'),
      MUSTER_TOKEN_FILE: join(dir, 'admin-token'),
      MUSTER_ANSIBLE_BIN_DIR: ansibleBin(),
      MUSTER_TOY_WORD: 'growl',
      ...place.settings,
    };
    for (const main of ['api', 'worker']) {
      const args = [join(copy.root, main, 'main.ts')];
      processes.push(spawn(process.execPath, args, { cwd: dir, env, stdio: ['ignore', 'ignore', 'inherit'] }));
    }
    await eventually('the API is set up', async () => {
      for (const { exitCode } of processes) if (exitCode !== null) throw new Error(`a process ended with ${exitCode}`);
      return (await fetch(`${env.MUSTER_URL}/readyz`).catch(() => null))?.status === 200;
    });
    token = readFileSync(join(dir, 'admin-token'), 'utf8').trim();
  }, 600_000);

  test('the route answers by its role', async () => {
    const made = async (role: string) => {
      const body = JSON.stringify({ name: role, role });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${env.MUSTER_URL}/api/v1/tokens`, { method: 'POST', body, headers });
      return ((await answer.json()) as { token: string }).token;
    };
    const [reader, operator] = [await made('reader'), await made('operator')];
    const statuses = [];
    for (const who of ['', reader, operator, token]) statuses.push((await as(who, '/api/v1/toys')).status);
    expect(statuses).toEqual([401, 403, 200, 200]);
  });

  test('the route is in the document, with its refusal', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the test looks into a document
    const document = (await (await as(token, '/openapi/muster.json')).json()) as any;
    const { responses, operationId } = document.paths['/api/v1/toys/{toy}'].get;
    expect(operationId).toBeTruthy();
    expect(JSON.stringify(responses['404'])).toContain('toy_not_found');
    expect(document.components.schemas.Problem.properties.code.enum).toContain('toy_not_found');
  });

  test('the error has a status, an exit status and advice', async () => {
    const answer = await as(token, '/api/v1/toys/nobody');
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { code: 'toy_not_found', title: 'Toy not found' },
    ]);
    const { status, stderr } = await muster('toy', 'get', 'nobody');
    expect([status, stderr]).toEqual([3, expect.stringContaining('`./muster toy list` shows the toys')]);
  });

  test('the Schedule starts the workflow, whose activity writes the table with the word of the setting', async () => {
    const connection = await Connection.connect({ address: env.MUSTER_TEMPORAL_ADDRESS ?? '' });
    try {
      const client = new Client({ connection, namespace: env.MUSTER_TEMPORAL_NAMESPACE ?? '' });
      const schedule = client.schedule.getHandle('muster-toy');
      await eventually('the Schedule is there', () => schedule.describe().catch(() => null), 240_000);
      await schedule.trigger();
    } finally {
      await connection.close();
    }
    await eventually('the bear was wound', async () => (await muster('toy', 'get', 'bear')).status === 0, 240_000);
    expect((await muster('toy', 'get', 'bear')).stdout).toBe('growl\n');
    expect(await (await as(token, '/api/v1/toys')).json()).toEqual([{ name: 'bear', word: 'growl' }]);
  }, 600_000);
});

const textIn = (root: string, path: string) => readFileSync(join(root, path), 'utf8');
const sameIn = (path: string) => textIn(ROOT, path) === textIn(copy.root, path);

/** How many lines more a file has in the copy. All others of it are as in the checkout. */
function addedLines(path: string): number {
  const before = textIn(ROOT, path).split('\n');
  const after = textIn(copy.root, path).split('\n');
  expect(after.filter((line) => !/\b(toy|TOY_ERRORS|ToyTables|windToy\w*)\b/.test(line))).toEqual(before);
  return after.length - before.length;
}
