import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isRenewalDue, isUsable, lookAgainAfter } from '../../domain/trust/certificate-renewal.ts';
import { bareKey, parseCertificate, type SshCertificate } from '../../domain/trust/ssh-certificate.ts';

/** Made by ssh-keygen: `-I muster -n root,admin -V 20261121100000Z:20261121220000Z`, an Ed25519 key signed by another one. */
const CERTIFICATE =
  'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIBOFr38pHhrrhi0rRvN0mYsHl+VAzvACTJjbvFDylXIeAAAAINf645mA9VOE3eK05vDMrh0QakQpiGyLadM51d9ao2vyAAAAAAAAAAAAAAABAAAABm11c3RlcgAAABEAAAAEcm9vdAAAAAVhZG1pbgAAAABrAWugAAAAAGsCFGAAAAAAAAAAggAAABVwZXJtaXQtWDExLWZvcndhcmRpbmcAAAAAAAAAF3Blcm1pdC1hZ2VudC1mb3J3YXJkaW5nAAAAAAAAABZwZXJtaXQtcG9ydC1mb3J3YXJkaW5nAAAAAAAAAApwZXJtaXQtcHR5AAAAAAAAAA5wZXJtaXQtdXNlci1yYwAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACBWJGtw4wSr9MfleliqmlUQOYY1ID9l5Tq5C5IiHx2rWgAAAFMAAAALc3NoLWVkMjU1MTkAAABA162gbN0TYBCREvGK8IBRQHhIL/E3gD38Y02LB7Luno2bY37brGspL9kTy6h78hOHLixtFz5uNqqtBKC/ZLsBAA==';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINf645mA9VOE3eK05vDMrh0QakQpiGyLadM51d9ao2vy';
const AUTHORITY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFYka3DjBKv0x+V6WKqaVRA5hjUgP2XlOrkLkiIfHata';
const START = Date.parse('2026-11-21T10:00:00Z');
const HOUR = 3_600_000;

describe('a certificate', () => {
  test('says for whom, by whom, as whom and how long', () => {
    expect(parseCertificate(`${CERTIFICATE} a comment\n`)).toEqual({
      publicKey: KEY,
      authority: AUTHORITY,
      keyId: 'muster',
      principals: ['root', 'admin'],
      validAfter: START,
      validBefore: START + 12 * HOUR,
    });
  });

  test('without end ends never', () => {
    expect(
      parseCertificate(
        'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIIbVyt7ICA8RS3NZRcwa6yXaX1Be3BZneqwAz+rgnHYfAAAAINf645mA9VOE3eK05vDMrh0QakQpiGyLadM51d9ao2vyAAAAAAAAAAAAAAABAAAABm11c3RlcgAAAAgAAAAEcm9vdAAAAAAAAAAA//////////8AAAAAAAAAggAAABVwZXJtaXQtWDExLWZvcndhcmRpbmcAAAAAAAAAF3Blcm1pdC1hZ2VudC1mb3J3YXJkaW5nAAAAAAAAABZwZXJtaXQtcG9ydC1mb3J3YXJkaW5nAAAAAAAAAApwZXJtaXQtcHR5AAAAAAAAAA5wZXJtaXQtdXNlci1yYwAAAAAAAAAAAAAAMwAAAAtzc2gtZWQyNTUxOQAAACBWJGtw4wSr9MfleliqmlUQOYY1ID9l5Tq5C5IiHx2rWgAAAFMAAAALc3NoLWVkMjU1MTkAAABAJyNw4ibjM9sOka81kzoE+uo2KFaz4BVIhfien+6qTk41dVhT4a/bLBfjJSG4UpIirs+SK7oCttfFBlvq95v7CA==',
      ),
    ).toMatchObject({
      validAfter: 0,
      validBefore: Number.POSITIVE_INFINITY,
    });
  });

  test.each([
    ['nothing', ''],
    ['a key', KEY],
    [
      'the certificate of a host',
      'ssh-ed25519-cert-v01@openssh.com AAAAIHNzaC1lZDI1NTE5LWNlcnQtdjAxQG9wZW5zc2guY29tAAAAIIPRZU9qulEC22e/tuTMu1RoouxBPe40yJo9UYa2nQiCAAAAINf645mA9VOE3eK05vDMrh0QakQpiGyLadM51d9ao2vyAAAAAAAAAAAAAAACAAAABm11c3RlcgAAAAgAAAAEcm9vdAAAAAAAAAAA//////////8AAAAAAAAAAAAAAAAAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIFYka3DjBKv0x+V6WKqaVRA5hjUgP2XlOrkLkiIfHataAAAAUwAAAAtzc2gtZWQyNTUxOQAAAEBA75i+fu2ERXcwVrH3vSVe3EsFWJtOSt0myxiYlhU1FQ7rYCqoqEUncnRie2ytnRZw2ADi43w6ykC0RpXXf5QA',
    ],
    ['half of one', CERTIFICATE.slice(0, 200)],
    ['one that calls itself otherwise', CERTIFICATE.replace('ssh-ed25519-cert', 'ssh-rsa-cert')],
    ['one of an unknown type', CERTIFICATE.replace('ssh-ed25519-cert', 'constructor-cert')],
    ['no base64', 'ssh-ed25519-cert-v01@openssh.com ****'],
  ])('%s is none', (_what, line) => {
    expect(parseCertificate(line)).toBeNull();
  });

  test('whatever is read, nothing is thrown', () => {
    const anything = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    fc.assert(
      fc.property(anything, (body) => {
        parseCertificate(`ssh-ed25519-cert-v01@openssh.com ${body}`);
      }),
    );
  });
});

