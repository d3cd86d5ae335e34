import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CERTIFICATE_SECRET } from '../../control/trust/trust.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { AUTHORITY_SECRET, createLocalSigner } from '../../drivers/trust/local-signer.ts';
import { openSshKeygen } from '../../drivers/trust/ssh-keygen.ts';
import { recordAuthority } from '../../store/trust/trust.ts';
import { sshMissing } from '../support/ansible/ssh-server.ts';
import { describeNeeding } from '../support/requirement.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

describeNeeding(sshMissing(), 'trust', () => {
  test('before there is an authority, hosts are told to ask again, and nothing is shown', async () => {
    const { status, body } = await api.call('GET', '/api/v1/trust/ca');
    expect([status, body.code]).toEqual([404, 'trust_not_ready']);
    const shown = await api.as(api.tokens.reader, 'GET', '/api/v1/trust');
    expect([shown.status, shown.body]).toEqual([200, { authorities: [], certificate: null }]);
  });

  test('the public key is for everybody, the rest for readers, and no secret is anywhere', async () => {
    const { db, secrets } = api.deps;
    const tempDir = await mkdtemp(join(tmpdir(), 'muster-trust-api-'));
    const privateKey = makeSshPrivateKey();
    const keygen = openSshKeygen({ tempDir, searchPath: process.env.PATH ?? '' });
    const signer = createLocalSigner({ keygen, secrets, sshKey: async () => privateKey });
    const [authority, key] = [await signer.authority(), await signer.sessionKey()];
    const request = { publicKey: key.publicKey, keyId: 'muster', principals: ['root'], ttlSeconds: 43_200 };
    await secrets.putAll(CERTIFICATE_SECRET, { certificate: await signer.sign(request) });
    await rm(tempDir, { recursive: true });
    await recordAuthority(db, 'ssh-ed25519 AAAA former', new Date('2026-11-20T10:00:00Z'));
    await recordAuthority(db, authority, new Date('2026-11-21T10:00:00Z'));

    const { status, body, headers } = await api.call('GET', '/api/v1/trust/ca');
    expect([status, headers['content-type'], body]).toEqual([
      200,
      'text/plain; charset=utf-8',
      `${authority}\nssh-ed25519 AAAA former\n`,
    ]);
    const shown = await api.as(api.tokens.reader, 'GET', '/api/v1/trust');
    expect(shown.body).toMatchObject({
      authorities: [
        { public_key: authority, since: '2026-11-21T10:00:00.000Z', replaced_at: null },
        { public_key: 'ssh-ed25519 AAAA former', replaced_at: '2026-11-21T10:00:00.000Z' },
      ],
      certificate: { key_id: 'muster', principals: ['root'], public_key: key.publicKey },
    });
    expect(shown.body.authorities[0].fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    const stored = (await secrets.get(AUTHORITY_SECRET))?.private ?? 'none';
    const lines = [...stored.split('\n'), ...privateKey.split('\n')].filter((line) =>
      /^[A-Za-z0-9+/=]{20,}$/.test(line),
    );
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) expect(JSON.stringify([body, shown.body, api.logged])).not.toContain(line);
    expect((await api.call('GET', '/api/v1/trust')).status).toBe(401);
    expect((await api.as(api.tokens.node, 'GET', '/api/v1/trust')).status).toBe(403);
  });
});
