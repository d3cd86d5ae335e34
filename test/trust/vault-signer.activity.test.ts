/** Vault as the authority, against a server that answers its calls and signs for real. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { isMusterError } from '../../domain/errors.ts';
import { openSshKeygen } from '../../drivers/trust/ssh-keygen.ts';
import { createVaultSigner, type VaultSignerOptions } from '../../drivers/trust/vault-signer.ts';
import { sshMissing } from '../support/ansible/ssh-server.ts';
import { certificateSignerContract } from '../support/fakes/certificate-signer-contract.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { startVaultServer, type VaultServer } from '../support/fakes/vault-server.ts';
import { freePort } from '../support/free-port.ts';
import { describeNeeding } from '../support/requirement.ts';

const LOGIN = 'POST /v1/auth/kubernetes/login';
const MAKE = 'POST /v1/transit/keys/cfstrust';
const EXPORT = 'GET /v1/transit/export/signing-key/cfstrust';
const SIGN = 'POST /v1/ssh_user_certs_compute/sign/compute';
const CA = 'GET /v1/ssh_user_certs_compute/public_key';

let dir: string;
let jwtFile: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-vault-signer-'));
  jwtFile = join(dir, 'jwt');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function openSigner(options: Pick<VaultSignerOptions, 'url' | 'role'> & Partial<VaultSignerOptions>) {
  const keygen = openSshKeygen({ tempDir: dir, searchPath: process.env.PATH ?? '' });
  return createVaultSigner({ keygen, secrets: createMemorySecretStore(), jwtFile, ...options });
}

describeNeeding(sshMissing(), 'Vault as the authority', () => {
  let vault: VaultServer;
  beforeAll(async () => {
    vault = await startVaultServer();
    await writeFile(jwtFile, `${vault.jwt}\n`);
  });
  afterAll(() => vault.stop());
  beforeEach(() => {
    for (const list of [vault.calls, vault.sent, vault.signatures]) list.length = 0;
  });

  describe('is a certificate authority:', () => {
    let signer: ReturnType<typeof openSigner>;
    beforeAll(() => {
      signer = openSigner(vault);
    });
    certificateSignerContract(() => signer);
  });

  const request = { publicKey: '', keyId: 'muster', principals: ['root'], ttlSeconds: 43_200 };

  test('is asked by the five calls of CFS, and logs in once', async () => {
    const secrets = createMemorySecretStore();
    const signer = openSigner({ ...vault, secrets });
    await signer.authority();
    const { publicKey, privateKey } = await signer.sessionKey();
    await signer.sign({ ...request, publicKey });
    expect(vault.calls).toEqual([LOGIN, MAKE, EXPORT, CA, SIGN]);
    expect(vault.signatures).toEqual([
      { public_key: publicKey, valid_principals: 'root', key_id: 'muster', ttl: '12h' },
    ]);
    expect(await secrets.get('cfstrust')).toEqual({ public: publicKey, private: privateKey });
    expect(publicKey).toMatch(/^ecdsa-sha2-nistp384 /);
  });

  test('a key that is there is used again, and needs no Vault once it is kept', async () => {
    const secrets = createMemorySecretStore();
    const first = await openSigner({ ...vault, secrets }).sessionKey();
    expect(await openSigner(vault).sessionKey()).toEqual(first);
    const away = { url: `http://127.0.0.1:${await freePort()}`, role: vault.role };
    expect(await openSigner({ ...away, secrets }).sessionKey()).toEqual(first);
  });

  test('after an error it logs in anew, 2 s later', async () => {
    const signer = openSigner(vault);
    const { publicKey } = await signer.sessionKey();
    vault.revoke();
    vault.calls.length = 0;
    const before = Date.now();
    await signer.sign({ ...request, publicKey });
    expect(vault.calls).toEqual([SIGN, LOGIN, SIGN]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(1_990);
  });

  test('one that is sealed for longer is told in its own words, without what was sent', async () => {
    vault.fail(503, 3);
    const refusal = await openSigner(vault)
      .authority()
      .catch((error: unknown) => error);
    if (!isMusterError(refusal)) throw refusal;
    expect(refusal).toMatchObject({ code: 'trust_unavailable' });
    expect(refusal.detail).toBe('Vault, auth/kubernetes/login: it answered 503: Vault is sealed');
    expect(refusal.detail).not.toContain(vault.jwt);
    expect(vault.calls).toEqual([LOGIN, LOGIN, LOGIN]);
  });

  test.each([
    ['a wrong role', { role: 'other' }, '403: permission denied'],
    ['no token of a service account', { jwtFile: '/nowhere/jwt' }, '/nowhere/jwt: ENOENT'],
  ])('%s is named', async (_what, given, words) => {
    await expect(openSigner({ ...vault, ...given }).authority()).rejects.toMatchObject({
      code: 'trust_unavailable',
      message: expect.stringContaining(words),
    });
  });
});
