/** A client in Python, generated from the committed document, and what it gets from a real API. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeNeeding } from '../support/requirement.ts';
import { ROOT } from '../support/source-tree.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const run = promisify(execFile);
const generator = process.env.MUSTER_TEST_CLIENT_GENERATOR;
const FOLDER = join(import.meta.dirname, 'python-client');
const missing = generator === undefined ? 'openapi-python-client is not installed, run through "npm test"' : null;
/** Hundreds of operations are made into as many modules, ms. */
const PATIENCE = 300_000;

/** What the generator could not take, by the heads of its warnings. */
const warningsOf = (text: string) => [...text.matchAll(/WARNING parsing (.*)/g)].map(([, what]) => what ?? '');

describeNeeding(missing, 'a client that was generated from openapi/muster.json', () => {
  let api: TokenApi;
  let dir: string;
  let answers: Record<string, unknown>;
  let warnings: string[];
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-python-client-'));
    const args = ['generate', '--path', join(ROOT, 'openapi', 'muster.json'), '--meta', 'none'];
    args.push('--config', join(FOLDER, 'generator.yaml'), '--output-path', join(dir, 'muster_client'));
    warnings = warningsOf(
      (await run(generator ?? '', args, { cwd: dir, env: { PATH: process.env.PATH, NO_COLOR: '1' } })).stderr,
    );

    api = await createTokenApi();
    const layers = [{ clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    await api.as(api.tokens.admin, 'PUT', '/v3/configurations/site', { layers });
    const records = ['n1', 'n2', 'n3'].map((id) => ({ id, desired_config: 'site', enabled: true }));
    await api.as(api.tokens.admin, 'PUT', '/v3/components', records);
    const base = await api.app.listen({ port: 0, host: '127.0.0.1' });
    const env = { PATH: process.env.PATH, PYTHONPATH: dir, MUSTER_TEST_TOKEN: api.tokens.admin };
    const python = join(dirname(generator ?? ''), 'python');
    const { stdout } = await run(python, [join(FOLDER, 'calls.py'), base], { env });
    answers = JSON.parse(stdout);
  }, PATIENCE);
  afterAll(async () => {
    await api?.close();
    await rm(dir, { recursive: true, force: true });
  });

  test('has every operation; bodies of text are left out, which have a form in JSON', () => {
    expect(warnings).toEqual([
      'POST /api/v1/propagation/events within events.',
      'POST /api/v1/propagation/events/bulk within events.',
    ]);
  });

  test('makes, changes and deletes a record, with members of their own types', () => {
    expect(answers.made).toEqual({ name: 'ops', secret: true, events: ['session.ended'] });
    expect(answers.changed).toMatchObject({ status: 200, body: { name: 'ops', enabled: false } });
    expect(answers.deleted).toEqual({ status: 204, class: 'NoneType', body: null });
  });

  test('reads a record', () => {
    expect(answers.component).toMatchObject({ status: 200, body: { id: 'n1', status: 'pending' } });
    expect(answers.hosts).toMatchObject({ status: 200, body: { names: ['n1', 'n2', 'n3'] } });
  });

  test('reads a list page after page', () => {
    expect(answers.pages).toEqual([['a', 'b'], ['c', 'd'], ['ops']]);
    expect(answers.components).toEqual([
      [
        ['n1', 'pending', 3],
        ['n2', 'pending', 3],
      ],
      [['n3', 'pending', 3]],
    ]);
  });

  test('gets a refusal as a problem', () => {
    const problem = (status: number, code: string) => ({ status, class: 'Problem', body: { status, code } });
    expect(answers.again).toMatchObject(problem(409, 'webhook_exists'));
    expect(answers.mistake).toMatchObject(problem(400, 'bad_hostlist'));
    expect(answers.stranger).toMatchObject(problem(401, 'unauthenticated'));
    expect(answers.absent).toEqual({
      is_problem: true,
      code: 'webhook_not_found',
      detail: expect.stringContaining('ops'),
    });
  });
});
