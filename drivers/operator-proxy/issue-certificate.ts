/** Certificates of the proxy: Node reads X.509 and cannot issue it. The library is loaded where one is issued, which is seldom. */
import { randomBytes, webcrypto } from 'node:crypto';

/** A certificate with its key, both PEM. */
export interface KeyedCertificate {
  certificate: string;
  key: string;
}

export interface IssuedCertificates {
  /** Certificate of the CA, PEM; its key is used once and not kept. */
  ca: string;
  server: KeyedCertificate;
}

interface Validity {
  from: Date;
  until: Date;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const SERIAL_BYTES = 16;

/** Returns a CA of its own and a certificate of it for a server on this machine, with what readers ask for that go by RFC 5280 word by word. */
export async function issueForLoopback(authority: string, { from, until }: Validity): Promise<IssuedCertificates> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const valid = { notBefore: from, notAfter: until, signingAlgorithm: ALGORITHM };
  const issuer = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...valid,
      name: `CN=${authority}`,
      keys: issuer,
      serialNumber: serialNumber(),
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  const own = await newKeys();
  const server = await x509.X509CertificateGenerator.create(
    {
      ...valid,
      subject: 'CN=localhost',
      issuer: ca.subject,
      publicKey: own.publicKey,
      signingKey: issuer.privateKey,
      serialNumber: serialNumber(),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
          { type: 'ip', value: '::1' },
        ]),
        await x509.SubjectKeyIdentifierExtension.create(own.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  const key = new Uint8Array(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
  return {
    ca: `${ca.toString('pem')}\n`,
    server: { certificate: `${server.toString('pem')}\n`, key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n` },
  };
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey({ name: ALGORITHM.name, namedCurve: ALGORITHM.namedCurve }, true, ['sign', 'verify']);

/** Random, and positive without a byte of padding. */
function serialNumber(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}
