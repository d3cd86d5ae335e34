import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface GitHttpServer {
  /** Like `http://127.0.0.1:12345`. */
  origin: string;
  /** Requests served so far. */
  requests(): number;
  stop(): Promise<void>;
}

export interface GitHttpOptions {
  /** Folder below which the repositories are. */
  root: string;
  /** Asked for by basic authentication when given. */
  account?: { username: string; password: string };
  tls?: { key: string; cert: string };
  /** Address to listen on. Default 127.0.0.1. */
  host?: string;
  /** Answers instead of git when it returns true. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A real smart-http git server: `git http-backend` behind node:http on a free port of 127.0.0.1. */
export async function startGitHttpServer(options: GitHttpOptions): Promise<GitHttpServer> {
  let count = 0;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    count += 1;
    if (options.intercept?.(request, response)) return;
    if (!isAllowed(request, options.account)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    serve(request, response, options.root);
  };
  const server = options.tls ? createTlsServer(options.tls, handle) : createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, options.host ?? '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${options.tls ? 'https' : 'http'}://${options.host ?? '127.0.0.1'}:${port}`,
    requests: () => count,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** openssl's words for a key of its own; one of RSA takes a tenth of a second. */
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** A certificate authority of its own and a server certificate signed by it, for 127.0.0.1 or other `names` as OpenSSL writes them. */
export function makeCertificates(
  dir: string,
  names = 'IP:127.0.0.1,DNS:localhost',
): { caFile: string; tls: { key: string; cert: string } } {
  mkdirSync(dir, { recursive: true });
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' });
  };
  openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA');
  openssl(
    'req',
    ...NEW_KEY,
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
    '-subj',
    '/CN=127.0.0.1',
    '-addext',
    `subjectAltName=${names}`,
  );
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    'server.pem',
    '-days',
    '2',
    '-copy_extensions',
    'copy',
  );
  return {
    caFile: join(dir, 'ca.pem'),
    tls: { key: readFileSync(join(dir, 'server.key'), 'utf8'), cert: readFileSync(join(dir, 'server.pem'), 'utf8') },
  };
}

function isAllowed(request: IncomingMessage, account: GitHttpOptions['account']): boolean {
  if (account === undefined) return true;
  const expected = Buffer.from(`${account.username}:${account.password}`).toString('base64');
  return request.headers.authorization === `Basic ${expected}`;
}

/** One CGI call; the header of the answer comes before the first empty line. */
function serve(request: IncomingMessage, response: ServerResponse, root: string): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      HOME: '/nonexistent',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    let status = 200;
    for (const line of output.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      if (name === 'Status') status = Number(value.slice(0, 3));
      else if (name !== '') response.setHeader(name, value);
    }
    response.writeHead(status).end(output.subarray(end + 4));
  });
}
