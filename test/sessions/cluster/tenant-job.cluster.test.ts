import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TENANT_PLAYBOOK } from '../../support/ansible/tenant-playbook.ts';
import { startVaultServer, type VaultServer } from '../../support/fakes/vault-server.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';

let vault: VaultServer;
let cluster: ClusterStack;
beforeAll(async () => {
  vault = await startVaultServer({ role: 'reads-blue' });
  const jwtFile = join(vault.dir, 'jwt');
  await writeFile(jwtFile, vault.jwt);
  cluster = await startClusterStack({
    MUSTER_TENANT_VAULT_URL: vault.url,
    MUSTER_TENANT_VAULT_ROLE: 'reads-{tenant}',
    MUSTER_VAULT_JWT_FILE: jwtFile,
  });
}, 600_000);
afterAll(async () => {
  await cluster?.remove();
  await vault?.stop();
}, 240_000);

test('a Job of a tenant’s configuration has the tenant’s login, which shows nowhere', async () => {
  const { stack } = cluster;
  const repository = await stack.repository('config');
  await repository.commit({ 'site.yml': TENANT_PLAYBOOK });
  const url = cluster.repositoryUrl('config');
  await stack.configure('plain', url, ['site.yml'], ['h1']);
  const layers = [{ clone_url: url, playbook: 'site.yml', branch: 'main' }];
  expect((await stack.call('PUT', '/v3/configurations/owned', { layers, tenant_name: 'blue' })).status).toBe(200);
  await stack.create('job-of-tenant', 'owned');
  const session = await stack.untilComplete('job-of-tenant', 240_000);
  expect(session.status.session.succeeded).toBe('true');
  const { body } = await stack.call('GET', '/api/v1/sessions/job-of-tenant/logs?limit=1000');
  const text = body.logs.map((entry: { text: string }) => entry.text).join('');
  expect(text).toContain(`token <********> of 40 at <${vault.url}>`);
  expect(text).not.toContain('hvs.');
  const job = await cluster.namespace.kubectl(['get', 'job', session.status.session.job, '--output', 'json']);
  expect(job).not.toContain('hvs.');
}, 480_000);
