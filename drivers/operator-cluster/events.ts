/** Events on resources: one object for each resource and reason, which is counted up. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { apiVersionOf } from '../../domain/operator/names.ts';
import { noticeMessage, noticeName } from '../../domain/operator/notice.ts';
import { NOTICE_TYPES, type NoticeOf, type NoticeReason, type ResourceNotices } from '../../domain/operator/ports.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type ClusterClient, isForbidden } from '../kubernetes/cluster-client.ts';
import { ABSENT, CONFLICT } from '../kubernetes/statuses.ts';

/** Time (ms) between two writes of the same resource and reason. */
const QUIET_MS = 5 * 60_000;
/** Of so many resources and reasons it is known when they were told of. */
const KNOWN = 10_000;
const COMPONENT = 'muster-operator';
/** Events of cluster-scoped objects are kept there. */
const DEFAULT_NAMESPACE = 'default';
/** How many Events are written at the same time, and how many may wait: many resources may fail at once, and a cluster may stall. */
const AT_ONCE = 4;
const WAITING = 1_000;
/** A stop waits so long (ms) for Events: a cluster that stalls must not hold it up. */
const CLOSE_MS = 2_000;

export interface NoticeOptions {
  client: ClusterClient;
  clock(): Date;
  log: { warn(fields: object, message: string): void };
  /** Called for each Event that could not be written. */
  lost(): void;
}

interface Told {
  at: number;
  /** Those of which nothing was written. */
  further: number;
}

/** Opens the Events of an operator. An account without the right to write them costs one line of the log. */
export function openNotices({ client, clock, log, lost }: NoticeOptions): ResourceNotices {
  const known = new Map<string, Told>();
  const waiting: (() => Promise<void>)[] = [];
  const underWay = new Set<Promise<void>>();
  let isRefusalTold = false;

  const write = async (of: NoticeOf, reason: NoticeReason, message: string, count: number): Promise<void> => {
    const namespace = of.namespace === '' ? DEFAULT_NAMESPACE : of.namespace;
    const digest = createHash('sha256').update(`${of.uid} ${reason}`).digest('hex').slice(0, 16);
    const name = noticeName(of.name, digest);
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    const now = clock()
      .toISOString()
      .replace(/\.\d+Z$/, 'Z');
    const { status, body } = await client.ask<{ count?: number }>({
      ...{ method: 'GET', path: `${path}/${encodeURIComponent(name)}`, expected: [ABSENT] },
    });
    const said = { message: noticeMessage(message), lastTimestamp: now };
    if (status !== ABSENT) {
      await client.ask({
        method: 'PATCH',
        path: `${path}/${encodeURIComponent(name)}`,
        contentType: 'application/merge-patch+json',
        body: { ...said, count: (body.count ?? 1) + count },
        expected: [ABSENT],
        secret: true,
      });
      return;
    }
    await client.ask({
      method: 'POST',
      path,
      body: {
        ...{ apiVersion: 'v1', kind: 'Event', metadata: { name, namespace }, reason, type: NOTICE_TYPES[reason] },
        ...{ ...said, firstTimestamp: now, count },
        involvedObject: {
          ...{ apiVersion: apiVersionOf(of), kind: of.kind, name: of.name, uid: of.uid },
          ...(of.namespace === '' ? {} : { namespace }),
        },
        source: { component: COMPONENT },
        ...{ reportingComponent: COMPONENT, reportingInstance: COMPONENT },
      },
      expected: [CONFLICT, ABSENT],
      secret: true,
    });
  };

  const failed = (reason: NoticeReason, error: unknown): void => {
    lost();
    if (isForbidden(error) && isRefusalTold) return;
    if (isForbidden(error)) isRefusalTold = true;
    log.warn({ reason, err: messageOf(error) }, 'an Event on a resource could not be written');
  };

  const begin = (): void => {
    while (underWay.size < AT_ONCE) {
      const next = waiting.shift();
      if (next === undefined) return;
      const writing = next().finally(() => {
        underWay.delete(writing);
        begin();
      });
      underWay.add(writing);
    }
  };

  const allWritten = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.all(underWay);
  };

  return {
    tell(of, reason, message) {
      const key = `${of.uid} ${reason}`;
      const now = clock().getTime();
      const told = known.get(key);
      if (told !== undefined && now - told.at < QUIET_MS) {
        told.further += 1;
        return;
      }
      const count = 1 + (told?.further ?? 0);
      known.delete(key);
      known.set(key, { at: now, further: 0 });
      const [oldest] = known.keys();
      if (known.size > KNOWN && oldest !== undefined) known.delete(oldest);
      if (waiting.length >= WAITING) {
        // The next one of its resource and reason counts it.
        known.set(key, { at: Number.NEGATIVE_INFINITY, further: count });
        lost();
        return;
      }
      waiting.push(() => write(of, reason, message, count).catch((error: unknown) => failed(reason, error)));
      begin();
    },
    async close() {
      await Promise.race([allWritten(), delay(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
