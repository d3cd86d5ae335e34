/** A whole stack whose certificates Vault signs: hosts that trust it, and hosts that know the installation's own key. */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SshServer, sshMissing, startSshServer } from '../support/ansible/ssh-server.ts';
import { eventually } from '../support/eventually.ts';
import { startVaultServer, type VaultServer } from '../support/fakes/vault-server.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
    - command: "true"
`;

describeNeeding(stackMissing() ?? sshMissing(), 'a stack with Vault', () => {
  let vault: VaultServer;
  let metadata: Server;
  const published: string[] = [];
  let stack: MusterStack;
  const servers: SshServer[] = [];

  beforeAll(async () => {
    vault = await startVaultServer();
    metadata = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      if (request.method !== 'GET') published.push(text);
      response.statusCode = published.length === 0 ? 404 : 200;
      response.end(JSON.stringify(published.slice(-1).map((entry) => JSON.parse(entry))));
    });
    await new Promise<void>((resolve) => {
      metadata.listen(0, '127.0.0.1', resolve);
    });
    stack = await startMusterStack({
      MUSTER_VAULT_URL: vault.url,
      MUSTER_VAULT_JWT_FILE: await jwtFile(),
      MUSTER_TRUST_PRINCIPALS: userInfo().username,
      MUSTER_BOOT_METADATA_URL: `http://127.0.0.1:${(metadata.address() as AddressInfo).port}`,
    });
  }, 600_000);
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await stack?.remove();
    await vault?.stop();
    metadata?.close();
  });

  async function jwtFile(): Promise<string> {
    const file = join(vault.dir, 'jwt');
    await writeFile(file, vault.jwt, { mode: 0o600 });
    return file;
  }

  test('its certificates open the hosts that trust it, and the plain key opens the others, in one session', async () => {
    const authority = await eventually('there is an authority', async () => {
      const { status, body } = await stack.call('GET', '/api/v1/trust/ca');
      return status === 200 ? String(body) : null;
    });
    expect(authority).toMatch(/^ssh-rsa /);
    const trusting = await startSshServer(join(stack.dataDir, 'trusting'), { trustedAuthorities: authority });
    const plain = await startSshServer(join(stack.dataDir, 'plain'));
    servers.push(trusting, plain);
    const value = await readFile(plain.keyFile, 'utf8');
    await stack.call('PUT', '/api/v1/secrets/muster-ssh/private', { value });
    const repository = await stack.repository('plays');
    const python = 'ansible_python_interpreter: "{{ ansible_playbook_python }}"\n';
    await repository.commit({ 'site.yml': PLAYBOOK, 'group_vars/all.yml': python });
    const layers = [{ clone_url: repository.url, playbook: 'site.yml', branch: 'main' }];
    await stack.call('PUT', '/v3/configurations/site', { layers });
    const components = Object.entries({ trusting, plain }).map(([id, { port, user }]) => ({
      id,
      enabled: false,
      tags: { ansible_host: '127.0.0.1', ansible_port: String(port), ansible_user: user },
    }));
    await stack.call('PUT', '/v3/components', components);

    await stack.create('both', 'site');
    const session = await stack.untilComplete('both', 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    for (const id of ['trusting', 'plain']) {
      const { body } = await stack.call('GET', `/v3/components/${id}?state_details=true`);
      expect(body).toMatchObject({ state: [{ status: 'applied', session_name: 'both' }] });
    }
    const secrets = await stack.call('GET', '/api/v1/secrets');
    expect(secrets.body.secrets).toEqual(
      expect.arrayContaining([
        { name: 'cfstrust', keys: ['private', 'public'] },
        { name: 'cfstrustcertificate', keys: ['certificate'] },
      ]),
    );
    expect(published.map((text) => JSON.parse(text))).toEqual([
      { hosts: ['Global'], 'cloud-init': { 'meta-data': { cfs_public_key: authority.trim() } } },
    ]);
  }, 600_000);
});
