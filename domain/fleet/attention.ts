/** From what the store has of trouble to what a person is told of it. */
import type { FailureGroup } from '../components/failure-group.ts';
import { firstLine } from '../components/failure-signature.ts';
import { bytesText } from '../text/bytes-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { ATTENTION_KINDS, ATTENTION_MAX, type AttentionItem } from './attention-schema.ts';

export interface Trouble {
  failures: readonly FailureGroup[];
  held: readonly { id: string; name: string; message: string; since: Date }[];
  rollouts: readonly { configuration: string; reason: string | null; since: Date | null }[];
  schedules: readonly { name: string; error: string | null; since: Date | null }[];
  /** Keys of batches that wait after a failure. */
  backoffs: readonly { key: string; until: Date }[];
  /** Sessions that wait for a slot for long, with the one that waits longest; null: none. */
  waiting: { id: string; name: string; message: string; since: Date; count: number } | null;
  /** Components that drift, and when the oldest of that was found; null: none. */
  drift: { count: number; since: Date | null } | null;
  /** Why no worker takes up work; null: some does, or it is not known. */
  workers: string | null;
  /** A disk with little room; null: it has enough, or it is not known. */
  disk: { path: string; free: number } | null;
  /** How late the newest event of an open run was stored, and how long the first message waits for Temporal, s. */
  lags: { events: number; outbox: number };
  isBatcherLate: boolean;
}

/** What is later than this is told, s: the same as the alerts that are shipped. */
const LATE = { events: 30, outbox: 60 } as const;

const NO_WORDS = 'nothing is kept of why';

/** Returns the items, the worst first: by kind, then by count, then the oldest. */
export function attentionItems(trouble: Trouble): AttentionItem[] {
  const items = [
    ...trouble.failures.map(failedItem),
    ...trouble.held.map(heldItem),
    ...trouble.rollouts.map(rolloutItem),
    ...trouble.backoffs.map(backoffItem),
    ...trouble.schedules.map(scheduleItem),
    ...(trouble.waiting === null ? [] : [waitingItem(trouble.waiting)]),
    ...(trouble.drift === null ? [] : [driftItem(trouble.drift)]),
    ...(trouble.workers === null ? [] : [workersItem(trouble.workers)]),
    ...(trouble.disk === null ? [] : [diskItem(trouble.disk)]),
    ...lagItems(trouble),
  ];
  const rank = ({ kind }: AttentionItem) => ATTENTION_KINDS.indexOf(kind);
  return items.sort((a, b) => rank(a) - rank(b) || b.count - a.count || (a.since ?? '').localeCompare(b.since ?? ''));
}

/** Returns the first `ATTENTION_MAX` items. What concerns Muster as a whole is never left out. */
export function firstItems(items: readonly AttentionItem[]): AttentionItem[] {
  const ofAll = items.filter(({ kind }) => OF_MUSTER.includes(kind));
  const others = items.filter(({ kind }) => !OF_MUSTER.includes(kind));
  return [...others.slice(0, ATTENTION_MAX - ofAll.length), ...ofAll];
}

const OF_MUSTER: readonly AttentionItem['kind'][] = ['workers_away', 'low_disk', 'lag'];

function failedItem({ failure, message, count, since, session }: FailureGroup): AttentionItem {
  return {
    kind: 'failed_components',
    what: count === 1 ? 'failed host' : 'failed hosts',
    count,
    since: since.toISOString(),
    reason: message === null ? NO_WORDS : firstLine(message),
    failure,
    fix:
      session === null
        ? { action: 'reset their errors', command: './muster component reset-errors --status failed' }
        : {
            action: 'retry the failed hosts',
            command: `./muster session retry ${shellWord(session.name)} --hosts failed`,
          },
    link:
      session === null
        ? { page: 'components', name: null, id: null }
        : { page: 'sessions', name: session.name, id: session.id },
  };
}

function heldItem({ id, name, message, since }: Trouble['held'][number]): AttentionItem {
  return {
    ...{ kind: 'held_session', failure: null },
    what: `held session ${name}`,
    count: 1,
    since: since.toISOString(),
    reason: message,
    fix: { action: 'end the hold', command: `./muster session finish-debug ${shellWord(name)}` },
    link: { page: 'sessions', name, id },
  };
}

