/** What is taken of a kubeconfig. It is a secret and a program: nothing that names a command, a file or another route is taken. */
import { musterError } from '../errors.ts';
import { at, hasMembers, listAt, type Members, membersOf, textAt } from './members.ts';

/** Largest kubeconfig, bytes. */
export const KUBECONFIG_MAX = 256 * 1024;

/** Base64, as it stands in the kubeconfig; the driver reads and checks what is in it. */
export interface ClusterCredential {
  server: string;
  tlsServerName: string | null;
  /** Null: the public certificates. */
  certificateAuthority: string | null;
  user: { token: string } | { certificate: string; key: string };
}

const REFUSED_OF_CLUSTER = ['certificate-authority', 'proxy-url'];
const REFUSED_OF_USER = [
  'exec',
  'auth-provider',
  'client-certificate',
  'client-key',
  'tokenFile',
  'username',
  'password',
  'as',
  'as-uid',
  'as-groups',
  'as-user-extra',
];

/** Returns what Muster needs of the current context. Throws `invalid_kubeconfig`, which names the field and never its value. */
export function credentialOf(kubeconfig: unknown): ClusterCredential {
  if (!hasMembers(kubeconfig)) throw invalid('It is no kubeconfig');
  const current = textAt(kubeconfig, 'current-context');
  if (current === '') throw invalid('It names no context', 'current-context');
  const context = named(kubeconfig, 'contexts', 'context', current);
  const cluster = named(kubeconfig, 'clusters', 'cluster', requiredText(context, 'cluster', 'contexts'));
  const user = named(kubeconfig, 'users', 'user', requiredText(context, 'user', 'contexts'));
  refuse(cluster, REFUSED_OF_CLUSTER, 'clusters');
  refuse(user, REFUSED_OF_USER, 'users');
  const insecure = cluster['insecure-skip-tls-verify'];
  if (insecure !== undefined && insecure !== null && insecure !== false) {
    throw invalid('Certificates must be verified', 'clusters.insecure-skip-tls-verify');
  }
  return {
    server: serverOf(requiredText(cluster, 'server', 'clusters')),
    tlsServerName: optionalText(cluster, 'tls-server-name', 'clusters'),
    certificateAuthority: optionalText(cluster, 'certificate-authority-data', 'clusters'),
    user: userOf(user),
  };
}

function userOf(user: Members): ClusterCredential['user'] {
  const token = optionalText(user, 'token', 'users');
  const certificate = optionalText(user, 'client-certificate-data', 'users');
  const key = optionalText(user, 'client-key-data', 'users');
  if (token !== null) {
    if (certificate !== null || key !== null)
      throw invalid('It has a token beside a client certificate', 'users.token');
    if (!/^[\x21-\x7e]+$/.test(token)) throw invalid('The token has characters that no token has', 'users.token');
    return { token };
  }
  if (certificate === null) throw invalid('It has neither a token nor a client certificate', 'users');
  if (key === null) throw invalid('The key of the client certificate is missing', 'users.client-key-data');
  return { certificate, key };
}

const SERVER =
  /^https:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?)(:([0-9]{1,5}))?(\/[-A-Za-z0-9._~/]*)?$/;

function serverOf(text: string): string {
  if (!text.startsWith('https://')) throw invalid('The server must be reached by https', 'clusters.server');
  const port = SERVER.exec(text)?.[4];
  if (
    !SERVER.test(text) ||
    text.includes('/../') ||
    (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))
  ) {
    throw invalid('The server must be https://HOST[:PORT][/PATH] without user, query and fragment', 'clusters.server');
  }
  return text;
}

/** Names are looked up as Kubernetes' own client does: the first of a name. */
function named(kubeconfig: Members, list: string, member: string, name: string): Members {
  const entry = listAt(kubeconfig, list).find((each) => at(each, 'name') === name);
  if (entry === undefined) throw invalid(`What it refers to is not among its ${list}`, list);
  const found = at(entry, member);
  if (!hasMembers(found)) throw invalid(`The entry has no ${member}`, `${list}.${member}`);
  return membersOf(found);
}

function refuse(entry: Members, fields: readonly string[], list: string): void {
  for (const field of fields) {
    const value = Object.hasOwn(entry, field) ? entry[field] : undefined;
    if (value === undefined || value === null || value === '') continue;
    throw invalid('This field is refused: it names a command, a file, a password or another route', `${list}.${field}`);
  }
}

function requiredText(entry: Members, field: string, list: string): string {
  const value = optionalText(entry, field, list);
  if (value === null) throw invalid('The field is missing', `${list}.${field}`);
  return value;
}

function optionalText(entry: Members, field: string, list: string): string | null {
  const value = Object.hasOwn(entry, field) ? entry[field] : undefined;
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw invalid('The field is no text', `${list}.${field}`);
  return value;
}

function invalid(what: string, field?: string) {
  return musterError('invalid_kubeconfig', what, field);
}
