/** What two versions of a configuration differ in. */
import { sameJson } from '../import-record.ts';
import type { LayerDiff, MemberDiff } from './history-schema.ts';
import type { Layer } from './schema.ts';

/** Members of a layer, in the order in which they are shown. */
const MEMBERS = ['name', 'clone_url', 'source', 'playbook', 'branch', 'commit', 'special_parameters'] as const;

/**
 * Returns what became of each layer. Layers belong together by repository and playbook, which no two of a configuration share, else by
 * name, else by place where repository or playbook is the same.
 */
export function diffLayers(before: readonly Layer[], after: readonly Layer[]): LayerDiff[] {
  const pairs = pairsOf(before, after);
  const stayed = inOrder(after.flatMap((_, to) => pairs.get(to) ?? []));
  const now = after.map((layer, to): LayerDiff => {
    const from = pairs.get(to) ?? null;
    const old = from === null ? undefined : before[from];
    const members = old === undefined ? [] : diffMembers(old, layer, MEMBERS);
    return { from, to, moved: from !== null && !stayed.has(from), title: titleOf(layer), members };
  });
  const paired = new Set(pairs.values());
  const removed = before.flatMap((layer, from): LayerDiff[] =>
    paired.has(from) ? [] : [{ from, to: null, moved: false, title: titleOf(layer), members: [] }],
  );
  return [...now, ...removed];
}

/** Returns the members whose values differ; null stands for none. */
export function diffMembers(before: object, after: object, members: readonly string[]): MemberDiff[] {
  return members.flatMap((member) => {
    const [old, now] = [ownValue(before, member), ownValue(after, member)];
    return sameJson(old, now) ? [] : [{ member, before: old, after: now }];
  });
}

function ownValue(record: object, member: string): unknown {
  return Object.hasOwn(record, member) ? (record as Record<string, unknown>)[member] : null;
}

const repositoryOf = ({ source, clone_url }: Layer) => (source ? `source ${source}` : `address ${clone_url ?? ''}`);

function titleOf(layer: Layer): string {
  return [layer.name || layer.source || layer.clone_url || '', layer.playbook ?? ''].filter((word) => word).join(' ');
}

/** Indices before by indices after. */
function pairsOf(before: readonly Layer[], after: readonly Layer[]): Map<number, number> {
  const pairs = new Map<number, number>();
  const open = new Set(before.keys());
  const pair = (matches: (old: Layer, now: Layer, from: number, to: number) => boolean) => {
    for (const [to, now] of after.entries()) {
      if (pairs.has(to)) continue;
      const from = [...open].find((index) => matches(before[index] as Layer, now, index, to));
      if (from === undefined) continue;
      pairs.set(to, from);
      open.delete(from);
    }
  };
  pair((old, now) => repositoryOf(old) === repositoryOf(now) && old.playbook === now.playbook);
  pair((old, now) => now.name !== undefined && now.name !== '' && old.name === now.name);
  pair(
    (old, now, from, to) => from === to && (repositoryOf(old) === repositoryOf(now) || old.playbook === now.playbook),
  );
  return pairs;
}

/** The longest part of a list of different numbers that ascends: what stands in it has not moved. */
function inOrder(places: readonly number[]): ReadonlySet<number> {
  // The list that ends at each place, longest first found.
  const longest: number[][] = [];
  for (const [index, place] of places.entries()) {
    let best: number[] = [];
    for (let before = 0; before < index; before++) {
      const list = longest[before] as number[];
      if ((places[before] as number) < place && list.length > best.length) best = list;
    }
    longest.push([...best, place]);
  }
  return new Set(longest.reduce((best, list) => (list.length > best.length ? list : best), []));
}
