import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createSiteValues, ensureSiteValues } from '../../control/configurations/site-values.ts';
import type { Source } from '../../domain/configurations/schema.ts';
import type { ConfigMaps, SecretStore } from '../../domain/secrets/ports.ts';
import { openConfigMaps } from '../../drivers/secrets/config-maps.ts';
import { openSshFiles } from '../../drivers/secrets/ssh-files.ts';
import { insertSource } from '../../store/configurations/sources.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
let dir: string;
let count = 0;
let secrets: SecretStore;
let configMaps: ConfigMaps;
let site: ReturnType<typeof createSiteValues>;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'muster-site-'));
});
afterAll(async () => {
  await database.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  const own = join(dir, String(count++));
  secrets = createMemorySecretStore();
  configMaps = openConfigMaps(join(own, 'maps'));
  site = createSiteValues({
    db: database.db,
    secrets,
    configMaps,
    sshFiles: openSshFiles(join(own, 'ssh')),
    platformCa: 'platform CA',
  });
});

const source = (given: Partial<Source> = {}): Source => ({
  name: 'gitea',
  clone_url: 'https://git.test/plays.git',
  credentials: { authentication_method: 'password', secret_name: 'source-gitea' },
  last_updated: '2026-11-21T10:00:00Z',
  ca_cert: null,
  ...given,
});
const URL = 'https://git.test/plays.git';
const withKey = () => secrets.put('muster-ssh', 'private', 'KEY');

test('a new installation gets a key and the shipped ansible.cfg once; what is there stays', async () => {
  const ensure = (text: string) =>
    ensureSiteValues({
      db: database.db,
      secrets,
      configMaps,
      makeSshKey: () => `key of ${text}`,
      shippedAnsibleConfig: text,
    });
  await ensure('one');
  await ensure('two');
  expect(await site.ansibleConfig('cfs-default-ansible-cfg')).toBe('one');
  expect(await site.ssh()).toEqual({ privateKey: 'key of one\n', knownHosts: '' });
});

test('known hosts that were set first leave room for the key', async () => {
  await secrets.put('muster-ssh', 'known_hosts', 'git.test ssh-ed25519 AAAA');
  await ensureSiteValues({ db: database.db, secrets, configMaps, makeSshKey: () => 'KEY', shippedAnsibleConfig: '' });
  expect(await site.ssh()).toEqual({ privateKey: 'KEY\n', knownHosts: 'git.test ssh-ed25519 AAAA' });
});

test('of several processes that start at once one makes the key', async () => {
  const made: string[] = [];
  const makeSshKey = () => {
    made.push(`key ${made.length}`);
    return made.at(-1) ?? '';
  };
  const slow: SecretStore = {
    ...secrets,
    get: async (name) => {
      const found = await secrets.get(name);
      await new Promise((resolve) => setImmediate(resolve));
      return found;
    },
  };
  const start = () =>
    ensureSiteValues({ db: database.db, secrets: slow, configMaps, makeSshKey, shippedAnsibleConfig: '' });
  await Promise.all(Array.from({ length: 4 }, start));
  expect(made).toEqual(['key 0']);
});

describe('a value that is missing is named', () => {
  const missing = (name: string) => ({ code: 'config_missing', message: expect.stringContaining(name) });
  test.each([
    ['an ansible.cfg', () => site.ansibleConfig('special-cfg'), 'special-cfg'],
    ['the ssh key', () => site.ssh(), 'muster-ssh'],
    ['the ssh key of a clone', () => site.repositoryAccess(null, 'ssh://git@git.test/plays.git'), 'muster-ssh'],
  ])('%s', async (_title, read, name) => {
    await expect(read()).rejects.toMatchObject(missing(name));
  });

  test('the secret of a source', async () => {
    await expect(site.repositoryAccess(source(), URL)).rejects.toMatchObject(missing('source-gitea'));
  });

  test('the CA of a source', async () => {
    await secrets.putAll('source-gitea', { username: 'u', password: 'p' });
    const named = source({ ca_cert: { configmap_name: 'own-ca' } });
    await expect(site.repositoryAccess(named, URL)).rejects.toMatchObject(missing('own-ca'));
  });
});

