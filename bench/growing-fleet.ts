/** A fleet that grows: components with tags that name a few, some and many of them, whatever the size of the whole. */
import { expectOk, fleetEntry, makeConfigurations } from './component-fleet.ts';
import type { KeepAliveClient } from './keep-alive-client.ts';

/** Components with the same tag `rack`, and with the same tag `chassis`. */
export const RACK = 1_000;
export const CHASSIS = 64;
const AT_ONCE = 10_000;

/** Those that lack a layer are disabled, so that the batcher has nothing to do for them. */
function entry(index: number) {
  const { tags, ...component } = fleetEntry(index);
  return {
    ...component,
    enabled: index % 10 !== 0,
    tags: { ...tags, rack: rackOf(index), chassis: `c${Math.floor(index / CHASSIS)}` },
  };
}

export const rackOf = (index: number): string => `r${Math.floor(index / RACK)}`;

/** Makes the components from `from` up to `to`; the configurations with the first of them. */
export async function growFleet(client: KeepAliveClient, from: number, to: number): Promise<void> {
  if (from === 0) await makeConfigurations(client);
  for (let start = from; start < to; start += AT_ONCE) {
    const size = Math.min(AT_ONCE, to - start);
    expectOk(
      await client.send(
        'PUT',
        '/v3/components',
        Array.from({ length: size }, (_, index) => entry(start + index)),
      ),
    );
  }
}

/** The bodies that make so many components from `first` on pending, and that put them back as they were. */
export function changedSome(first: number, count: number): { pending: object[]; back: object[] } {
  const entries = enabledFrom(first, count);
  return {
    pending: entries.map(({ id }) => ({ id, state: [] })),
    back: entries.map(({ id, state }) => ({ id, state })),
  };
}

/** The bodies that give so many components from `first` on a standing of their own each, and that put them back as they were. */
export function scattered(first: number, count: number): { apart: object[]; back: object[] } {
  const entries = enabledFrom(first, count);
  return {
    apart: entries.map(({ id, state }, index) => ({
      id,
      state: state.map((layer) => ({ ...layer, commit: String(index).padStart(40, 'c') })),
    })),
    back: entries.map(({ id, state }) => ({ id, state })),
  };
}

function enabledFrom(first: number, count: number): ReturnType<typeof entry>[] {
  const entries: ReturnType<typeof entry>[] = [];
  for (let index = first; entries.length < count; index += 1) {
    const component = entry(index);
    if (component.enabled) entries.push(component);
  }
  return entries;
}
