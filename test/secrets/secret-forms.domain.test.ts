import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { checkSecretForm } from '../../control/secrets/secret-forms.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const PKCS8 = RSA.export({ type: 'pkcs8', format: 'pem' }).toString();
const LOCKED = RSA.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' }).toString();

/** OpenSSH's own format, as ssh-keygen writes it. */
function openssh(cipher: string, cut = 0): string {
  const part = (content: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, content.length]), content]);
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[cipher, cipher === 'none' ? 'none' : 'bcrypt', ''].map((word) => part(Buffer.from(word))),
    Buffer.from([0, 0, 0, 1]),
    part(Buffer.alloc(51, 1)),
    part(Buffer.alloc(136, 2)),
  ]);
  const text = bytes.subarray(0, bytes.length - cut).toString('base64');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${text.match(/.{1,70}/g)?.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

test.each([
  ['muster-ssh', 'private', makeSshPrivateKey()],
  ['muster-ssh', 'private', PKCS8],
  ['muster-ssh', 'private', openssh('none')],
  ['muster-ssh', 'private', openssh('none').trimEnd()],
  [
    'muster-ssh',
    'known_hosts',
    '# a comment\n\nhost,10.0.0.1 ssh-ed25519 AAAAC3Nz\n|1|a=|b= ecdsa-sha2-nistp256 AAAA comment\n@cert-authority *.x ssh-rsa AAAA',
  ],
  ['muster-ssh-ca', 'private', PKCS8],
  ['muster-idempotency', 'key', 'a1'.repeat(32)],
  ['vcs-user-credentials', 'vcs_password', 'any thing\n'],
  ['vcs-user-credentials', 'of the site', ''],
  ['of-the-site', 'private', 'x'],
  ['constructor', 'toString', 'x'],
  ['muster-ssh', 'constructor', 'x'],
])('%s %s takes what has its form', (name, key, value) => {
  expect(() => checkSecretForm(name, key, value)).not.toThrow();
});

test.each([
  ['muster-ssh', 'private', 'x', /a private key as ssh-keygen writes it/],
  ['muster-ssh', 'private', '', /a private key/],
  ['muster-ssh', 'private', PKCS8.replace(/\n.*\n/, '\n'), /cut or damaged/],
  ['muster-ssh', 'private', LOCKED, /without passphrase/],
  ['muster-ssh', 'private', openssh('aes256-ctr'), /without passphrase/],
  ['muster-ssh', 'private', openssh('none', 40), /cut or damaged/],
  ['muster-ssh', 'known_hosts', 'host ssh-rsa AAAA\nnonsense', /line 2 is none/],
  ['muster-ssh-ca', 'private', 'x', /a private key/],
  ['muster-ssh-ca', 'public', 'x', /a public key/],
  ['cfstrust', 'private', 'x', /a private key/],
  ['cfstrustcertificate', 'certificate', 'x', /a certificate/],
  ['muster-idempotency', 'key', 'x', /64 hexadecimal digits/],
  ['vcs-user-credentials', 'vcs_username', '', /one line that is not empty/],
  ['vcs-user-credentials', 'vcs_password', 'a\nb', /one line/],
])('%s %s refuses another form, and never shows it', (name, key, value, said) => {
  const refused = () => checkSecretForm(name, key, value);
  expect(refused).toThrow(said);
  expect(refused).toThrow(expect.objectContaining({ code: 'secret_malformed', field: 'value' }));
});
