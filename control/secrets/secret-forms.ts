/** Secrets that Muster itself reads have a form, which is checked when they are written: later they would only fail where they are used. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import { ADDRESS_KEY_SECRET } from '../../domain/secrets/secret-uses.ts';

/** Null when the value has the form, else what it should be. */
type Form = (value: string) => string | null;

const privateKey: Form = (value) => {
  const armour = /^-----BEGIN ([A-Z ]*)PRIVATE KEY-----\s+([\s\S]*?)-----END \1PRIVATE KEY-----\s*$/.exec(value.trim());
  if (armour === null) return 'a private key as ssh-keygen writes it (-----BEGIN ... PRIVATE KEY-----)';
  const [, kind = '', body = ''] = armour;
  if (kind === 'ENCRYPTED ' || /ENCRYPTED/.test(body.split('\n')[0] ?? '')) return WITHOUT_PASSPHRASE;
  return kind === 'OPENSSH ' ? opensshKey(body) : pemKey(value);
};

const WITHOUT_PASSPHRASE =
  'a private key without passphrase, since nobody is there who could type it (ssh-keygen -p -N "" -f FILE)';
const WHOLE = 'a whole private key: this one is cut or damaged';

function pemKey(value: string): string | null {
  try {
    createPrivateKey(value);
    return null;
  } catch {
    return WHOLE;
  }
}

/** The start of OpenSSH's own format: a word, then the name of the cipher; then all parts with their lengths. */
function opensshKey(body: string): string | null {
  const bytes = Buffer.from(body.replace(/\s/g, ''), 'base64');
  const magic = Buffer.from('openssh-key-v1\0');
  if (!bytes.subarray(0, magic.length).equals(magic)) return WHOLE;
  const parts: Buffer[] = [];
  let at = magic.length;
  const part = (): Buffer | null => {
    if (at + 4 > bytes.length) return null;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    const found = bytes.subarray(at + 4, end);
    at = end;
    return found;
  };
  for (const name of ['cipher', 'kdf', 'options']) {
    const found = part();
    if (found === null) return WHOLE;
    if (name === 'cipher' && found.toString() !== 'none') return WITHOUT_PASSPHRASE;
  }
  // How many keys there are, the public one, the private one.
  at += 4;
  for (let count = 0; count < 2; count += 1) {
    const found = part();
    if (found === null || found.length === 0) return WHOLE;
    parts.push(found);
  }
  return parts.length === 2 ? null : WHOLE;
}

const knownHosts: Form = (value) => {
  const lines = value.split('\n').map((line) => line.trim());
  const wrong = lines.findIndex(
    (line) => line !== '' && !line.startsWith('#') && !/^(@\S+\s+)?\S+\s+[a-z0-9@.-]+\s+[A-Za-z0-9+/=]+/.test(line),
  );
  return wrong === -1
    ? null
    : `lines of known_hosts (HOST TYPE KEY, as ssh-keyscan prints them): line ${wrong + 1} is none`;
};

const publicKey: Form = (value) =>
  /^(ssh|ecdsa|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/=]+( .*)?\s*$/.test(value) ? null : 'a public key of ssh (TYPE KEY)';

const certificate: Form = (value) => {
  if (/^(ssh|ecdsa|sk-)[a-z0-9@.-]+-cert-v01@openssh\.com [A-Za-z0-9+/=]+/.test(value)) return null;
  try {
    return new X509Certificate(value) && null;
  } catch {
    return 'a certificate';
  }
};

const hexKey: Form = (value) => (/^[0-9a-f]{64}$/.test(value) ? null : 'a key of 64 hexadecimal digits');

const line: Form = (value) => {
  const text = value.replace(/\r?\n$/, '');
  return text !== '' && !/[\0\r\n]/.test(text) ? null : 'one line that is not empty';
};

/** By secret and key; all others hold what the site likes. */
const FORMS: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  'muster-ssh': { private: privateKey, known_hosts: knownHosts },
  'muster-ssh-ca': { private: privateKey, public: publicKey },
  cfstrust: { private: privateKey, public: publicKey },
  cfstrustcertificate: { certificate },
  'muster-idempotency': { key: hexKey },
  [ADDRESS_KEY_SECRET]: { key: hexKey },
  'vcs-user-credentials': { vcs_username: line, vcs_password: line },
  'ansible-vault-password': { password: line },
};

/**
 * Checks a value that is to be stored.
 * @throws `secret_malformed`, which says what the value should be, and never the value
 */
export function checkSecretForm(name: string, key: string, value: string): void {
  const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
  const wanted = form !== undefined && Object.hasOwn(form, key) ? form[key]?.(value) : undefined;
  if (wanted == null) return;
  throw musterError('secret_malformed', `The value of secret ${name}, key ${key}, must be ${wanted}`, 'value');
}
