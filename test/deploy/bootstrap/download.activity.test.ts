import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findProgram } from '../../support/find-program.ts';
import { makeCertificates } from '../../support/git/git-http-server.ts';
import { describeNeeding } from '../../support/requirement.ts';

const DOWNLOAD = join(import.meta.dirname, '..', '..', '..', 'bootstrap', 'download.mjs');
const CONTENT = 'the release'.repeat(1000);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed (Debian: openssl)', 'a download', () => {
  let dir: string;
  let server: Server;
  let caFile: string;
  let origin: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-download-'));
    const certificates = makeCertificates(join(dir, 'ca'));
    caFile = certificates.caFile;
    server = createServer(certificates.tls, (request, response) => {
      if (request.url === '/file') response.end(CONTENT);
      else if (request.url === '/moved') response.writeHead(302, { location: '/file' }).end();
      else if (request.url === '/open') response.writeHead(302, { location: 'http://127.0.0.1/file' }).end();
      else if (request.url === '/circle') response.writeHead(302, { location: '/circle' }).end();
      else if (request.url === '/stalls') response.write('the');
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  /** Runs the download in a process of its own, which trusts the test's CA; answers its error, '' for success. */
  const download = (path: string, target: string, sha256 = SHA256): Promise<string> => {
    const call = `(await import(${JSON.stringify(DOWNLOAD)})).download(...process.argv.slice(1), () => undefined)`;
    const script = `await ${call}.catch((error) => { process.stdout.write(error.message); process.exit(1); })`;
    const args = ['--input-type=module', '-e', script, `${origin}${path}`, target, sha256];
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: caFile } });
    return new Promise((resolve) => {
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        out += chunk;
      });
      child.on('close', (status) => resolve(status === 0 ? '' : out || 'no message'));
    });
  };

  test('follows redirects and writes what has the expected checksum', async () => {
    expect(await download('/moved', join(dir, 'good'))).toBe('');
    expect(await readFile(join(dir, 'good'), 'utf8')).toBe(CONTENT);
  });

  test('with another checksum is refused and removed', async () => {
    expect(await download('/file', join(dir, 'bad'), '0'.repeat(64))).toContain(`has the SHA-256 ${SHA256}`);
    expect(existsSync(join(dir, 'bad'))).toBe(false);
  });

  test('does not follow a redirect to an unprotected address, nor for ever', async () => {
    expect(await download('/open', join(dir, 'open'))).toContain('redirects to http:');
    expect(await download('/circle', join(dir, 'circle'))).toContain('too many redirects');
    expect(await download('/nothing', join(dir, 'nothing'))).toContain('answered 404');
  });

  test('gives up after 10 s without a byte', async () => {
    const startedAt = performance.now();
    expect(await download('/stalls', join(dir, 'stalls'))).not.toBe('');
    expect(performance.now() - startedAt).toBeGreaterThan(9_000);
    expect(existsSync(join(dir, 'stalls'))).toBe(false);
  });
});
