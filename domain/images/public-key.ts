/** Types of public keys that are let in; certificates and options before the key are not. */
const TYPE =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * A public key as one line of `authorized_keys`: type, key and comment. Null for anything else: another line, options (which could
 * name a command), or a text that is no key.
 */
export function publicKeyLine(text: string): string | null {
  const line = text.trim();
  if (/[\r\n\0]/.test(line)) return null;
  const [type = '', key = '', ...comment] = line.split(/[ \t]+/);
  if (!TYPE.test(type) || !BASE64.test(key) || key.length < 32) return null;
  return [type, key, ...comment].join(' ');
}
