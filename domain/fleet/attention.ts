/** From what the store has of trouble to what a person is told of it. */
import { failureSignature, firstLine } from '../components/failure-signature.ts';
import { shellWord } from '../text/shell-word.ts';
import { ATTENTION_KINDS, type AttentionItem } from './attention-schema.ts';

/** Failed components with the same last message. */
export interface FailureGroup {
  /** Null where nothing says why. */
  message: string | null;
  count: number;
  since: Date;
  /** When the newest of them failed, its id, and its session; null where none is left. */
  latest: Date;
  host: string;
  session: { id: string; name: string } | null;
}

export interface Trouble {
  failures: readonly FailureGroup[];
  held: readonly { id: string; name: string; message: string; since: Date }[];
  rollouts: readonly { configuration: string; reason: string | null; since: Date | null }[];
  schedules: readonly { name: string; error: string | null; since: Date | null }[];
  /** Keys of batches that wait after a failure. */
  backoffs: readonly { key: string; until: Date }[];
}

const NO_WORDS = 'nothing is kept of why';

/** Returns the items, the worst first: by kind, then by count, then the oldest. */
export function attentionItems(trouble: Trouble): AttentionItem[] {
  const items = [
    ...bySignature(trouble.failures).map(failedItem),
    ...trouble.held.map(heldItem),
    ...trouble.rollouts.map(rolloutItem),
    ...trouble.backoffs.map(backoffItem),
    ...trouble.schedules.map(scheduleItem),
  ];
  const rank = ({ kind }: AttentionItem) => ATTENTION_KINDS.indexOf(kind);
  return items.sort((a, b) => rank(a) - rank(b) || b.count - a.count || (a.since ?? '').localeCompare(b.since ?? ''));
}

/** Joins the groups whose messages differ only in what is of one host or one try. */
function bySignature(groups: readonly FailureGroup[]): FailureGroup[] {
  const joined = new Map<string, FailureGroup>();
  for (const group of groups) {
    const key = group.message === null ? '' : failureSignature(group.message, group.host);
    const known = joined.get(key);
    if (known === undefined) {
      joined.set(key, group);
      continue;
    }
    const newest = group.latest > known.latest ? group : known;
    const oldest = group.since < known.since ? group : known;
    joined.set(key, { ...newest, count: known.count + group.count, since: oldest.since });
  }
  return [...joined.values()];
}

function failedItem({ message, count, since, session }: FailureGroup): AttentionItem {
  return {
    kind: 'failed_components',
    what: count === 1 ? 'failed host' : 'failed hosts',
    count,
    since: since.toISOString(),
    reason: message === null ? NO_WORDS : firstLine(message),
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
    kind: 'held_session',
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
    kind: 'stopped_rollout',
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
    kind: 'backoff',
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
    kind: 'failing_schedule',
    what: `schedule ${name}`,
    count: 1,
    since: since?.toISOString() ?? null,
    reason: `its last run failed: ${error === null ? NO_WORDS : firstLine(error)}`,
    fix: { action: 'look at its runs', command: `./muster schedule get ${shellWord(name)}` },
    link: { page: 'schedules', name, id: null },
  };
}
