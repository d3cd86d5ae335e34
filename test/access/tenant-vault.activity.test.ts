import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openTenantVault } from '../../drivers/tenants/tenant-vault.ts';
import { startVaultServer, type VaultServer } from '../support/fakes/vault-server.ts';

let vault: VaultServer;
let dir: string;
let jwtFile: string;
beforeAll(async () => {
  vault = await startVaultServer({ role: 'reads-blue$&' });
  dir = await mkdtemp(join(tmpdir(), 'muster-tenant-vault-'));
  jwtFile = join(dir, 'jwt');
  await writeFile(jwtFile, `${vault.jwt}\n`);
});
afterAll(async () => {
  await vault.stop();
  await rm(dir, { recursive: true, force: true });
});

test('logs in with the role of the tenant', async () => {
  const store = openTenantVault({ url: `${vault.url}/`, role: 'reads-{tenant}', jwtFile });
  expect(await store.tokenOf('blue$&')).toMatch(/^hvs\./);
  await expect(store.tokenOf('red')).rejects.toThrow(
    'Vault, auth/kubernetes/login: it answered 403: permission denied',
  );
});

test('says what is wrong with a Vault that is away, and with a service account without token', async () => {
  const away = openTenantVault({ url: 'http://127.0.0.1:9', role: '{tenant}', jwtFile });
  await expect(away.tokenOf('blue')).rejects.toThrow(/^Vault, auth\/kubernetes\/login: .*ECONNREFUSED/);
  const without = openTenantVault({ url: vault.url, role: '{tenant}', jwtFile: join(dir, 'none') });
  await expect(without.tokenOf('blue')).rejects.toThrow('none: ENOENT');
});
