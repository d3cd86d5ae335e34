/** Metrics of an operator's process by https and for accounts of the cluster, and those that playbooks make. */

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { musterError } from '../../../domain/errors.ts';
import type { ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { givenCertificate, ownCertificate } from '../../../drivers/operator-metrics/metrics-certificate.ts';
import { createMetricsGuard } from '../../../drivers/operator-metrics/metrics-guard.ts';
import { listenForMetrics, type MetricsListening } from '../../../drivers/operator-metrics/metrics-listener.ts';
import { openOperatorMeters } from '../../../drivers/operator-metrics/operator-meters.ts';
import { openUserMetrics } from '../../../drivers/operator-metrics/user-metrics.ts';
import { listenForUserMetrics } from '../../../drivers/operator-metrics/user-metrics-listener.ts';
import { freePort } from '../../support/free-port.ts';
import { readMetrics } from '../../support/operator/read-metrics.ts';

const HOST = '127.0.0.1';
const WIDGET = { group: 'demo.io', version: 'v1', kind: 'Widget' };

/** A cluster that knows tokens: `reader` may read metrics, `other` may not. */
function cluster() {
  const asked: string[] = [];
  const now = { value: new Date('2026-01-02T03:04:05Z') };
  const warned: string[] = [];
  let isAway = false;
  let held: Promise<void> = Promise.resolve();
  const client = {
    ask: async <T>({ path, body, secret }: ClusterRequest) => {
      expect(secret).toBe(true);
      const { spec } = body as { spec: { token?: string; user?: string } };
      asked.push(`${path.split('/').at(-1)} ${spec.token ?? spec.user}`);
      await held;
      if (isAway) throw musterError('cluster_unavailable', 'away');
      const known = spec.token === 'reader' || spec.token === 'other';
      const status =
        spec.token === undefined
          ? { allowed: spec.user === 'reader' }
          : { authenticated: known, ...(known ? { user: { username: spec.token } } : {}) };
      return { status: 201, body: { status } as T };
    },
  };
  const log = { warn: (_: object, message: string) => void warned.push(message) };
  const guard = createMetricsGuard({ client, clock: () => now.value, log });
  return {
    ...{ guard, asked, now, warned },
    away: (value: boolean) => {
      isAway = value;
    },
    hold: (until: Promise<void>) => {
      held = until;
    },
  };
}

describe('the guard of the metrics', () => {
  test('asks whose a token is and what the account may, and keeps the answer for a minute', async () => {
    const { guard, asked, now } = cluster();
    expect(await guard('Bearer reader')).toBe('admitted');
    expect(await guard('Bearer reader')).toBe('admitted');
    expect(asked).toEqual(['tokenreviews reader', 'subjectaccessreviews reader']);
    expect(await guard('Bearer other')).toBe('forbidden');
    expect(await guard('Bearer wrong')).toBe('unknown');
    expect(await guard('Bearer wrong')).toBe('unknown');
    expect(asked).toHaveLength(5);
    now.value = new Date(now.value.getTime() + 61_000);
    expect(await guard('Bearer reader')).toBe('admitted');
    expect(asked).toHaveLength(7);
  });

  test('asks nothing about a header without a token', async () => {
    const { guard, asked } = cluster();
    expect(await Promise.all([guard(undefined), guard('Basic cmVhZGVy')])).toEqual(['unknown', 'unknown']);
    expect(asked).toEqual([]);
  });

  test('asks once for requests that come together, and about ten tokens at the same time', async () => {
    const { guard, asked, hold } = cluster();
    const { promise, resolve } = Promise.withResolvers<void>();
    hold(promise);
    const same = [guard('Bearer reader'), guard('Bearer reader')];
    const others = Array.from({ length: 9 }, (_, number) => guard(`Bearer wrong${number}`));
    expect(await guard('Bearer one-more')).toBe('unanswered');
    resolve();
    expect(await Promise.all(same)).toEqual(['admitted', 'admitted']);
    expect(new Set(await Promise.all(others))).toEqual(new Set(['unknown']));
    expect(asked).toHaveLength(11);
    expect(await guard('Bearer one-more')).toBe('unknown');
  });

  test('many wrong tokens do not push out one that is admitted', async () => {
    const { guard, asked } = cluster();
    await guard('Bearer reader');
    for (let number = 0; number < 1_100; number += 1) await guard(`Bearer wrong${number}`);
    const before = asked.length;
    expect(await guard('Bearer reader')).toBe('admitted');
    expect(await guard('Bearer wrong1099')).toBe('unknown');
    expect(asked).toHaveLength(before);
    // The oldest of the others went.
    await guard('Bearer wrong0');
    expect(asked).toHaveLength(before + 1);
  });

  test('keeps no answer that it did not get, and tells of one reason once', async () => {
    const { guard, warned, away } = cluster();
    away(true);
    expect(await guard('Bearer reader')).toBe('unanswered');
    expect(await guard('Bearer reader')).toBe('unanswered');
    expect(warned).toHaveLength(1);
    away(false);
    expect(await guard('Bearer reader')).toBe('admitted');
  });
});

describe('metrics by https', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-metrics-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const listening = async (more: Partial<MetricsListening>) => {
    const port = await freePort();
    const { registry } = openOperatorMeters([WIDGET], { version: '1', commit: '' });
    return { port, listener: await listenForMetrics({ host: HOST, port, ...more }, registry) };
  };

  test('are read by accounts that the cluster admits, and by nobody else', async () => {
    const { guard, away } = cluster();
    const { port, listener } = await listening({ certificate: await ownCertificate(new Date()), guard });
    const get = (token?: string) => readMetrics(port, token);
    expect(await get('reader')).toMatchObject({
      status: 200,
      text: expect.stringContaining('ansible_operator_build_info'),
    });
    expect(await get()).toMatchObject({ status: 401, asks: 'Bearer' });
    expect(await get('wrong')).toMatchObject({ status: 401 });
    expect(await get('other')).toMatchObject({ status: 403 });
    away(true);
    expect(await get('later')).toMatchObject({ status: 503 });
    await listener.close();
  });

  test('speak with the certificate that is given, and with another one once that is renewed', async () => {
    const now = new Date();
    expect(await givenCertificate(folder)).toBeNull();
    const put = async () => {
      const { certificate, key } = await ownCertificate(now);
      writeFileSync(join(folder, 'tls.crt'), certificate);
      await expect(givenCertificate(folder)).rejects.toThrow(/tls\.(key is missing|crt and tls\.key are not)/);
      writeFileSync(join(folder, 'tls.key'), key);
      const given = await givenCertificate(folder);
      if (given === null) throw new Error('there is a certificate');
      return given;
    };
    const first = await put();
    const { port, listener } = await listening({ certificate: first });
    const { fingerprint } = await readMetrics(port);
    expect((await readMetrics(port)).fingerprint).toBe(fingerprint);
    listener.renew(await put());
    expect((await readMetrics(port)).fingerprint).not.toBe(fingerprint);
    await listener.close();
  });
});