describe('access to a repository', () => {
  test('needs no credentials where everybody may read', async () => {
    expect(await site.repositoryAccess(null, URL)).toEqual({ caPem: 'platform CA', caAlone: false });
  });

  test('without a source has the common credentials, where their host is named', async () => {
    const common = { vcs_username: 'user\n', vcs_password: 'word\n' };
    await secrets.putAll('vcs-user-credentials', common);
    expect(await site.repositoryAccess(null, URL)).toMatchObject({
      withheld: { code: 'credentials_withheld', detail: expect.stringContaining('vcs_hosts=git.test') },
    });
    expect(await site.repositoryAccess(null, URL)).not.toHaveProperty('credentials');
    await secrets.putAll('vcs-user-credentials', { ...common, vcs_hosts: 'other.test,\n GIT.test.' });
    expect(await site.repositoryAccess(null, URL)).toMatchObject({
      credentials: { username: 'user', password: 'word' },
    });
    expect(await site.commonCredentials()).toMatchObject({ hosts: ['other.test', 'GIT.test.'] });
  });

  test('whose host is that of a source has the common ones too', async () => {
    await secrets.putAll('vcs-user-credentials', { vcs_username: 'user', vcs_password: 'word' });
    const record = source({ name: 'named', clone_url: 'https://named.test:8443/a.git' });
    await insertSource(database.db, record, new Date(), null);
    const other = await site.repositoryAccess(null, 'https://named.test:8443/b.git');
    expect(other).toMatchObject({ credentials: { username: 'user', password: 'word' } });
    expect(await site.repositoryAccess(null, 'https://named.test/b.git')).not.toHaveProperty('credentials');
  });

  test("of a source has that source's credentials and CA on the source's own server, and no other one", async () => {
    await secrets.putAll('vcs-user-credentials', { vcs_username: 'common', vcs_password: 'common' });
    await secrets.putAll('source-gitea', { username: 'u', password: 'p' });
    await configMaps.put('services', 'own-ca', 'ca.crt', 'own CA');
    await configMaps.put('other', 'own-ca', 'ca.crt', 'CA of another namespace');
    const own = source({ ca_cert: { configmap_name: 'own-ca' } });
    expect(await site.repositoryAccess(own, URL)).toMatchObject({
      credentials: { username: 'u', password: 'p' },
      caPem: 'own CA',
      caAlone: true,
    });
    const elsewhere = await site.repositoryAccess(own, 'https://elsewhere.test/plays.git');
    expect(elsewhere).toMatchObject({
      withheld: { code: 'credentials_withheld' },
      caPem: 'platform CA',
      caAlone: false,
    });
    expect(JSON.stringify(elsewhere)).not.toContain('"p"');
    const other = source({ ca_cert: { configmap_name: 'own-ca', configmap_namespace: 'other' } });
    expect((await site.repositoryAccess(other, URL)).caPem).toBe('CA of another namespace');
  });

  test.each([
    ['only a password', { vcs_password: 'word' }, 'it has no vcs_username'],
    ['only a user', { vcs_username: 'user', vcs_hosts: 'git.test' }, 'it has no vcs_password'],
    ['an empty password', { vcs_username: 'user', vcs_password: ' \n' }, 'it has no vcs_password'],
    [
      'a password of two lines',
      { vcs_username: 'user', vcs_password: 'one\ntwo' },
      'its vcs_password has several lines',
    ],
    ['nothing but hosts', { vcs_hosts: 'git.test' }, 'it has no vcs_username'],
  ])('with %s is as without, and says what is missing when a server asks', async (_title, values, lacks) => {
    await secrets.putAll('vcs-user-credentials', values);
    expect(await site.repositoryAccess(null, URL)).toMatchObject({
      withheld: { code: 'repository_auth_failed', detail: expect.stringContaining(lacks) },
    });
    expect(await site.repositoryAccess(null, 'file:///srv/plays')).toEqual({});
    expect(await site.commonCredentials()).toBeNull();
  });

  test('of a source with half a secret is as without', async () => {
    await secrets.putAll('source-gitea', { username: 'u', password: '' });
    expect(await site.repositoryAccess(source(), URL)).toMatchObject({
      withheld: { code: 'repository_auth_failed', detail: expect.stringContaining('source gitea') },
    });
  });

  test('reads only what its scheme needs', async () => {
    const git = source({ clone_url: 'ssh://git@git.test/plays.git', ca_cert: { configmap_name: 'none' } });
    await withKey();
    const access = await site.repositoryAccess(git, git.clone_url);
    expect(Object.keys(access).sort()).toEqual(['knownHostsFile', 'sshKeyFile']);
    expect(await site.repositoryAccess(source(), 'file:///srv/plays')).toEqual({});
  });

  test('may be asked for several times at once', async () => {
    await withKey();
    const ask = () => site.repositoryAccess(null, 'git@git.test:plays.git');
    const answers = await Promise.all(Array.from({ length: 4 }, ask));
    expect(new Set(answers.map(({ sshKeyFile }) => sshKeyFile)).size).toBe(1);
  });
});

test('the password of vaults is optional, and its key has any name', async () => {
  expect(await site.vaultPassword()).toBeNull();
  await secrets.put('ansible-vault-password', 'value', 'word');
  expect(await site.vaultPassword()).toBe('word');
  await secrets.put('ansible-vault-password', 'password', 'better');
  expect(await site.vaultPassword()).toBe('better');
  // Beside an empty password file Ansible refuses every playbook.
  await secrets.put('ansible-vault-password', 'password', ' \n');
  expect(await site.vaultPassword()).toBeNull();
});

test('every secret value is masked, no name of a user and no host', async () => {
  await secrets.putAll('muster-ssh', { private: 'KEY\n', known_hosts: 'a ssh-ed25519 AAAA' });
  await secrets.putAll('cfstrust', { private: 'TRUSTED', public: 'ecdsa-sha2-nistp384 AAAA' });
  await secrets.putAll('vcs-user-credentials', { vcs_username: 'admin', vcs_password: ' word1 ' });
  await secrets.putAll('source-gitea', { username: 'gitea', password: 'word2' });
  await secrets.put('ansible-vault-password', 'password', 'word3');
  await secrets.put('unrelated', 'password', 'word4');
  expect((await site.masks([source()])).sort()).toEqual(['KEY', 'TRUSTED', 'word1', 'word2', 'word3']);
});
