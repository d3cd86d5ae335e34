import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { AUTHORITY_SECRET, createLocalSigner } from '../../drivers/trust/local-signer.ts';
import { openSshKeygen } from '../../drivers/trust/ssh-keygen.ts';
import { canLogIn } from '../support/ansible/ssh-login.ts';
import { sshMissing, startSshServer } from '../support/ansible/ssh-server.ts';
import { certificateSignerContract } from '../support/fakes/certificate-signer-contract.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { describeNeeding } from '../support/requirement.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-local-signer-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function openSigner(secrets = createMemorySecretStore(), privateKey = makeSshPrivateKey()) {
  const keygen = openSshKeygen({ tempDir: dir, searchPath: process.env.PATH ?? '' });
  return createLocalSigner({ keygen, secrets, sshKey: async () => privateKey });
}

describeNeeding(sshMissing(), 'an authority of the installation', () => {
  const secrets = createMemorySecretStore();
  let signer: ReturnType<typeof openSigner>;
  beforeAll(() => {
    signer = openSigner(secrets);
  });

  describe('is a certificate authority:', () => certificateSignerContract(() => signer));

  test('is kept as a secret, and found again', async () => {
    const authority = await signer.authority();
    expect(await secrets.get(AUTHORITY_SECRET)).toEqual({
      public: authority,
      private: expect.stringMatching(/^-----BEGIN OPENSSH PRIVATE KEY-----\n/),
    });
    expect(await openSigner(secrets).authority()).toBe(authority);
  });

  test('whose private key is set anew has the public key that belongs to it', async () => {
    const own = createMemorySecretStore();
    const before = await openSigner(own).authority();
    const { privateKey, publicKey } = await openSshKeygen({
      tempDir: dir,
      searchPath: process.env.PATH ?? '',
    }).makeKeyPair('other');
    await own.put(AUTHORITY_SECRET, 'private', privateKey.trimEnd());
    const after = await openSigner(own).authority();
    expect(after).not.toBe(before);
    expect(after).toBe(publicKey);
    expect(await own.get(AUTHORITY_SECRET)).toEqual({ private: privateKey, public: publicKey });
  });

  test('signs the key that is there now', async () => {
    const keys = [makeSshPrivateKey(), makeSshPrivateKey()];
    let now = 0;
    const keygen = openSshKeygen({ tempDir: dir, searchPath: process.env.PATH ?? '' });
    const changing = createLocalSigner({ keygen, secrets, sshKey: async () => keys[now] ?? '' });
    const first = await changing.sessionKey();
    now = 1;
    expect((await changing.sessionKey()).publicKey).not.toBe(first.publicKey);
  });

  test('leaves no file behind, also when it fails', async () => {
    await expect(openSigner(secrets, 'no key\n').sessionKey()).rejects.toMatchObject({ code: 'trust_unavailable' });
    expect(await readdir(dir)).toEqual([]);
  });

  test('a certificate of another authority is refused', async () => {
    const user = userInfo().username;
    const own = await mkdtemp(join(tmpdir(), 'muster-foreign-'));
    const server = await startSshServer(join(own, 'sshd'), { trustedAuthorities: `${await signer.authority()}\n` });
    try {
      const { privateKey, publicKey } = await signer.sessionKey();
      const request = { publicKey, keyId: 'muster', principals: [user], ttlSeconds: 60 };
      await writeFile(join(own, 'key'), privateKey, { mode: 0o600 });
      await writeFile(join(own, 'key-cert.pub'), `${await openSigner().sign(request)}\n`);
      expect(await canLogIn(server, join(own, 'key'))).toBe(false);
      await writeFile(join(own, 'key-cert.pub'), `${await signer.sign(request)}\n`);
      expect(await canLogIn(server, join(own, 'key'))).toBe(true);
    } finally {
      await server.stop();
      await rm(own, { recursive: true, force: true });
    }
  });
});

test('a machine without ssh-keygen is told which package it needs', async () => {
  const keygen = openSshKeygen({ tempDir: dir, searchPath: '/nowhere' });
  const signer = createLocalSigner({ keygen, secrets: createMemorySecretStore(), sshKey: async () => 'key' });
  await expect(signer.authority()).rejects.toMatchObject({
    code: 'trust_unavailable',
    message: expect.stringContaining('openssh-client'),
  });
});
