import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { trusting } from '../../drivers/certificates/trusting.ts';
import { askJson } from '../../drivers/http/ask-json.ts';
import { getHsm } from '../../drivers/inventory/hsm-requests.ts';
import { fetchJson } from '../../drivers/oidc/fetch-json.ts';
import { openHttpRegistry } from '../../drivers/tenants/http-registry.ts';
import { createWebhookSender } from '../../drivers/webhooks/send-webhook.ts';
import { findProgram } from '../support/find-program.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { describeNeeding } from '../support/requirement.ts';

/** Everything that a process asks with the platform's CA, each as a question of one address. */
const DRIVERS: Record<string, (url: string, ca: string | undefined, caFile: string | undefined) => Promise<unknown>> = {
  'an issuer': (url, ca) => fetchJson(url, { ca, timeoutMs: 60_000 }),
  'Vault, boot metadata or an image service': (url, ca) => askJson({ method: 'GET', url, ca, timeoutMs: 60_000 }),
  'a receiver of webhooks': (url, ca) =>
    createWebhookSender({ ca }).send({
      url,
      headers: {},
      body: '{}',
      allowPrivateRedirects: false,
      signal: AbortSignal.timeout(60_000),
    }),
  'the registry of tenants': (url, ca) => openHttpRegistry({ url, ca, timeoutMs: 60_000 }).hasTenant('blue'),
  'a hardware state manager': (url, _ca, caFile) =>
    getHsm(
      new URL(url),
      { baseUrl: url, retries: 0, ...(caFile === undefined ? {} : { caFile }) },
      AbortSignal.timeout(60_000),
    ),
};

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'with a CA of the platform', () => {
  const usual = getCACertificates('default');
  let dir: string;
  let caFile: string;
  let ca: string;
  const servers: Server[] = [];
  const urls = { public: '', platform: '', stranger: '' };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-besides-'));
    for (const name of ['public', 'platform', 'stranger'] as const) {
      const made = makeCertificates(join(dir, name));
      const server = createServer(made.tls, (_request, response) => response.end('{}'));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      urls[name] = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
    caFile = join(dir, 'ca.pem');
    // As sites have it: words between the certificates, and no line at the end.
    ca = `# the site's\n${(await readFile(join(dir, 'platform', 'ca.pem'), 'utf8')).trimEnd()}`;
    await writeFile(caFile, ca);
    setDefaultCACertificates([...usual, await readFile(join(dir, 'public', 'ca.pem'), 'utf8')]);
  });
  afterAll(async () => {
    setDefaultCACertificates(usual);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await rm(dir, { recursive: true, force: true });
  });

  test.each(Object.keys(DRIVERS))('%s is trusted by it and by the public ones, and by no other', async (name) => {
    const ask = DRIVERS[name];
    if (ask === undefined) throw new Error(name);
    await ask(urls.platform, ca, caFile);
    await ask(urls.public, ca, caFile);
    await ask(urls.public, undefined, undefined);
    await expect(ask(urls.platform, undefined, undefined)).rejects.toThrow(/certificate/);
    await expect(ask(urls.stranger, ca, caFile)).rejects.toThrow(/certificate/);
  });

  test('what it needs is made once, however many connections there are', () => {
    expect(trusting(ca).secureContext).toBe(trusting(`${ca}`).secureContext);
    expect(trusting('')).toEqual({});
  });
});