test.each([
  ['ssh-ed25519 AAAA root@host', 'ssh-ed25519 AAAA'],
  [' ssh-ed25519  AAAA\n', 'ssh-ed25519 AAAA'],
])('%j without its comment', (line, bare) => {
  expect(bareKey(line)).toBe(bare);
});

const certificate: SshCertificate = {
  publicKey: 'ssh-ed25519 KEY',
  authority: 'ssh-ed25519 CA',
  keyId: 'muster',
  principals: ['root', 'admin'],
  validAfter: START,
  validBefore: START + 12 * HOUR,
};
const wanted = {
  publicKey: 'ssh-ed25519 KEY muster@host',
  authority: 'ssh-ed25519 CA ca',
  principals: ['admin', 'root'],
  life: 12 * HOUR,
};

describe('a new one is due', () => {
  test.each([
    ['at first', false, certificate, {}, 0],
    ['a moment before half of its life', false, certificate, {}, 6 * HOUR - 1],
    ['at half of its life', true, certificate, {}, 6 * HOUR],
    ['after its end', true, certificate, {}, 13 * HOUR],
    ['when there is none', true, null, {}, 0],
    ['for another key', true, certificate, { publicKey: 'ssh-ed25519 OTHER' }, 0],
    ['of another authority', true, certificate, { authority: 'ssh-ed25519 OTHER' }, 0],
    ['for one user more', true, certificate, { principals: ['root', 'admin', 'ada'] }, 0],
    ['for one user less', true, certificate, { principals: ['root'] }, 0],
    ['for another user', true, certificate, { principals: ['root', 'ada'] }, 0],
    ['not for one that has no end', false, { ...certificate, validBefore: Number.POSITIVE_INFINITY }, {}, 1e6 * HOUR],
  ])('%s: %s', (_when, due, given, change, after) => {
    expect(isRenewalDue(given, { ...wanted, ...change }, START + after)).toBe(due);
  });
});

test.each([
  [true, certificate, wanted.publicKey, 12 * HOUR - 1],
  [false, certificate, wanted.publicKey, 12 * HOUR],
  [false, certificate, 'ssh-ed25519 OTHER', 0],
  [false, null, wanted.publicKey, 0],
])('usable: %s', (usable, given, key, after) => {
  expect(isUsable(given, key, START + after)).toBe(usable);
});

test('a run looks again when it is due, each 10 minutes at least, and never in a loop', () => {
  const at = (after: number) => lookAgainAfter(certificate, wanted.life, START + after);
  expect(at(0)).toBe(600_000);
  expect(at(6 * HOUR - 5_000)).toBe(5_000);
  expect(at(6 * HOUR - 100)).toBe(250);
  expect(at(6 * HOUR)).toBe(60_000);
  expect(at(20 * HOUR)).toBe(60_000);
  fc.assert(
    fc.property(fc.integer({ min: 4_000, max: 30 * 24 * HOUR }), fc.nat(), (life, after) => {
      const pause = lookAgainAfter({ ...certificate, validBefore: START + life }, life, START + after);
      expect(pause).toBeGreaterThanOrEqual(250);
      expect(pause).toBeLessThanOrEqual(600_000);
      // Whoever looks then finds it due while half of it is left, but for the shortest pause.
      if (after < life / 2) expect(after + pause).toBeLessThanOrEqual(life / 2 + 250);
    }),
  );
});
