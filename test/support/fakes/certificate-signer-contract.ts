import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CertificateSigner } from '../../../domain/trust/ports.ts';
import { parseCertificate } from '../../../domain/trust/ssh-certificate.ts';
import { canLogIn } from '../ansible/ssh-login.ts';
import { type SshServer, startSshServer } from '../ansible/ssh-server.ts';

/** What every certificate authority does, proven by an sshd that knows nothing but its public key. */
export function certificateSignerContract(signer: () => CertificateSigner): void {
  const user = userInfo().username;
  let dir: string;
  let server: SshServer;
  let count = 0;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-signer-'));
    server = await startSshServer(join(dir, 'sshd'), { trustedAuthorities: `${await signer().authority()}\n` });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function signed(given: { principals?: string[]; ttlSeconds?: number } = {}) {
    const { privateKey, publicKey } = await signer().sessionKey();
    const request = { publicKey, keyId: 'muster', principals: [user], ttlSeconds: 600, ...given };
    const certificate = await signer().sign(request);
    const keyFile = join(dir, `key${count++}`);
    await writeFile(keyFile, privateKey, { mode: 0o600 });
    await writeFile(`${keyFile}-cert.pub`, `${certificate}\n`);
    return { keyFile, certificate, publicKey };
  }

  test('the authority and the key stay the same, and are lines', async () => {
    const [authority, key] = [await signer().authority(), await signer().sessionKey()];
    expect(authority).toMatch(/^(ssh|ecdsa)-[a-z0-9-]+ [A-Za-z0-9+/=]+( [^\n]*)?$/);
    expect(key.publicKey).toMatch(/^(ssh|ecdsa)-[a-z0-9-]+ [A-Za-z0-9+/=]+( [^\n]*)?$/);
    expect(key.privateKey).toMatch(/^-----BEGIN [A-Z ]*PRIVATE KEY-----\n[\s\S]*\n$/);
    expect(await signer().authority()).toBe(authority);
    expect(await signer().sessionKey()).toEqual(key);
  });

  test('a certificate is one line for the key, the users and the time that were asked for', async () => {
    const before = Date.now();
    const { certificate, publicKey } = await signed({ principals: ['root', 'admin'], ttlSeconds: 43_200 });
    expect(certificate).not.toContain('\n');
    const parsed = parseCertificate(certificate);
    expect(parsed).toMatchObject({
      keyId: 'muster',
      principals: ['root', 'admin'],
      publicKey: publicKey.split(' ').slice(0, 2).join(' '),
      authority: (await signer().authority()).split(' ').slice(0, 2).join(' '),
    });
    expect(parsed?.validAfter).toBeLessThanOrEqual(before);
    expect(Math.abs((parsed?.validBefore ?? 0) - before - 43_200_000)).toBeLessThan(60_000);
  });

  test('the host lets its user in with it, and not with the key alone', async () => {
    const { keyFile } = await signed();
    expect(await canLogIn(server, keyFile)).toBe(true);
    await rm(`${keyFile}-cert.pub`);
    expect(await canLogIn(server, keyFile)).toBe(false);
  });

  test('a certificate for another user is refused', async () => {
    const { keyFile } = await signed({ principals: ['somebody-else'] });
    expect(await canLogIn(server, keyFile)).toBe(false);
  });

  test('one that has ended is refused', async () => {
    for (let ttlSeconds = 3; ; ttlSeconds *= 4) {
      const { keyFile, certificate } = await signed({ ttlSeconds });
      const end = parseCertificate(certificate)?.validBefore ?? 0;
      const isIn = await canLogIn(server, keyFile);
      // On a busy machine a login may take longer than its certificate lasts: another one lasts longer.
      if (!isIn && Date.now() >= end && ttlSeconds < 100) continue;
      expect(isIn).toBe(true);
      await sleep(end - Date.now() + 1_100);
      expect(await canLogIn(server, keyFile)).toBe(false);
      return;
    }
  });

  test('what cannot be signed is refused with the reason', async () => {
    const request = { publicKey: 'no key', keyId: 'muster', principals: [user], ttlSeconds: 60 };
    await expect(signer().sign(request)).rejects.toMatchObject({ code: 'trust_unavailable' });
  });
}
