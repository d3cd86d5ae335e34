const MIN_RSA_BYTES = 128;

/** What the bytes of a key of each type hold after the name of the type (RFC 4253, 5656, 8709; PROTOCOL.u2f of OpenSSH). */
const TYPES: Readonly<Record<string, readonly ((field: Buffer) => boolean)[]>> = {
  'ssh-ed25519': [ofLength(32)],
  'ssh-rsa': [ofNumber(1), ofNumber(MIN_RSA_BYTES)],
  'ecdsa-sha2-nistp256': [ofText('nistp256'), ofPoint(32)],
  'ecdsa-sha2-nistp384': [ofText('nistp384'), ofPoint(48)],
  'ecdsa-sha2-nistp521': [ofText('nistp521'), ofPoint(66)],
  'sk-ssh-ed25519@openssh.com': [ofLength(32), (field) => field.length > 0],
  'sk-ecdsa-sha2-nistp256@openssh.com': [ofText('nistp256'), ofPoint(32), (field) => field.length > 0],
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export type ReadPublicKey = { line: string } | { mistake: string };

/**
 * Reads a public key as one line of `authorized_keys`: type, key and comment, with single blanks between them. Options before the
 * type are refused, since they could name a command; certificates are refused too. `mistake` says what a text that is no key has to be.
 */
export function readPublicKey(text: string): ReadPublicKey {
  const line = text.trim();
  if (line === '') return { mistake: 'is empty' };
  if (line.includes('PRIVATE KEY'))
    return { mistake: 'holds a private key: send the public one (the file that ends in .pub)' };
  if (/[\r\n]/.test(line)) return { mistake: 'has more than one line: one record holds one key' };
  if (/[^\P{Cc}\t]/u.test(line)) return { mistake: 'has control characters' };
  const [type = '', key = '', ...comment] = line.split(/[ \t]+/);
  if (!Object.hasOwn(TYPES, type)) return { mistake: wrongType(line, type) };
  if (!hasFields(key, type)) return { mistake: `has no whole key of type ${type} after the type` };
  return { line: [type, key, ...comment].join(' ') };
}

/** The line of a public key; null for a text that is none. */
export function publicKeyLine(text: string): string | null {
  const read = readPublicKey(text);
  return 'line' in read ? read.line : null;
}

function wrongType(line: string, type: string): string {
  const known = Object.keys(TYPES).join(', ');
  if (type.endsWith('-cert-v01@openssh.com')) return 'is a certificate: send the public key';
  const isAfterOptions = Object.keys(TYPES).some((name) => new RegExp(`[\\s,"]${escaped(name)}\\s`).test(line));
  if (isAfterOptions) return 'has options before the type of the key: leave them out';
  return `does not begin with a known type of key (${known})`;
}

const escaped = (name: string): string => name.replaceAll('.', '\\.');

/** Whether the base64 is that of a key of this type, to its last byte. */
function hasFields(base64: string, type: string): boolean {
  if (!BASE64.test(base64)) return false;
  const bytes = Buffer.from(base64, 'base64');
  const checks = [ofText(type), ...(TYPES[type] ?? [])];
  let at = 0;
  for (const isRight of checks) {
    if (at + 4 > bytes.length) return false;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length || !isRight(bytes.subarray(at + 4, end))) return false;
    at = end;
  }
  return at === bytes.length;
}

function ofLength(length: number) {
  return (field: Buffer): boolean => field.length === length;
}

function ofText(text: string) {
  return (field: Buffer): boolean => field.toString('latin1') === text;
}

/** A positive number of at least so many bytes, without the zero that keeps its first bit from being a sign. */
function ofNumber(bytes: number) {
  return (field: Buffer): boolean => {
    const [first = 0] = field;
    return first < 0x80 && (first === 0 ? field.length - 1 : field.length) >= bytes;
  };
}

/** An uncompressed point of a curve whose numbers have so many bytes. */
function ofPoint(bytes: number) {
  return (field: Buffer): boolean => field[0] === 4 && field.length === 1 + 2 * bytes;
}
