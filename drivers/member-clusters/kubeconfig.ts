/** Reads kubeconfigs by a parser of its own: a client library would run the commands and read the files that they name. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { parseDocument } from 'yaml';
import { type ClusterCredential, credentialOf, KUBECONFIG_MAX } from '../../domain/deployments/kubeconfig.ts';
import type { ReadKubeconfig } from '../../domain/deployments/ports.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { ClusterAddresses } from './addresses.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** How deep lists and maps may be in each other; a kubeconfig has 5 levels. */
const DEPTH_MAX = 50;
const MANY_ENTRIES = /([-?:][ \t]+){50}/;
/** The largest time that a date can hold, ms. */
const LAST_DATE_MS = 8.64e15;

export function openKubeconfigs(addresses: ClusterAddresses): ReadKubeconfig {
  return async (bytes) => {
    const credential = credentialOf(parsed(bytes));
    const { user } = credential;
    checkCertificates(credential);
    await addresses.check(new URL(credential.server));
    return { credential, endsAt: 'token' in user ? endOfToken(user.token) : endOfCertificate(user.certificate) };
  };
}

/** Returns the text of a base64 member. Throws `invalid_kubeconfig`. */
export function pemOf(base64: string, field: string): string {
  const text = base64.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw invalid('It is no base64', field);
  return Buffer.from(text, 'base64').toString('latin1');
}

/** What is wrong is told without the words of the parser, which quote what they read. */
function parsed(bytes: Uint8Array): unknown {
  if (bytes.byteLength > KUBECONFIG_MAX) throw invalid(`It is larger than ${KUBECONFIG_MAX} bytes`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (isDeep(text)) throw invalid('It is nested too deeply');
    const document = parseDocument(text, { schema: 'core', logLevel: 'silent' });
    if (document.errors.length + document.warnings.length > 0) throw invalid('It is no plain YAML or JSON');
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (isMusterError(error)) throw error;
    throw invalid('It is no plain YAML or JSON: aliases, tags of its own and endless nesting are refused');
  }
}

/** A parser's time grows with the square of the depth, and other requests wait for it. */
function isDeep(text: string): boolean {
  if (MANY_ENTRIES.test(text)) return true;
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}

function checkCertificates({ certificateAuthority, user }: ClusterCredential): void {
  if (certificateAuthority !== null) {
    certificatesOf(certificateAuthority, 'clusters.certificate-authority-data');
  }
  if ('token' in user) return;
  const [own] = certificatesOf(user.certificate, 'users.client-certificate-data');
  const key = pemOf(user.key, 'users.client-key-data');
  const isOwn = () => own?.checkPrivateKey(createPrivateKey(key)) ?? false;
  if (!attempt(isOwn, 'users.client-key-data'))
    throw invalid('The key is not that of the certificate', 'users.client-key-data');
  // OpenSSL has rules of its own, such as the length of keys.
  attempt(() => createSecureContext({ cert: pemOf(user.certificate, ''), key }), 'users.client-certificate-data');
}

function certificatesOf(base64: string, field: string): X509Certificate[] {
  const found = pemOf(base64, field).match(PEM) ?? [];
  if (found.length === 0) throw invalid('It holds no certificate', field);
  return found.map((pem) => attempt(() => new X509Certificate(pem), field));
}

function attempt<T>(work: () => T, field: string): T {
  try {
    return work();
  } catch {
    throw invalid('Certificate or key cannot be read', field);
  }
}

function endOfCertificate(base64: string): Date | null {
  return certificatesOf(base64, 'users.client-certificate-data')[0]?.validToDate ?? null;
}

/** A token that is a JWT says when it ends. */
function endOfToken(token: string): Date | null {
  const [, claims, ...more] = token.split('.');
  if (claims === undefined || more.length !== 1) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' && Math.abs(exp * 1000) <= LAST_DATE_MS ? new Date(exp * 1000) : null;
  } catch {
    return null;
  }
}

function invalid(what: string, field?: string) {
  return musterError('invalid_kubeconfig', what, field || undefined);
}
