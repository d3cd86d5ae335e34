/** From a branch of a private git repository to a resource, on a whole stack: the worker reads, the branch moves, a sync fails and is mended. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type GitHttpServer, startGitHttpServer } from '../../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { cli } from '../../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';
import { definitionAt } from './git-bench.ts';

const account = { username: 'ada', password: 'of-the-repository' };
let stack: MusterStack;
let root: string;
let server: GitHttpServer;
let origin: TestRepository;
const run = (...args: string[]) => cli(args, { url: stack.url });
const WAIT = ['--wait', '--timeout', '120'];

async function done(...args: string[]): Promise<string> {
  const { exit, out, err } = await run(...args);
  expect([args, exit, err]).toEqual([args, 0, err]);
  return out;
}

describeNeeding(stackMissing(), 'a repository of definitions in git', () => {
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'muster-definitions-e2e-'));
    origin = await createRepository(join(root, 'defs'));
    server = await startGitHttpServer({ root, account });
    stack = await startMusterStack();
  });
  afterAll(async () => {
    await stack?.remove();
    await server?.stop();
    await rm(root, { recursive: true, force: true });
  });

  test('is read with its source, follows its branch, and keeps its versions', async () => {
    const url = `${server.origin}/defs/.git`;
    const made = await fetch(`${stack.url}/v3/sources`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'defs', clone_url: url, credentials: account }),
    });
    expect(made.status).toBe(201);
    const first = await origin.commit(definitionAt('definitions/web'));
    await done('repository', 'add', 'site', '--git', url, '--path', 'definitions', '--source', 'defs', ...WAIT);
    expect(await done('repository', 'get', 'site')).toContain(first);
    await done('resource', 'create', 'a', 'site/web');

    const second = await origin.commit(definitionAt('definitions/web', '1.1.0', 'exit 1\n'));
    await done('repository', 'sync', 'site', ...WAIT);
    const shown = await done('repository', 'get', 'site');
    expect([shown.includes(second), /web +1\.0\.0 1\.1\.0/.test(shown)]).toEqual([true, true]);
    expect(await done('resource', 'get', 'a')).toContain('site/web:1.0.0');

    await origin.commit(definitionAt('definitions/web', '1.1.0', 'exit 2\n'));
    const failed = await run('repository', 'sync', 'site', ...WAIT);
    expect([failed.exit, failed.err]).toEqual([1, expect.stringContaining('definition_exists')]);
    expect(await done('repository', 'get', 'site')).toContain(second);
    const fourth = await origin.commit(definitionAt('definitions/web', '1.2.0', 'exit 2\n'));
    await done('repository', 'sync', 'site', ...WAIT);
    expect(await done('repository', 'get', 'site')).toContain(fourth);
  });

  test('is read again after a worker that was killed', async () => {
    await origin.commit(definitionAt('definitions/web', '1.3.0', 'exit 3\n'));
    await done('repository', 'sync', 'site');
    await stack.kill('worker');
    await done('repository', 'sync', 'site', ...WAIT);
    expect(await done('repository', 'get', 'site')).toMatch(/1\.3\.0/);
  });
});
