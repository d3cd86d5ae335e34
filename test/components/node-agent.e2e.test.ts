import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createToken } from '../../control/access/create-token.ts';
import type { TokenCreate } from '../../domain/access/schema.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { type ApiProcess, startApiProcess } from '../support/stack/api-process.ts';

const AGENT = join(import.meta.dirname, '../../agent');
const REACHED = {
  clone_url: 'https://git.example.com/a.git',
  playbook: 'site.yml',
  commit: 'c'.repeat(40),
  status: 'failed',
  session_name: 's1',
};

let database: TestDatabase;
let api: ApiProcess;
let directory: string;
let operator: string;
const agents: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApiProcess(database.url, { MUSTER_AUTH: 'token' });
  directory = await mkdtemp(join(tmpdir(), 'muster-node-agent-'));
  operator = await makeToken({ role: 'operator' });
});
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill('SIGKILL');
});
afterAll(async () => {
  await api.stop();
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

async function makeToken(wanted: TokenCreate): Promise<string> {
  return (await createToken({ db: database.db, clock: () => new Date() }, { actor: null }, wanted)).token;
}

async function asOperator(method: string, id: string, body?: object) {
  const answer = await fetch(`${api.base}/v3/components/${id}?state_details=true`, {
    method,
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** A component that failed for good and was taken out of service. */
const configured = (id: string) =>
  asOperator('PUT', id, {
    desired_config: 'base',
    state: [REACHED],
    error_count: 3,
    enabled: false,
    tags: { rack: '1' },
  });

/** The agent on the node `id` that has the token of the node `owner`; its log grows while it runs. */
async function boot(id: string, owner = id, settings: Record<string, string> = {}) {
  const file = join(directory, `${owner} token`);
  await writeFile(file, await makeToken({ role: 'node', component: owner }), { mode: 0o600 });
  const cmdline = join(directory, `${id}-cmdline`);
  await writeFile(cmdline, `console=ttyS0 xname=${id} quiet\n`);
  const agent = spawn('python3', ['-m', 'muster_report'], {
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: AGENT,
      PYTHONDONTWRITEBYTECODE: '1',
      MUSTER_REPORT_KERNEL_CMDLINE: cmdline,
      MUSTER_REPORT_URL: `${api.base}/apis/cfs`,
      MUSTER_REPORT_TOKEN_COMMAND: `cat '${file}'`,
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  agents.push(agent);
  const log: string[] = [];
  createInterface(agent.stderr).on('line', (line) => log.push(line.replace('muster-report: ', '')));
  return { agent, log, ended: once(agent, 'close').then(([code, signal]) => ({ code, signal })) };
}

test('a node that has booted clears its own state and errors and is enabled, and nothing else of it changes', async () => {
  await configured('x1');
  await configured('x2');
  const { ended, log } = await boot('x1');
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(log).toEqual([`reporting x1 to ${api.base}/apis/cfs/v3/components/x1`, 'reported']);
  expect((await asOperator('GET', 'x1')).body).toMatchObject({
    state: [],
    error_count: 0,
    enabled: true,
    desired_config: 'base',
    tags: { rack: '1' },
  });
  expect((await asOperator('GET', 'x2')).body).toMatchObject({ state: [REACHED], error_count: 3, enabled: false });
});

test('the same report again changes nothing more', async () => {
  await configured('x1');
  await (await boot('x1')).ended;
  const first = (await asOperator('GET', 'x1')).body;
  expect(await (await boot('x1')).ended).toEqual({ code: 0, signal: null });
  expect((await asOperator('GET', 'x1')).body).toEqual(first);
});

test('a node that is not known yet reports until it is', async () => {
  const { agent, ended, log } = await boot('x3');
  await eventually('it was refused', () => log.some((line) => line.startsWith('not reported: 404 ')));
  expect(agent.exitCode).toBeNull();
  await configured('x3');
  expect(await ended).toEqual({ code: 0, signal: null });
  expect((await asOperator('GET', 'x3')).body).toMatchObject({ state: [], error_count: 0, enabled: true });
});

test('the token of another node reports nothing; the agent goes on until it is ended', async () => {
  await configured('x4');
  const { agent, ended, log } = await boot('x4', 'x1');
  const refusals = () => log.filter((line) => /^not reported: 403 .*its own component 'x1'/.test(line)).length;
  await eventually('it was refused twice', () => refusals() >= 2);
  expect((await asOperator('GET', 'x4')).body).toMatchObject({ state: [REACHED], error_count: 3, enabled: false });
  expect(JSON.stringify([log, api.log])).not.toMatch(/muster_[0-9A-Za-z]{20}/);
  agent.kill('SIGTERM');
  expect(await ended).toEqual({ code: null, signal: 'SIGTERM' });
});

test('a wrong token is replaced by the right one as soon as that is there', async () => {
  await configured('x5');
  const { ended, log } = await boot('x5', 'x6');
  await eventually('it was refused', () => log.some((line) => line.startsWith('not reported: 403 ')));
  await writeFile(join(directory, 'x6 token'), await makeToken({ role: 'node', component: 'x5' }));
  expect(await ended).toEqual({ code: 0, signal: null });
});

test('a node tells which boot it is; the same boot again leaves what was reached since then, the next one does not', async () => {
  await configured('x7');
  const bootId = join(directory, 'x7-boot_id');
  const report = async (id: string) => {
    await writeFile(bootId, `${id}\n`);
    return (await boot('x7', 'x7', { MUSTER_REPORT_BOOT_ID_FILE: bootId })).ended;
  };
  expect(await report('b1')).toEqual({ code: 0, signal: null });
  expect((await asOperator('GET', 'x7')).body).toMatchObject({ state: [], muster: { boot: 'b1' } });
  const { status: _, ...reached } = REACHED;
  await asOperator('PATCH', 'x7', { state_append: reached, error_count: 1 });
  await report('b1');
  expect((await asOperator('GET', 'x7')).body).toMatchObject({ state: [{ status: 'applied' }], error_count: 1 });
  await report('b2');
  expect((await asOperator('GET', 'x7')).body).toMatchObject({ state: [], error_count: 0, muster: { boot: 'b2' } });
});

test('a node asks Muster whom to trust until Muster knows it, before it reports', async () => {
  await configured('x8');
  const [keys, config] = [join(directory, 'trusted-keys'), join(directory, 'sshd_config')];
  await writeFile(config, 'Port 22\n');
  const { ended, log } = await boot('x8', 'x8', {
    MUSTER_TRUST_URL: `${api.base}/api/v1/trust/ca`,
    MUSTER_TRUST_KEYS_FILE: keys,
    MUSTER_TRUST_SSHD_CONFIG: config,
    MUSTER_TRUST_SSHD_PID_FILE: join(directory, 'sshd.pid'),
  });
  await eventually('it has to wait', () => log.some((line) => /^no keys to trust from .* yet: \d+ /.test(line)));
  expect((await asOperator('GET', 'x8')).body).toMatchObject({ enabled: false });
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5wYVYsS8AzGWjdSuqRvnMOyTnF4XhBMtjU4SIXmJEf';
  await database.db.insertInto('trust_authorities').values({ public_key: key, since: new Date() }).execute();
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(await readFile(keys, 'utf8')).toBe(`${key}\n`);
  expect(await readFile(config, 'utf8')).toBe(`Port 22\nTrustedUserCAKeys ${keys}\n`);
  expect((await asOperator('GET', 'x8')).body).toMatchObject({ enabled: true });
});
