/** The key with which an installation signs what goes through Temporal. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { musterError } from '../../domain/errors.ts';

const KEY_BYTES = 32;

/**
 * The key of a file that is given, as a Secret or a command line makes one: at least 32 characters, of which blanks at both ends are no
 * part.
 */
function readMacKey(file: string): Buffer {
  const text = readFileSync(file, 'utf8').trim();
  if (text.length < KEY_BYTES) {
    throw musterError('mac_key_unusable', `The key file ${file} must have at least ${KEY_BYTES} characters`);
  }
  return derive(Buffer.from(text));
}

/**
 * The key of a data directory, made when it is not there (0600, whole or not at all): from the key of the secrets as it is then, so that
 * a copy of that key is enough to have it again, and so that it stays when that key is changed.
 */
function keepMacKey(file: string, secretKeyFile: string): Buffer {
  const found = readIfThere(file);
  if (found !== null) return found;
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(temporary, derive(readFileSync(secretKeyFile)), { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
  return readIfThere(file) ?? readFileSync(file);
}

function derive(secret: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'muster: what goes through Temporal', KEY_BYTES));
}

function readIfThere(file: string): Buffer | null {
  try {
    const key = readFileSync(file);
    if (key.length === KEY_BYTES) return key;
    throw musterError('mac_key_unusable', `The key file ${file} must have ${KEY_BYTES} bytes, it has ${key.length}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export interface MacKeyFiles {
  /** One that is given. */
  given: string | undefined;
  /** That of the data directory, and the key of the secrets that it is made from. */
  own: string;
  secretKey: string;
}

/**
 * The key that this process has: the one that is given, else that of its data directory.
 * @throws `mac_key_unusable` where there is neither, as before the first key of the secrets is made
 */
export function findMacKey({ given, own, secretKey }: MacKeyFiles): Buffer {
  if (given !== undefined) return readMacKey(given);
  const found = readIfThere(own) ?? (existsSync(secretKey) ? keepMacKey(own, secretKey) : null);
  if (found !== null) return found;
  throw musterError('mac_key_unusable', `There is no key of the MACs: neither ${own} nor ${secretKey} is there`);
}

/** Whether this process has a key, or could make one. */
export function hasMacKey({ given, own, secretKey }: MacKeyFiles): boolean {
  return given !== undefined || existsSync(own) || existsSync(secretKey);
}
