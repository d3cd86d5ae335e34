/** A whole stack whose tenants keep their secrets in Vault. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sshMissing } from '../support/ansible/ssh-server.ts';
import { TENANT_PLAYBOOK } from '../support/ansible/tenant-playbook.ts';
import { startVaultServer, type VaultServer } from '../support/fakes/vault-server.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

describeNeeding(stackMissing() ?? sshMissing(), 'a stack whose tenants keep their secrets in Vault', () => {
  let vault: VaultServer;
  let stack: MusterStack;
  beforeAll(async () => {
    vault = await startVaultServer({ role: 'reads-blue' });
    const jwtFile = join(vault.dir, 'jwt');
    await writeFile(jwtFile, vault.jwt);
    stack = await startMusterStack({
      MUSTER_TENANT_VAULT_URL: vault.url,
      MUSTER_TENANT_VAULT_ROLE: 'reads-{tenant}',
      MUSTER_VAULT_JWT_FILE: jwtFile,
    });
    const repository = await stack.repository('config');
    await repository.commit({ 'site.yml': TENANT_PLAYBOOK });
    await stack.configure('plain', repository.url, ['site.yml'], ['h1']);
    const layers = [{ clone_url: repository.url, playbook: 'site.yml', branch: 'main' }];
    for (const tenant_name of ['blue', 'red']) {
      const { status } = await stack.call('PUT', `/v3/configurations/${tenant_name}`, { layers, tenant_name });
      expect(status).toBe(200);
    }
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await vault?.stop();
  });

  /** What the playbook of a configuration says, and the warnings of its session. */
  const run = async (configuration: string) => {
    const name = await stack.create(`of-${configuration}`, configuration);
    expect((await stack.untilComplete(name)).status.session.succeeded).toBe('true');
    const read = async (what: string) => (await stack.call('GET', `/api/v1/sessions/${name}/${what}?limit=1000`)).body;
    const text = (await read('logs')).logs.map((entry: { text: string }) => entry.text).join('');
    const events: { type: string; message?: string }[] = (await read('events')).events;
    expect(JSON.stringify(events) + text).not.toContain('hvs.');
    return {
      says: /token <.*?> of \d+ at <.*?>/.exec(text)?.[0],
      warnings: events.filter(({ type }) => type === 'warning').map(({ message }) => message),
    };
  };

  test('a tenant’s playbook has its login, masked; others have none, and a login that is refused is a warning', async () => {
    expect(await run('blue')).toEqual({ says: `token <********> of 40 at <${vault.url}>`, warnings: [] });
    expect(await run('plain')).toEqual({ says: 'token <> of 0 at <>', warnings: [] });
    const why = 'Vault, auth/kubernetes/login: it answered 403: permission denied';
    const warnings = [`the session has no VAULT_TOKEN of tenant red: ${why}`];
    expect(await run('red')).toEqual({ says: 'token <> of 0 at <>', warnings });
  }, 600_000);

  test('keys that a killed process left are gone when it begins again', async () => {
    await stack.stop();
    const folders = ['api', 'worker'].map((name) => join(stack.dataDir, 'tmp', name));
    for (const folder of folders) {
      await mkdir(join(folder, 'image-left'), { recursive: true });
      await writeFile(join(folder, 'image-left', 'id_image'), 'a key');
    }
    await stack.start();
    for (const folder of folders) expect(await readdir(folder)).not.toContain('image-left');
  }, 600_000);
});
