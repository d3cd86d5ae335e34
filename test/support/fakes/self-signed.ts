import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and its certificate, signed by no authority, for 127.0.0.1 and localhost. */
export function selfSigned(kind: 'ECDSA' | 'RSA' = 'ECDSA'): { key: string; cert: string } {
  const dir = mkdtempSync(join(tmpdir(), 'muster-self-signed-'));
  const [key, cert] = [join(dir, 'key'), join(dir, 'cert')];
  const newKey = kind === 'RSA' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const args = ['req', '-x509', '-newkey', ...newKey, '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...names];
  try {
    execFileSync('openssl', args, { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
