import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { authorityLines, CERTIFICATE_SECRET, createTrust, type TrustDependencies } from '../../control/trust/trust.ts';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { parseCertificate } from '../../domain/trust/ssh-certificate.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { AUTHORITY_SECRET, createLocalSigner } from '../../drivers/trust/local-signer.ts';
import { openSshKeygen } from '../../drivers/trust/ssh-keygen.ts';
import { listAuthorities } from '../../store/trust/trust.ts';
import { sshMissing } from '../support/ansible/ssh-server.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';

const TTL = 43_200;
const HOUR = 3_600_000;

let database: TestDatabase;
let tempDir: string;
let secrets: SecretStore;
let privateKey: string;
/** How far the clock is ahead. */
let ahead: number;
let signatures: number;
beforeAll(async () => {
  tempDir = await mkdtemp(join(tmpdir(), 'muster-trust-store-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.close();
  await rm(tempDir, { recursive: true, force: true });
});
beforeEach(() => {
  secrets = createMemorySecretStore();
  privateKey = makeSshPrivateKey();
  ahead = 0;
  signatures = 0;
});
afterEach(() => database.db.deleteFrom('trust_authorities').execute());

/** Trust as one process has it. */
function openTrust(instead: Partial<TrustDependencies> & { isAway?: () => boolean } = {}) {
  const keygen = openSshKeygen({ tempDir, searchPath: process.env.PATH ?? '' });
  const local = createLocalSigner({ keygen, secrets, sshKey: async () => privateKey });
  const { isAway = () => false, ...rest } = instead;
  return createTrust({
    db: database.db,
    secrets,
    signer: {
      ...local,
      sign: async (request) => {
        if (isAway()) throw musterError('trust_unavailable', 'Vault is sealed');
        signatures += 1;
        return local.sign(request);
      },
    },
    principals: ['root'],
    ttlSeconds: TTL,
    clock: () => new Date(Date.now() + ahead),
    ...rest,
  });
}

describeNeeding(sshMissing(), 'trust', () => {
  test('processes that start at the same moment make one authority and one certificate', async () => {
    const answers = await Promise.all(
      [openTrust(), openTrust(), openTrust()].flatMap((trust) => [trust.renew(), trust.identity(), trust.identity()]),
    );
    expect(answers).toHaveLength(9);
    expect(signatures).toBe(1);
    const [authority, ...others] = await listAuthorities(database.db);
    expect(others).toEqual([]);
    expect(authority?.public_key).toBe((await secrets.get(AUTHORITY_SECRET))?.public);
    const certificate = parseCertificate((await secrets.get(CERTIFICATE_SECRET))?.certificate ?? '');
    expect(authority?.public_key).toContain(certificate?.authority);
  });

  test('is used until half of it is over, also by a process that starts later', async () => {
    const first = await openTrust().identity();
    expect(first.problem).toBeNull();
    ahead = 5.9 * HOUR;
    expect((await openTrust().identity()).certificate).toBe(first.certificate);
    ahead = 6.1 * HOUR;
    const second = await openTrust().identity();
    expect(second.certificate).not.toBe(first.certificate);
    expect(second.privateKey).toBe(first.privateKey);
    expect(signatures).toBe(2);
  });

  test('a key that somebody sets anew gets a certificate at once', async () => {
    const trust = openTrust();
    const first = await trust.identity();
    privateKey = makeSshPrivateKey();
    const second = await trust.identity();
    expect(second.privateKey).toBe(privateKey);
    expect(parseCertificate(second.certificate)?.publicKey).not.toBe(parseCertificate(first.certificate)?.publicKey);
  });

  test('while the authority is away, what is valid is used, with the reason; then nothing is', async () => {
    const { certificate } = await openTrust().identity();
    const away = openTrust({ isAway: () => true });
    ahead = 11 * HOUR;
    expect(await away.identity()).toMatchObject({ certificate, problem: 'Vault is sealed' });
    await expect(away.renew()).rejects.toThrow('Vault is sealed');
    ahead = 13 * HOUR;
    await expect(away.identity()).rejects.toMatchObject({ code: 'trust_unavailable' });
  });

  test('one failure is not the last word', async () => {
    let isAway = true;
    const trust = openTrust({ isAway: () => isAway });
    await expect(trust.identity()).rejects.toMatchObject({ code: 'trust_unavailable' });
    isAway = false;
    expect(parseCertificate((await trust.identity()).certificate)).toMatchObject({ principals: ['root'] });
  });

  test('a metadata service that is away keeps no certificate from being made', async () => {
    const metadata = { publishAuthority: () => Promise.reject(new Error('metadata are away')) };
    await expect(openTrust({ metadata }).renew()).rejects.toThrow('metadata are away');
    const { certificate } = (await secrets.get(CERTIFICATE_SECRET)) ?? {};
    expect(parseCertificate(certificate ?? '')).toMatchObject({ principals: ['root'] });
  });

  test('another authority signs at once, and the one before is still published', async () => {
    await openTrust().renew();
    const former = (await secrets.get(AUTHORITY_SECRET))?.public;
    await secrets.delete(AUTHORITY_SECRET);
    const published: string[] = [];
    const metadata = { publishAuthority: async (keys: string) => published.push(keys) > 0 };
    expect(await openTrust({ metadata }).renew()).toMatchObject({ published: true });
    const now = (await secrets.get(AUTHORITY_SECRET))?.public;
    expect(now).not.toBe(former);
    expect(await authorityLines(database.db)).toBe(`${now}\n${former}\n`);
    expect(published).toEqual([`${now}\n${former}\n`]);
    ahead = 13 * HOUR;
    await openTrust({ metadata }).renew();
    expect(published[1]).toBe(`${now}\n`);
    const certificate = parseCertificate((await secrets.get(CERTIFICATE_SECRET))?.certificate ?? '');
    expect(now).toContain(certificate?.authority);
  });
});