function rolloutItem({ configuration, reason, since }: Trouble['rollouts'][number]): AttentionItem {
  return {
    ...{ kind: 'stopped_rollout', failure: null },
    what: `stopped rollout of ${configuration}`,
    count: 1,
    since: since?.toISOString() ?? null,
    reason: reason ?? NO_WORDS,
    fix: { action: 'let it go on', command: `./muster rollout resume ${shellWord(configuration)}` },
    link: { page: 'rollouts', name: configuration, id: null },
  };
}

function backoffItem({ key, until }: Trouble['backoffs'][number]): AttentionItem {
  return {
    ...{ kind: 'backoff', failure: null },
    what: `key ${key} in back-off`,
    count: 1,
    since: null,
    reason: `its last sessions failed; it is tried again at ${until.toISOString()}`,
    fix: { action: 'look at what they wait for', command: './muster batch list' },
    link: { page: 'batches', name: null, id: null },
  };
}

function scheduleItem({ name, error, since }: Trouble['schedules'][number]): AttentionItem {
  return {
    ...{ kind: 'failing_schedule', failure: null },
    what: `schedule ${name}`,
    count: 1,
    since: since?.toISOString() ?? null,
    reason: `its last run failed: ${error === null ? NO_WORDS : firstLine(error)}`,
    fix: { action: 'look at its runs', command: `./muster schedule get ${shellWord(name)}` },
    link: { page: 'schedules', name, id: null },
  };
}

function waitingItem({ id, name, message, since, count }: NonNullable<Trouble['waiting']>): AttentionItem {
  return {
    ...{ kind: 'waiting_session', failure: null },
    what: count === 1 ? `session ${name} waits` : `${count} sessions wait, ${name} the longest`,
    count,
    since: since.toISOString(),
    reason: message,
    fix: { action: 'look at what it waits for', command: `./muster session get ${shellWord(name)}` },
    link: { page: 'sessions', name, id },
  };
}

function driftItem({ count, since }: NonNullable<Trouble['drift']>): AttentionItem {
  return {
    ...{ kind: 'drift', failure: null },
    what: count === 1 ? 'component that drifts' : 'components that drift',
    count,
    since: since?.toISOString() ?? null,
    reason: 'a check found tasks that would change them',
    fix: { action: 'look at the differences', command: './muster drift list --status drifted' },
    link: { page: 'drift', name: null, id: null },
  };
}

function workersItem(reason: string): AttentionItem {
  return {
    ...{ kind: 'workers_away', failure: null },
    ...{ what: 'no worker', count: 1, since: null, reason },
    fix: { action: 'start a worker, and look at its log', command: './muster doctor' },
    link: { page: 'system', name: null, id: null },
  };
}

function diskItem({ path, free }: NonNullable<Trouble['disk']>): AttentionItem {
  return {
    ...{ kind: 'low_disk', failure: null },
    ...{ what: 'little room', count: 1, since: null, reason: `${bytesText(free)} are free at ${path}` },
    fix: { action: 'make room', command: './muster doctor' },
    link: { page: 'system', name: null, id: null },
  };
}

function lagItems({ lags, isBatcherLate }: Trouble): AttentionItem[] {
  const item = (what: string, reason: string): AttentionItem => ({
    ...{ kind: 'lag', failure: null },
    ...{ what, count: 1, since: null, reason },
    fix: { action: 'look at what is late', command: './muster doctor' },
    link: { page: 'system', name: null, id: null },
  });
  return [
    ...(lags.events < LATE.events
      ? []
      : [item('late events', `the newest event of a run was stored ${Math.round(lags.events)} s late`)]),
    ...(lags.outbox < LATE.outbox
      ? []
      : [item('late messages', `a start or cancel waits for Temporal for ${Math.round(lags.outbox)} s`)]),
    ...(isBatcherLate ? [item('late batcher', 'no pass came when one was due')] : []),
  ];
}
