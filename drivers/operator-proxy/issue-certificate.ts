/** Certificates of the proxy: Node reads X.509 and cannot issue it. */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bits, identifier, integer, octets, sequence, set, tagged, text, time, truth } from './der.ts';

/** A certificate with its key, both PEM. */
export interface KeyedCertificate {
  certificate: string;
  key: string;
}

const ECDSA_SHA256 = sequence(identifier('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const SUBJECT_KEY = '2.5.29.14';
const KEY_USAGE = '2.5.29.15';
const SUBJECT_NAMES = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const AUTHORITY_KEY = '2.5.29.35';
const EXTENDED_USAGE = '2.5.29.37';
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';

/** Bits of the key usage, first bit first: digitalSignature; keyCertSign and cRLSign. */
const SIGNS_DATA = bits(Buffer.from([0b1000_0000]), 7);
const SIGNS_CERTIFICATES = bits(Buffer.from([0b0000_0110]), 1);
const LONGEST_SERIAL = 16;

interface Subject {
  name: string;
  from: Date;
  until: Date;
}

/** Returns a CA of its own, with what readers that go by RFC 5280 word by word ask for. */
export function issueAuthority(subject: Subject): KeyedCertificate {
  const { publicKey, privateKey } = newKeys();
  const issuer = { name: subject.name, key: privateKey };
  return issue(subject, { publicKey, privateKey }, issuer, [
    extension(BASIC_CONSTRAINTS, sequence(truth(true)), true),
    extension(KEY_USAGE, SIGNS_CERTIFICATES, true),
  ]);
}

/** Returns a certificate for a server on this machine, signed by a CA. */
export function issueForLoopback(subject: Subject, issuer: { name: string; key: KeyObject }): KeyedCertificate {
  const names = sequence(
    tagged(2, false, Buffer.from('localhost')),
    tagged(7, false, Buffer.from([127, 0, 0, 1])),
    tagged(7, false, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
  );
  return issue(subject, newKeys(), issuer, [
    extension(BASIC_CONSTRAINTS, sequence(), true),
    extension(KEY_USAGE, SIGNS_DATA, true),
    extension(EXTENDED_USAGE, sequence(identifier(SERVER_AUTHENTICATION)), false),
    extension(SUBJECT_NAMES, names, false),
  ]);
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

function issue(
  { name, from, until }: Subject,
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  issuer: { name: string; key: KeyObject },
  extensions: Buffer[],
): KeyedCertificate {
  const own = extension(SUBJECT_KEY, octets(keyIdentifier(publicKey)), false);
  const authorityKey = keyIdentifier(createPublicKey(issuer.key));
  const authority = extension(AUTHORITY_KEY, sequence(tagged(0, false, authorityKey)), false);
  const body = sequence(
    tagged(0, true, integer(Buffer.from([2]))),
    integer(serialNumber()),
    ECDSA_SHA256,
    named(issuer.name),
    sequence(time(from), time(until)),
    named(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, true, sequence(...extensions, own, authority)),
  );
  const whole = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, issuer.key)));
  return {
    certificate: pem(whole),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Random, and positive without a byte of padding. */
function serialNumber(): Buffer {
  const bytes = randomBytes(LONGEST_SERIAL);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
}

const named = (name: string): Buffer => sequence(set(sequence(identifier(COMMON_NAME), text(name))));

const extension = (id: string, value: Buffer, critical: boolean): Buffer =>
  sequence(identifier(id), ...(critical ? [truth(true)] : []), octets(value));

/** SHA-1 of the public key: a name for it, no protection. */
function keyIdentifier(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return createHash('sha1').update(point).digest();
}

const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
