/** What happened to a component, in words. */
import type { TimelineEntry } from '../../../domain/audit/schema.ts';
import type { ComponentDetail } from '../../../domain/components/list-schema.ts';

/** A session that an entry names, where it is still known. */
export interface NamedSession {
  id: string;
  name: string;
}

export interface ToldEntry {
  what: string;
  session: NamedSession | null;
}

/** Returns an entry in words, with the session that it is of. */
export function entryWords(entry: TimelineEntry): ToldEntry {
  switch (entry.type) {
    case 'change':
      return { what: changeWords(entry), session: null };
    case 'layer':
      return { what: layerWords(entry), session: sessionOf(entry) };
    case 'batch':
      return { what: batchWords(entry), session: sessionOf(entry) };
    case 'drift': {
      const found = entry.changed > 0 ? `${entry.status}, ${entry.changed} tasks would change` : entry.status;
      return { what: `drift of ${layerName(entry)}: ${found}`, session: sessionOf(entry) };
    }
    case 'action':
      return {
        what: sentence(`plan ${entry.plan_name}, action ${entry.node}: ${entry.outcome ?? 'at work'}`, entry.message),
        session: null,
      };
  }
}

type Entry<Type extends TimelineEntry['type']> = Extract<TimelineEntry, { type: Type }>;

function changeWords({ action, actor, before, after, reason }: Entry<'change'>): string {
  const members = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const what = action === 'update' ? `changed ${members.join(', ')}` : { create: 'made', delete: 'deleted' }[action];
  return sentence(`${what ?? action}${actor === null ? '' : ` by ${actor}`}`, reason);
}

function layerWords(entry: Entry<'layer'>): string {
  const how = entry.is_check ? `check of ${layerName(entry)}` : layerName(entry);
  return sentence(`${how}: ${entry.status}`, entry.message);
}

function batchWords({ state, result, reason, configuration, tries }: Entry<'batch'>): string {
  const how = result === null ? state : `${state}, ${result}`;
  return sentence(`batch of ${configuration ?? 'no configuration'}, try ${tries}: ${how}`, reason);
}

const layerName = ({ layer, playbook }: { layer: number; playbook: string | null }) =>
  `layer ${layer + 1}${playbook === null ? '' : ` ${playbook}`}`;

const sentence = (words: string, more: string | null) => (more === null || more === '' ? words : `${words}: ${more}`);

const sessionOf = ({ session, session_id }: { session: string | null; session_id: string | null }) =>
  session === null || session_id === null ? null : { id: session_id, name: session };

/** Types of entries that can say why a layer is not applied. */
export const FAILING_TYPES = ['layer', 'batch'] as const satisfies TimelineEntry['type'][];

/** Returns entries of several types as one timeline. */
export function newestFirst(entries: readonly TimelineEntry[]): TimelineEntry[] {
  return entries.toSorted((one, other) => Date.parse(other.time) - Date.parse(one.time));
}

export interface LastFailure {
  message: string;
  at: string;
  session: NamedSession | null;
}

/** Returns why the component is not as it should be, of the newest entry that says why; null when no layer is bad, or nothing says it. */
export function lastFailure(
  { reached }: Pick<ComponentDetail, 'reached'>,
  entries: readonly TimelineEntry[],
): LastFailure | null {
  const bad = reached.filter(({ status }) => status === 'failed' || status === 'incomplete');
  const sessions = new Set(bad.map(({ session_name }) => session_name));
  for (const entry of entries) {
    if (!('session' in entry) || entry.session === null || !sessions.has(entry.session)) continue;
    const message = failureOf(entry);
    if (message !== null) return { message, at: entry.time, session: sessionOf(entry) };
  }
  return null;
}

function failureOf(entry: TimelineEntry): string | null {
  if (entry.type === 'layer') return entry.is_check ? null : entry.message;
  return entry.type === 'batch' && entry.result === 'failure' ? entry.reason : null;
}

/** A desired layer beside what was reached of its repository and playbook. */
export interface LayerPair {
  name: string;
  desired: { status: string; commit: string } | null;
  reached: ComponentDetail['reached'][number] | null;
}

/** Returns desired layers in their order with what was reached of each, then what was reached of none of them. */
export function layersBeside({ desired, reached }: Pick<ComponentDetail, 'desired' | 'reached'>): LayerPair[] {
  const left = new Set(reached);
  const pairs = desired.map((layer, index): LayerPair => {
    const entry = [...left].find((one) => one.clone_url === layer.clone_url && one.playbook === layer.playbook) ?? null;
    if (entry !== null) left.delete(entry);
    const name = `layer ${index + 1}/${desired.length} ${layer.playbook ?? ''}`.trim();
    return { name, desired: { status: layer.status, commit: layer.commit ?? '' }, reached: entry };
  });
  return [
    ...pairs,
    ...[...left].map((entry) => ({ name: `not desired: ${entry.playbook}`, desired: null, reached: entry })),
  ];
}
