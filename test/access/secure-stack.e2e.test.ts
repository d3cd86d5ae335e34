import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { selfSigned } from '../support/fakes/self-signed.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');

describeNeeding(stackMissing(), 'a stack with access control and TLS', () => {
  let certificates: string;
  let stack: MusterStack;
  let ca: string;

  beforeAll(async () => {
    certificates = await mkdtemp(join(tmpdir(), 'muster-tls-'));
    const tls = selfSigned();
    ca = tls.cert;
    await writeFile(join(certificates, 'api.pem'), tls.cert);
    await writeFile(join(certificates, 'api.key'), tls.key, { mode: 0o600 });
    stack = await startMusterStack({
      MUSTER_AUTH: 'token',
      MUSTER_TLS_CERT: join(certificates, 'api.pem'),
      MUSTER_TLS_KEY: join(certificates, 'api.key'),
    });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(certificates, { recursive: true, force: true });
  });

  const url = () => `https://127.0.0.1:${stack.env.MUSTER_API_PORT}`;

  /** The command line as a process of its own. */
  const muster = (args: string[], env: Record<string, string> = {}, input = '') =>
    ended(spawn(process.execPath, [MAIN, ...args], { env: { ...stack.env, ...env }, stdio: 'pipe' }), input);

  /** The command line in another folder, without the settings of the stack. */
  const elsewhere = (args: string[]) => {
    const { PATH = '', HOME = '' } = stack.env;
    const env = { PATH, HOME, MUSTER_DATA_DIR: stack.dataDir };
    return ended(spawn(process.execPath, [MAIN, ...args], { env, cwd: tmpdir(), stdio: 'pipe' }));
  };

  async function ended(child: ChildProcessWithoutNullStreams, input = '') {
    child.stdin.end(input);
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { out, err, code };
  }

  /** A plain HTTP client, as a node's reporter is one. */
  function call(
    token: string | null,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const sent = request(`${url()}${path}`, { method, headers, ca, agent: false }, async (response) =>
        resolve({ status: response.statusCode ?? 0, body: await text(response) }),
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  const make = async (...args: string[]) => {
    const { out, err, code } = await muster(['token', 'create', ...args]);
    expect([code, err]).toEqual([0, expect.stringContaining('is not shown again')]);
    expect(out).toMatch(/^muster_[0-9A-Za-z]{49}\n$/);
    return out.trim();
  };

  test('the first start makes a token that only its owner can read and that ./muster finds', async () => {
    const file = join(stack.dataDir, 'admin-token');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // The engine may hear of the worker a moment later.
    const { out, err } = await eventually('all is well', async () => {
      const shown = await muster(['status']);
      return shown.code === 0 && shown;
    });
    expect(err).toBe('');
    expect(out).toContain(`https://127.0.0.1:${stack.env.MUSTER_API_PORT}`);
    // From another folder and without the settings of the stack: its data directory says where it is.
    expect(await elsewhere(['token', 'list', '-o', 'name'])).toEqual({ out: 'stack\n', err: '', code: 0 });
  });

  test('tokens are made, listed and revoked, and every secret stays out of sight', async () => {
    const token = await make('--role', 'reader', '--name', 'watcher', '--expires', '30d');
    const list = await muster(['token', 'list']);
    expect(list.out).toMatch(/NAME +ROLE +COMPONENT +CREATED +BY +EXPIRES +LAST USED/);
    expect(list.out).toMatch(/watcher +reader +\S+Z +token\/stack +\S+Z +never/);
    expect(list.out).not.toContain(token);
    expect((await muster(['component', 'list'], { MUSTER_TOKEN: token })).code).toBe(0);
    expect((await muster(['token', 'create', '--role', 'reader', '--name', 'watcher'])).code).toBe(5);
    expect((await muster(['token', 'revoke', 'watcher'])).code).toBe(0);
    const refused = await muster(['component', 'list'], { MUSTER_TOKEN: token });
    expect(refused.code).toBe(4);
    expect(refused.err).toContain('error: unauthenticated: ');
    expect(refused.err).toContain('MUSTER_TOKEN_FILE');

    const admin = (await readFile(join(stack.dataDir, 'admin-token'), 'utf8')).trim();
    const kept = ['stack.json', 'logs/api.log', 'logs/worker.log', 'logs/stack.log'].map((name) =>
      join(stack.dataDir, name),
    );
    for (const file of kept) {
      const content = await readFile(file, 'utf8');
      for (const secret of [admin, token]) expect(content).not.toContain(secret);
    }
    const commandLines = execFileSync('ps', ['-eo', 'args']).toString();
    for (const secret of [admin, token]) expect(commandLines).not.toContain(secret);
    const rows = await stack.sql<{ text: string }>('select t::text as text from tokens t');
    expect(rows.map((row) => row.text).join()).not.toContain(admin.slice(7));
  });

  test('a node reports its own component and nothing else', async () => {
    const admin = (await readFile(join(stack.dataDir, 'admin-token'), 'utf8')).trim();
    expect(
      (await call(admin, 'PUT', '/v3/components', [{ id: 'x1', desired_config: 'c', error_count: 2 }, { id: 'x2' }]))
        .status,
    ).toBe(200);
    const node = await make('--role', 'node', '--component', 'x1');
    const report = await call(node, 'PATCH', '/apis/cfs/v3/components/x1', { state: [], enabled: true });
    expect(report.status).toBe(200);
    expect(JSON.parse(report.body)).toMatchObject({ id: 'x1', enabled: true, error_count: 0, desired_config: 'c' });
    expect(await stack.sql("select actor from components where id = 'x1'")).toEqual([
      { actor: expect.stringMatching(/^token\/node-[0-9a-f]{8}$/) },
    ]);
    for (const [method, path, body] of [
      ['PATCH', '/v3/components/x2', { enabled: true }],
      ['PATCH', '/v3/components/x1', { desired_config: 'mine' }],
      ['PATCH', '/v3/components', [{ id: 'x1', enabled: true }]],
      ['GET', '/v3/components', undefined],
      ['POST', '/v3/sessions', { name: 's', configuration_name: 'c' }],
      ['GET', '/api/v1/status', undefined],
    ] as const) {
      expect([method, path, (await call(node, method, path, body)).status]).toEqual([method, path, 403]);
    }
    expect((await call(null, 'GET', '/healthz')).status).toBe(200);
    expect((await call(null, 'GET', '/v3/options')).status).toBe(401);
  });

  test('an operator runs a session and follows it; a reader may only look', async () => {
    const repository = await stack.repository('site');
    await repository.commit({
      'site.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - debug: {msg: hello}\n',
    });
    const tokenFile = join(certificates, 'operator');
    await writeFile(tokenFile, `${await make('--role', 'operator', '--name', 'ops')}\n`);
    const operator = { MUSTER_TOKEN_FILE: tokenFile };
    const configuration = {
      name: 'site',
      layers: [{ clone_url: repository.url, branch: 'main', playbook: 'site.yml' }],
    };
    expect(await muster(['configuration', 'apply', '-f', '-'], operator, JSON.stringify(configuration))).toMatchObject({
      code: 0,
    });
    const component = [{ id: 'web1', enabled: false, tags: { ansible_connection: 'local' } }];
    expect(await muster(['component', 'apply', '-f', '-'], operator, JSON.stringify(component))).toMatchObject({
      code: 0,
    });
    const ran = await muster(['session', 'run', 'first', '--configuration', 'site', '--limit', 'web1'], operator);
    expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
    expect(await stack.sql("select actor from sessions where name = 'first'")).toEqual([{ actor: 'token/ops' }]);

    const reader = { MUSTER_TOKEN: await make('--role', 'reader') };
    expect((await muster(['session', 'logs', 'first'], reader)).out).toContain('PLAY RECAP');
    const refused = await muster(['session', 'run', 'second', '--configuration', 'site'], reader);
    expect([refused.code, refused.out]).toEqual([4, '']);
    expect(refused.err).toMatch(/error: forbidden: .*operator/);
    expect((await muster(['token', 'list'], operator)).code).toBe(4);
  }, 600_000);

  test('a renewed certificate is taken up without a restart', async () => {
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(
          { host: '127.0.0.1', port: Number(stack.env.MUSTER_API_PORT), rejectUnauthorized: false },
          () => {
            resolve(socket.getPeerCertificate().fingerprint256);
            socket.destroy();
          },
        );
        socket.on('error', reject);
      });
    const before = await serial();
    const pid = await stack.pidOf('api');
    const tls = selfSigned();
    await writeFile(join(certificates, 'api.pem'), tls.cert);
    await writeFile(join(certificates, 'api.key'), tls.key, { mode: 0o600 });
    await eventually('the new certificate is used', async () => (await serial()) !== before, 240_000);
    expect(await stack.pidOf('api')).toBe(pid);
    expect(await stack.call('GET', '/').catch(() => 'no plain HTTP')).toBe('no plain HTTP');
  });

  test('down needs no setting but the data directory, whose stack names its certificate', async () => {
    const shown = await eventually('all is well', async () => {
      const status = await elsewhere(['status']);
      return status.code === 0 && status;
    });
    expect(shown.err).toBe('');
    expect(await elsewhere(['down', '--cancel-runs'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('the stack is stopped'),
    });
    expect((await elsewhere(['status'])).out).not.toContain('healthy');
  }, 600_000);
});
