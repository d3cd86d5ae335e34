import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTlsProxy } from '../../support/fakes/tls-proxy.ts';
import { makeCertificates } from '../../support/git/git-http-server.ts';
import { type PostgresServer, startPostgresServer, TEMPLATE } from '../../support/postgres/postgres-server.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';
import { startPlainTemporal } from '../../support/temporal/plain-temporal.ts';

describeNeeding(stackMissing(), 'a Postgres and a Temporal of somebody else, over TLS', () => {
  let dir: string;
  let postgres: PostgresServer;
  let temporal: Awaited<ReturnType<typeof startPlainTemporal>>;
  let proxy: Awaited<ReturnType<typeof startTlsProxy>>;
  let stack: MusterStack;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-outside-'));
    const { caFile, tls } = makeCertificates(join(dir, 'ca'));
    postgres = await startPostgresServer(tls);
    temporal = await startPlainTemporal();
    proxy = await startTlsProxy(tls, temporal.port);
    stack = await startMusterStack({
      MUSTER_DATABASE_URL: postgres.url.replace(/\/postgres$/, `/${TEMPLATE}`),
      MUSTER_DATABASE_CA_FILE: caFile,
      MUSTER_TEMPORAL_ADDRESS: `localhost:${proxy.port}`,
      MUSTER_TEMPORAL_TLS_CA: caFile,
      MUSTER_ALLOW_LOCAL_CONNECTION: '1',
      MUSTER_REPOSITORY_SCHEMES: 'file',
    });
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await proxy?.stop();
    await temporal?.stop();
    await postgres?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('carry a session to its end; the stack starts only API and worker', async () => {
    const repository = await stack.repository('outside');
    await repository.commit({
      'site.yml':
        '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.command: "true"\n      changed_when: false\n',
    });
    await stack.configure('outside', repository.url, ['site.yml'], ['h1']);
    await stack.create('outside', 'outside');
    const session = await stack.untilComplete('outside');
    expect(session.status.session).toMatchObject({ succeeded: 'true', message: '1 layer done on 1 host' });
    expect(proxy.connections()).toBeGreaterThan(0);
    const { components } = await stack.start();
    expect(components.postgres?.state ?? 'external').toBe('external');
    expect(components.temporal?.state ?? 'external').toBe('external');
  }, 600_000);
});
