/** Events on resources against a cluster that has them already, forbids them, or is away. */
import { expect, test } from '@jest/globals';
import { musterError } from '../../../domain/errors.ts';
import type { NoticeOf } from '../../../domain/operator/ports.ts';
import type { ClusterClient, ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { openNotices } from '../../../drivers/operator-cluster/events.ts';

const OF: NoticeOf = { group: 'demo.io', version: 'v1', kind: 'Widget', namespace: 'ns1', name: 'w1', uid: 'u1' };

interface StoredEvent {
  count: number;
  message: string;
  [member: string]: unknown;
}

/** A cluster that keeps Events. `fails`: every request does. `held`: what each request waits for. */
function cluster(fails = false, held: Promise<void> = Promise.resolve()) {
  const stored = new Map<string, StoredEvent>();
  const asked: string[] = [];
  const client: ClusterClient = {
    ask: async <T>({ method, path, body }: ClusterRequest) => {
      asked.push(method);
      await held;
      if (fails) throw musterError('cluster_unavailable', 'away');
      const at = (status: number, found: unknown = {}) => ({ status, body: found as T });
      if (method === 'GET') return stored.has(path) ? at(200, stored.get(path)) : at(404);
      const event = body as StoredEvent & { metadata: { name: string } };
      if (method === 'POST') stored.set(`${path}/${event.metadata.name}`, event);
      else stored.set(path, { ...stored.get(path), ...event });
      return at(200);
    },
    open: async () => {
      throw new Error('nothing is watched');
    },
  };
  return { client, stored, asked };
}

function opened(fails = false, held?: Promise<void>) {
  const { client, stored, asked } = cluster(fails, held);
  const now = { value: new Date('2026-01-02T03:04:05.678Z') };
  const warned: string[] = [];
  let lost = 0;
  const log = { warn: (_: object, message: string) => void warned.push(message) };
  const countLost = () => {
    lost += 1;
  };
  const notices = openNotices({ client, clock: () => now.value, log, lost: countLost });
  return { notices, stored, asked, now, warned, lost: () => lost };
}

test('one object tells of a resource and a reason, with all that Kubernetes asks for', async () => {
  const { notices, stored } = opened();
  notices.tell(OF, 'ReconcileFailed', 'boom');
  await notices.close();
  const [[path = '', event] = []] = stored;
  expect(path).toMatch(/^\/api\/v1\/namespaces\/ns1\/events\/w1\.[0-9a-f]{16}$/);
  expect(event).toMatchObject({
    ...{ reason: 'ReconcileFailed', type: 'Warning', message: 'boom', count: 1 },
    ...{ firstTimestamp: '2026-01-02T03:04:05Z', lastTimestamp: '2026-01-02T03:04:05Z' },
    involvedObject: { apiVersion: 'demo.io/v1', kind: 'Widget', namespace: 'ns1', name: 'w1', uid: 'u1' },
    source: { component: 'muster-operator' },
  });
});

test('within 5 min nothing more is written; the next one counts them all', async () => {
  const { notices, stored, asked, now } = opened();
  for (const _ of [1, 2, 3]) notices.tell(OF, 'ReconcileFailed', 'boom');
  await notices.close();
  expect(asked).toEqual(['GET', 'POST']);
  now.value = new Date(now.value.getTime() + 5 * 60_000);
  notices.tell(OF, 'ReconcileFailed', 'bang');
  notices.tell(OF, 'Reconciled', 'fine');
  await notices.close();
  expect([...stored.values()].map(({ count, message }) => [count, message])).toEqual([
    [4, 'bang'],
    [1, 'fine'],
  ]);
});

test('of a cluster-scoped resource it is in the namespace default', async () => {
  const { notices, stored } = opened();
  notices.tell({ ...OF, namespace: '', group: '', kind: 'Node' }, 'Paused', 'paused');
  await notices.close();
  const [[path = '', event] = []] = stored;
  expect(path).toContain('/namespaces/default/events/');
  expect(event).toMatchObject({ involvedObject: { apiVersion: 'v1', kind: 'Node' }, type: 'Normal' });
});

test('a cluster that is away costs a line and a count, and fails nobody', async () => {
  const { notices, warned, lost } = opened(true);
  notices.tell(OF, 'ReconcileFailed', 'boom');
  await notices.close();
  expect(lost()).toBe(1);
  expect(warned).toEqual(['an Event on a resource could not be written']);
});

test('a cluster that stalls is asked for four at a time, a thousand wait, and what is beyond is counted by the next one', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { notices, stored, asked, lost } = opened(false, held);
  const of = (n: number): NoticeOf => ({ ...OF, name: `w${n}`, uid: `u${n}` });
  for (let n = 0; n < 1_010; n += 1) notices.tell(of(n), 'ReconcileFailed', 'boom');
  expect(asked).toEqual(['GET', 'GET', 'GET', 'GET']);
  expect(lost()).toBe(6);
  release();
  await notices.close();
  expect(stored.size).toBe(1_004);
  notices.tell(of(1_009), 'ReconcileFailed', 'boom again');
  await notices.close();
  expect([...stored.values()].at(-1)).toMatchObject({ message: 'boom again', count: 2 });
});
