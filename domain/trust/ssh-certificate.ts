/** What a certificate of OpenSSH says (PROTOCOL.certkeys of OpenSSH). */
export interface SshCertificate {
  /** Key that it is for, as type and base64 of a line of authorized_keys. */
  publicKey: string;
  /** Key of the authority that signed it, in the same form. */
  authority: string;
  /** What it is called in the logs of hosts. */
  keyId: string;
  /** Users that it lets in. */
  principals: string[];
  /** ms since 1970; `validBefore` is Infinity for one that does not end. */
  validAfter: number;
  validBefore: number;
}

const SUFFIX = '-cert-v01@openssh.com';
/** How many fields a key of each type has. */
const KEY_FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519': 1,
  'ssh-rsa': 2,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
};
const USER = 1;
const FOREVER = 0xffffffffffffffffn;

/** Reads the line of a user certificate; null for anything else, a key of an unknown type included. */
export function parseCertificate(line: string): SshCertificate | null {
  try {
    const [name = '', body = ''] = line.trim().split(/\s+/);
    const keyType = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
    const fields = Object.hasOwn(KEY_FIELDS, keyType) ? KEY_FIELDS[keyType] : undefined;
    if (fields === undefined) return null;
    const reader = readerOf(bytesOf(body));
    if (textOf(reader.field()) !== name) return null;
    reader.field(); // a random number
    const key = Array.from({ length: fields }, () => reader.field());
    reader.number(); // serial number
    if (reader.short() !== USER) return null;
    const keyId = textOf(reader.field());
    const principals = listOf(reader.field());
    const validAfter = millisecondsOf(reader.number());
    const validBefore = millisecondsOf(reader.number());
    for (let left = 3; left > 0; left -= 1) reader.field(); // critical options, extensions, reserved
    const signer = reader.field();
    return {
      publicKey: `${keyType} ${base64Of(joined([bytesOfText(keyType), ...key]))}`,
      authority: `${textOf(readerOf(signer).field())} ${base64Of(signer)}`,
      keyId,
      principals,
      validAfter,
      validBefore,
    };
  } catch {
    return null;
  }
}

/** Type and base64 of the line of a public key, without its comment. */
export function bareKey(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ');
}

function readerOf(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const short = () => {
    at += 4;
    return view.getUint32(at - 4);
  };
  return {
    short,
    number: () => {
      at += 8;
      return view.getBigUint64(at - 8);
    },
    field: () => {
      const length = short();
      if (at + length > bytes.length) throw new RangeError('cut off');
      at += length;
      return bytes.subarray(at - length, at);
    },
    isAtEnd: () => at >= bytes.length,
  };
}

function listOf(bytes: Uint8Array): string[] {
  const reader = readerOf(bytes);
  const found: string[] = [];
  while (!reader.isAtEnd()) found.push(textOf(reader.field()));
  return found;
}

function joined(fields: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, field) => sum + 4 + field.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const field of fields) {
    view.setUint32(at, field.length);
    bytes.set(field, at + 4);
    at += 4 + field.length;
  }
  return bytes;
}

function millisecondsOf(seconds: bigint): number {
  return seconds === FOREVER ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
