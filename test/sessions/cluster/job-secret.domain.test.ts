import { describe, expect, test } from '@jest/globals';
import { jobSecret, type SecretDependencies } from '../../../activities/sessions/cluster/job-secret.ts';
import { musterError } from '../../../domain/errors.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';

const SOURCE = {
  name: 'team',
  clone_url: 'https://git.test/a',
  credentials: { secret_name: 'team-password' },
  ca_cert: null,
};
const repository = { url: 'https://git.test/a', commit: 'c'.repeat(40), source: 'team' };

const deps = {
  site: {
    ansibleConfig: async () => '[defaults]\n',
    ssh: async () => ({ privateKey: 'key of the site\n', knownHosts: '' }),
    vaultPassword: async () => 'vault-word',
    masks: async () => [],
    source: async () => SOURCE,
    commonCredentials: async () => ({ username: 'vcs', password: 'vcs-word', hosts: ['git.test'] }),
    repositoryAccess: async (source: unknown) =>
      source === null
        ? { withheld: { code: 'credentials_withheld', detail: 'name the host' } }
        : { credentials: { username: 'team', password: 'team-word' } },
  },
  trust: {
    hasOwnKey: true,
    identity: async () => ({
      privateKey: 'key of trust\n',
      publicKey: 'ssh-ed25519 AAAA trust',
      certificate: 'signed',
      lookAgainMs: 60_000,
      problem: null,
    }),
  },
  publicKeyOf: async () => 'ssh-ed25519 AAAA site',
  imageKeys: { read: async () => ({ privateKey: 'key of images\n' }) },
} as unknown as SecretDependencies;

const session = {
  id: 'a',
  target: { definition: 'image', groups: [] },
  snapshot: { ansible_config: '', layers: [{ index: 0, ...repository }], additional_inventory: null },
} as unknown as SessionRow;

describe('the Secret of a Job', () => {
  test('names the credentials of repositories for the clone alone, and masks what playbooks can come by', async () => {
    const { values } = await jobSecret(deps, session, 'the-token');
    expect(JSON.parse(values['credentials.json'] ?? '')).toEqual([
      expect.objectContaining({ layer: 0, dest: 'layer0', username: 'team', password: 'team-word' }),
    ]);
    const masks = ['the-token', 'vault-word', 'key of the site', 'key of trust', 'key of images'];
    expect(JSON.parse(values['masks.json'] ?? '')).toEqual(masks);
    const cloning = ['credentials.json', 'vcs.json', 'vcs_password'];
    const others = Object.entries(values).filter(([name]) => !cloning.includes(name));
    expect(JSON.stringify(others)).not.toMatch(/team-word|vcs-word/);
    expect(JSON.parse(values['vcs.json'] ?? '')).toEqual({
      username: 'vcs',
      password: 'vcs-word',
      hosts: ['git.test'],
    });
  });

  test('has no common credentials in the entry of a host that they do not go to, and none at all without a host', async () => {
    const plain = {
      ...session,
      snapshot: { ...session.snapshot, layers: [{ index: 0, ...repository, source: null }] },
    };
    const { values } = await jobSecret(deps, plain as SessionRow, 't');
    const [entry] = JSON.parse(values['credentials.json'] ?? '');
    expect(entry).toMatchObject({ withheld: { code: 'credentials_withheld', detail: 'name the host' } });
    expect(values['credentials.json']).not.toContain('vcs-word');
    const commonCredentials = async () => ({ username: 'vcs', password: 'vcs-word', hosts: [] });
    const none = await jobSecret({ ...deps, site: { ...deps.site, commonCredentials } }, plain as SessionRow, 't');
    expect(JSON.stringify(none.values)).not.toContain('vcs-word');
  });

  test('has the public key beside the private one, with a certificate and without', async () => {
    const { values } = await jobSecret(deps, session, 'the-token');
    expect(values).toMatchObject({
      private: 'key of trust\n',
      public: 'ssh-ed25519 AAAA trust\n',
      certificate: 'signed\n',
      certificate_until: '\n',
    });
    const identity = async () => Promise.reject(musterError('trust_unavailable', 'away'));
    const without = await jobSecret({ ...deps, trust: { ...deps.trust, identity } }, session, 'the-token');
    expect(without.values).toMatchObject({ private: 'key of the site\n', public: 'ssh-ed25519 AAAA site\n' });
    expect(without.values).not.toHaveProperty('certificate');
  });

  test.each([
    ["another CA bundle than the platform's", 'CA of the source', { ca: 'CA of the source' }],
    ["the platform's CA bundle, which the pod has beside it", 'CA of the platform', { ca_alone: true }],
  ])('has in the entries of a source %s', async (_what, own, expected) => {
    const site = {
      ...deps.site,
      source: async () => ({ ...SOURCE, ca_cert: { configmap_name: 'ca' } }),
      platformCa: 'CA of the platform',
      repositoryAccess: async () => ({ caPem: own, caAlone: true }),
    } as unknown as SecretDependencies['site'];
    const { values } = await jobSecret({ ...deps, site }, session, 'the-token');
    const [entry] = JSON.parse(values['credentials.json'] ?? '');
    const { ca, ca_alone } = entry;
    expect([{ ca, ca_alone }, values['ca.crt']]).toEqual([expected, 'CA of the platform']);
  });

  describe('has the login of the tenant', () => {
    const tenantVault = { address: 'https://vault.test', tokenOf: async (tenant: string) => `token of ${tenant}` };
    const owned = { ...session, snapshot: { ...session.snapshot, tenant_name: 'blue' } };

    test('whose configuration it is, and masks it', async () => {
      const { values, warnings } = await jobSecret({ ...deps, tenantVault }, owned, 'the-token');
      expect(values.vault_token).toBe('token of blue');
      expect(JSON.parse(values['masks.json'] ?? '')).toContain('token of blue');
      expect(warnings).toEqual([]);
    });
    test('or none where it fails, and says why', async () => {
      const tokenOf = async () => Promise.reject(new Error('Vault, auth/kubernetes/login: it answered 403'));
      const { values, warnings } = await jobSecret({ ...deps, tenantVault: { ...tenantVault, tokenOf } }, owned, 't');
      expect(values.vault_token).toBe('');
      const why = 'the session has no VAULT_TOKEN of tenant blue: Vault, auth/kubernetes/login: it answered 403';
      expect(warnings).toEqual([why]);
    });
    test.each([
      ['a configuration without tenant', { tenantVault }, session],
      ['an installation whose tenants have no Vault', {}, owned],
    ])('not with %s', async (_what, parts, given) => {
      const { values, warnings } = await jobSecret({ ...deps, ...parts }, given as SessionRow, 'the-token');
      expect([values.vault_token, warnings]).toEqual(['', []]);
    });
  });
});