describe('metrics of playbooks', () => {
  const opened = async () => {
    const { registry } = openOperatorMeters([WIDGET], { version: '1', commit: '' });
    const port = await freePort();
    const listener = await listenForUserMetrics(port, openUserMetrics(registry));
    const post = async (body: unknown, { method = 'POST', path = '/metrics' } = {}) => {
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await fetch(`http://${HOST}:${port}${path}`, {
        method,
        ...(method === 'GET' ? {} : { body: sent }),
      });
      return [answer.status, await answer.text()];
    };
    const lines = async () => (await registry.metrics()).split('\n');
    return { port, listener, post, lines };
  };

  test('appear beside those of the process, with their values', async () => {
    const { listener, post, lines } = await opened();
    const help = { description: 'Text\nof it' };
    for (const [name, change] of [
      ['restarts', { counter: { increment: true } }],
      ['restarts', { counter: { add: 2.5 } }],
      ['level', { gauge: { set: 7 } }],
      ['level', { gauge: { subtract: 2 } }],
      ['zero', { gauge: { set: 0 } }],
      ['waits', { histogram: { observe: 3 } }],
      // As the reference operator, which knows the name alone.
      ['waits', { summary: { observe: 0.2 } }],
      ['sizes', { summary: { observe: 4 } }],
    ] as const)
      expect(await post({ name, ...help, ...change })).toEqual([200, '']);
    const found = await lines();
    for (const line of [
      '# HELP restarts Text\\nof it',
      'restarts 3.5',
      'level 5',
      'zero 0',
      'waits_bucket{le="0.25"} 1',
      'waits_count 2',
      'sizes_sum 4',
      'sizes_count 1',
    ])
      expect(found).toContain(line);
    expect(found.filter((line) => line.includes('quantile'))).toEqual([]);
    await listener.close();
  });

  test('are refused with the reason', async () => {
    const { listener, post, lines } = await opened();
    await post({ name: 'taken', counter: {} });
    await post({ name: 'waits', histogram: {} });
    for (const [body, words] of [
      [{ name: 'taken', gauge: {} }, 'taken is a counter, not a gauge'],
      [{ name: 'taken', summary: {} }, 'taken is a counter, not a summary'],
      [{ name: 'waits_sum', counter: {} }, 'waits_sum and the metric waits would write the same series'],
      [{ name: 'workqueue_depth', gauge: { set: 1 } }, 'workqueue_depth is a metric of the operator itself'],
      [{ name: 'ansible_operator_reconciles_count', counter: {} }, 'is a metric of the operator itself'],
      [{ name: 'none' }, 'at least one of'],
      [{ name: 'constructor', counter: {} }, 'constructor cannot be the name of a metric'],
      ['{', 'the body is not JSON'],
    ] as const)
      expect(await post(body)).toEqual([400, expect.stringContaining(words)]);
    expect((await post('', { method: 'GET' }))[0]).toBe(405);
    expect((await post('', { path: '/' }))[0]).toBe(404);
    expect((await lines()).filter((line) => line.startsWith('taken '))).toEqual(['taken 0']);
    await listener.close();
  });

  test('have a number and a size: what is beyond them is refused, and what is there goes on', async () => {
    const { port, listener, post } = await opened();
    expect(await post({ name: 'a', description: 'x'.repeat(70_000), counter: {} })).toEqual([
      413,
      expect.stringContaining('65536'),
    ]);
    // Of no declared length.
    const endless = httpRequest({ host: HOST, port, path: '/metrics', method: 'POST' });
    endless.on('error', () => undefined);
    endless.write('x'.repeat(70_000));
    const [answer] = await once(endless, 'response');
    expect(answer.statusCode).toBe(413);
    endless.destroy();
    for (let number = 0; number < 1_000; number += 1)
      expect((await post({ name: `m${number}`, counter: {} }))[0]).toBe(200);
    expect(await post({ name: 'one_more', counter: {} })).toEqual([400, expect.stringContaining('1000 metrics')]);
    expect((await post({ name: 'm7', counter: { increment: true } }))[0]).toBe(200);
    await listener.close();
  });

  test('an empty registry has no names of its own', () => {
    const take = openUserMetrics(new Registry());
    expect(take({ name: 'workqueue_depth', help: '', change: { type: 'gauge', add: 1 } })).toBeNull();
  });
});
