/** The guide of `examples/deployment`, command by command, on three member clusters. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/source-tree.ts';
import { type MusterStack, startMusterStack } from '../support/stack/muster-stack.ts';

const run = promisify(execFile);
const COMMANDS = readFileSync(join(ROOT, 'examples', 'deployment', 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => /^ {4}(\.\/muster|for) /.test(line))
  .map((line) => line.trim());
let members: ChildProcess;
let stack: MusterStack;

beforeAll(async () => {
  members = spawn('npm', ['run', '--silent', 'test:cluster', '--', 'members', '3'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  members.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  stack = await startMusterStack({ MUSTER_DEPLOY_ALLOW_LOOPBACK: '1' });
  await eventually(
    'the members run',
    () => said.includes('until Ctrl-C.'),
    240_000,
    () => said,
  );
}, 600_000);

afterAll(async () => {
  await stack?.remove();
  if (members?.pid === undefined || members.exitCode !== null) return;
  const ended = once(members, 'exit');
  // As Ctrl-C does: to all of them.
  process.kill(-members.pid, 'SIGINT');
  await ended;
}, 360_000);

const type = async (command: string) => {
  const env = { ...process.env, MUSTER_URL: stack.url };
  const { stdout, stderr } = await run('bash', ['-c', command], { cwd: ROOT, env });
  return { out: stdout, err: stderr };
};

test('two apps go to three clusters, one of them tells why it is not ready, and all of it goes away again', async () => {
  expect(COMMANDS).toHaveLength(5);
  const [add = '', apply = '', status = '', explain = '', remove = ''] = COMMANDS;
  expect((await type(add)).err).toContain('cluster lab+member-3 registered');
  expect((await type(apply)).err).toContain('deployment telemetry: Instantiated, 12 Applied');
  const why = async () => (await type(explain)).out;
  await eventually(
    'the pods are explained',
    async () => (await why()).match(/Unschedulable/g)?.length === 6,
    180_000,
    why,
  );
  const tree = (await type(status)).out;
  for (const app of ['agent', 'store']) expect(tree).toContain(`\n${app}  `);
  for (const number of [1, 2, 3]) expect(tree).toContain(`\n  lab+member-${number}  `);
  expect((await type(remove)).err).toContain('deployment telemetry removed');
  expect((await type('./muster deployment list')).err).toContain('no deployments');
}, 480_000);
