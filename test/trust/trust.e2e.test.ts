/** Sessions on hosts that know no key, only the authority, which the node agent has taken from the API. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseCertificate } from '../../domain/trust/ssh-certificate.ts';
import { canLogIn } from '../support/ansible/ssh-login.ts';
import { type SshServer, sshMissing, startSshServer } from '../support/ansible/ssh-server.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { cli } from '../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

/** Life of a certificate here, seconds: on a busy machine a renewal comes late, but not by the half of it. */
const TTL = 20;
const PYTHON = '{{ ansible_playbook_python }}';
/** Longer than two certificates live; every task connects anew. */
const TASKS = 10;
const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
${Array.from({ length: TASKS }, (_, index) => `    - name: step ${index}\n      command: sleep 4.5`).join('\n')}
`;
const ALL_VARS = `ansible_ssh_args: -o ControlMaster=no -o ControlPersist=no
ansible_python_interpreter: "${PYTHON}"
`;

const run = promisify(execFile);

describeNeeding(stackMissing() ?? sshMissing(), 'certificates of sessions', () => {
  let stack: MusterStack;
  let trusting: SshServer;
  let plain: SshServer;

  beforeAll(async () => {
    const user = userInfo().username;
    stack = await startMusterStack({ MUSTER_TRUST_TTL: String(TTL), MUSTER_TRUST_PRINCIPALS: user });
    trusting = await startSshServer(join(stack.dataDir, 'trusting'), { trustedAuthorities: null });
    plain = await startSshServer(join(stack.dataDir, 'plain'));
    const value = await readFile(plain.keyFile, 'utf8');
    expect((await stack.call('PUT', '/api/v1/secrets/muster-ssh/private', { value })).status).toBe(204);

    const repository = await stack.repository('plays');
    await repository.commit({ 'site.yml': PLAYBOOK, 'group_vars/all.yml': ALL_VARS });
    const layers = [{ clone_url: repository.url, playbook: 'site.yml', branch: 'main' }];
    expect((await stack.call('PUT', '/v3/configurations/site', { layers })).status).toBe(200);
    const components = Object.entries({ trusting, plain }).map(([id, { port }]) => ({
      id,
      enabled: false,
      tags: { ansible_host: '127.0.0.1', ansible_port: String(port), ansible_user: user },
    }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
    await setUpNode('trusting', trusting);
  }, 600_000);
  afterAll(async () => {
    await trusting?.stop();
    await plain?.stop();
    await stack?.remove();
  });

  /** What a node does at its boot, with the agent's own program; ends when its report is taken. */
  async function setUpNode(id: string, { dir }: SshServer): Promise<void> {
    const env = {
      PATH: process.env.PATH,
      PYTHONPATH: join(import.meta.dirname, '../../agent'),
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_IDENTITY: id,
      MUSTER_REPORT_URL: stack.url,
      MUSTER_TRUST_URL: `${stack.url}/api/v1/trust/ca`,
      MUSTER_TRUST_KEYS_FILE: join(dir, 'trusted-user-ca-keys.pem'),
      MUSTER_TRUST_SSHD_CONFIG: join(dir, 'sshd_config'),
      MUSTER_TRUST_SSHD_PID_FILE: join(dir, 'sshd.pid'),
    };
    await run('python3', ['-m', 'muster_report'], { env, timeout: 240_000 });
    const { body } = await stack.call('GET', '/api/v1/trust/ca');
    const key = String(body).split(' ').slice(0, 2).join(' ');
    expect(await readFile(env.MUSTER_TRUST_KEYS_FILE, 'utf8')).toBe(`${key}\n`);
  }

  test('a playbook that takes longer than a certificate connects to its end; hosts with the plain key still work', async () => {
    await stack.create('long', 'site');
    const { id } = await stack.session('long');
    const ssh = join(stack.dataDir, 'workspaces', id, 'ssh');
    const kept = join(stack.dataDir, 'kept');
    await mkdir(kept);
    const read = () => readFile(join(ssh, 'id-cert.pub'), 'utf8').catch(() => null);
    await eventually('there is a certificate', read);
    await eventually('the host lets it in', async () => {
      // Of the newest: what was kept before may have expired meanwhile.
      const newest = await read();
      if (newest === null) return false;
      await copyFile(join(ssh, 'id'), join(kept, 'id'));
      await writeFile(join(kept, 'id-cert.pub'), newest);
      return canLogIn(trusting, join(kept, 'id'));
    });

    const ends = new Set<number>();
    const session = await eventually(
      'the session is complete',
      async () => {
        const certificate = await read();
        // Whoever reads it finds a whole one at any time.
        if (certificate !== null) ends.add(parseCertificate(certificate)?.validBefore ?? Number.NaN);
        const now = await stack.session('long');
        return now.status.session.status === 'complete' ? now : null;
      },
      400_000,
    );
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    expect([...ends].every(Number.isFinite)).toBe(true);
    expect(ends.size).toBeGreaterThanOrEqual(4);
    for (const host of ['trusting', 'plain']) {
      const { body } = await stack.call('GET', `/v3/components/${host}?state_details=true`);
      expect(body).toMatchObject({ error_count: 0, state: [{ status: 'applied', session_name: 'long' }] });
    }
    // Without the renewal it would have been refused in the middle.
    expect(await canLogIn(trusting, join(kept, 'id'))).toBe(false);
  }, 600_000);

  test('no secret of it is in the log, the records and the histories', async () => {
    const key = (await readFile(join(stack.dataDir, 'kept', 'id'), 'utf8')).split('\n')[2] ?? '';
    expect(key.length).toBeGreaterThan(20);
    const { id } = await stack.session('long');
    const logs = await Promise.all(
      ['worker', 'api'].map((name) => readFile(join(stack.dataDir, 'logs', `${name}.log`), 'utf8')),
    );
    const events = await stack.call('GET', '/api/v1/sessions/long/events?limit=1000');
    const histories = await stack.temporal(async (client) => {
      const found: unknown[] = [];
      for await (const { workflowId, runId } of client.workflow.list()) {
        found.push(await client.workflow.getHandle(workflowId, runId).fetchHistory());
      }
      return found;
    });
    expect(histories.length).toBeGreaterThan(1);
    const all = JSON.stringify([logs, events.body, histories, id]);
    expect(all).not.toContain(key);
    expect(all).not.toContain('PRIVATE KEY');
  });

  test('the command line shows certificate and authority', async () => {
    const json = await cli(['trust', 'show', '-o', 'json'], { url: stack.url });
    expect(JSON.parse(json.out)).toMatchObject({
      authorities: [{ replaced_at: null }],
      certificate: { key_id: 'muster', principals: [userInfo().username] },
    });
    const shown = await cli(['trust', 'show'], { url: stack.url });
    expect(shown.out).toMatch(/users +\S+\n[\s\S]*AUTHORITY +SINCE +STATE\nSHA256:\S+ +\S+ +signs\n/);
    const { body } = await stack.call('GET', '/api/v1/trust/ca');
    expect((await cli(['trust', 'ca'], { url: stack.url })).out).toBe(body);
  });
});
