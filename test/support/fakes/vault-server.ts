/** A server that answers the five calls of trust as Vault does (cfs-flows 6.3), and signs for real. */
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface VaultServer {
  url: string;
  /** Folder that goes with it. */
  dir: string;
  /** What a login has to show. */
  role: string;
  jwt: string;
  /** `METHOD path`, in order. */
  calls: string[];
  /** Everything that was sent: bodies and tokens. */
  sent: string[];
  /** Bodies of signatures. */
  signatures: Record<string, unknown>[];
  /** All tokens end. */
  revoke(): void;
  /** The next calls answer this status. */
  fail(status: number, times: number): void;
  stop(): Promise<void>;
}

interface Key {
  type: string;
  exportable: boolean;
  pem: string;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** `role`: the one that may log in; default: that of trust. */
export async function startVaultServer({ role = 'ssh-user-certs-compute' } = {}): Promise<VaultServer> {
  const dir = mkdtempSync(join(tmpdir(), 'muster-vault-'));
  const authority = join(dir, 'authority');
  execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '3072', '-N', '', '-C', '', '-f', authority]);
  const jwt = `jwt.${randomUUID()}`;
  const tokens = new Set<string>();
  const keys = new Map<string, Key>();
  const calls: string[] = [];
  const sent: string[] = [];
  const signatures: Record<string, unknown>[] = [];
  const failing: number[] = [];

  const sign = (body: Record<string, unknown>): string => {
    const file = join(dir, randomUUID());
    writeFileSync(`${file}.pub`, `${String(body.public_key)}\n`);
    const hours = /^([0-9]+)(h|s)$/.exec(String(body.ttl));
    if (hours === null) throw new Refusal(400, 'ttl cannot be parsed');
    const seconds = Number(hours[1]) * (hours[2] === 'h' ? 3_600 : 1);
    const names = ['-I', String(body.key_id), '-n', String(body.valid_principals), '-V', `-30s:+${seconds}s`];
    try {
      execFileSync('ssh-keygen', ['-q', '-s', authority, ...names, `${file}.pub`], { stdio: 'pipe' });
    } catch {
      throw new Refusal(400, 'failed to parse public_key as SSH key');
    }
    return readFileSync(`${file}-cert.pub`, 'utf8');
  };

  /** The answer's body; a text is sent as it is. */
  const answer = (call: string, token: string | undefined, body: Record<string, unknown>): object | string | null => {
    const status = failing.shift();
    if (status !== undefined) throw new Refusal(status, 'Vault is sealed');
    if (call === 'POST /v1/auth/kubernetes/login') {
      if (body.role !== role || body.jwt !== jwt) throw new Refusal(403, 'permission denied');
      const made = `hvs.${randomUUID()}`;
      tokens.add(made);
      return { auth: { client_token: made, lease_duration: 3_600 } };
    }
    if (call === 'GET /v1/ssh_user_certs_compute/public_key') return readFileSync(`${authority}.pub`, 'utf8');
    if (token === undefined || !tokens.has(token)) throw new Refusal(403, 'permission denied');
    const [, verb, name = ''] = /^([A-Z]+ \/v1\/transit\/(?:keys|export\/signing-key)\/)(.+)$/.exec(call) ?? [];
    if (verb === 'POST /v1/transit/keys/') {
      if (!keys.has(name))
        keys.set(name, { type: String(body.type), exportable: body.exportable === true, pem: newKey() });
      return { data: { name } };
    }
    if (verb === 'GET /v1/transit/export/signing-key/') {
      const key = keys.get(name);
      if (key === undefined) throw new Refusal(404, 'no such key');
      if (!key.exportable || key.type !== 'ecdsa-p384')
        throw new Refusal(400, 'private key material is not exportable');
      return { data: { name, keys: { '1': key.pem } } };
    }
    if (call === 'POST /v1/ssh_user_certs_compute/sign/compute') {
      signatures.push(body);
      return { data: { serial_number: 'a1', signed_key: sign(body) } };
    }
    throw new Refusal(404, 'no handler for route');
  };

  const server: Server = createServer((request, response) => {
    void readAll(request).then((text) => {
      const call = `${request.method} ${request.url}`;
      const token = request.headers['x-vault-token'];
      calls.push(call);
      sent.push(text, String(token));
      try {
        const body = answer(call, typeof token === 'string' ? token : undefined, text === '' ? {} : JSON.parse(text));
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      } catch (error) {
        response.statusCode = error instanceof Refusal ? error.status : 500;
        response.end(JSON.stringify({ errors: [(error as Error).message] }));
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dir,
    role,
    jwt,
    calls,
    sent,
    signatures,
    revoke: () => tokens.clear(),
    fail: (status, times) => void failing.push(...Array.from({ length: times }, () => status)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-384' })
    .privateKey.export({ type: 'sec1', format: 'pem' })
    .toString();
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
