import { NAMED } from './lease-wait.ts';

/** A component that sessions wait for. Sessions are told by their numbers: an older one has a lower number. */
export interface WantedComponent {
  /** Who has it and has a slot or had one; null: nobody. */
  holder: number | null;
  /** Who runs and waits for it, in the order of the numbers. */
  asks: readonly number[];
}

/** Whom a session waits for. */
export interface LeaseWait {
  /** Those with the most of its components, as many as are named. */
  first: { session: string; components: number }[];
  /** How many there are. */
  count: number;
}

/**
 * Whom each of these sessions waits for, by its number: who has one of its components, and who is older and waits for one. Those that nobody keeps
 * off are left out. It costs one step for each pair of a component of theirs and a session that keeps them off it.
 * @param components all that they want
 * @param names of all sessions that are told of, by number
 */
export function leaseWaitsOf(
  waiters: readonly number[],
  components: readonly WantedComponent[],
  names: ReadonlyMap<number, string>,
): Map<number, LeaseWait> {
  const numbers = [...names.keys()].sort((one, other) => one - other);
  const placeOf = new Map(numbers.map((number, place) => [number, place]));
  const nameAt = numbers.map((number) => names.get(number) as string);
  const byName = [...nameAt.keys()].sort((one, other) =>
    (nameAt[one] as string) < (nameAt[other] as string) ? -1 : 1,
  );
  const rankAt = new Int32Array(numbers.length);
  for (const [rank, place] of byName.entries()) rankAt[place] = rank;

  const wanted = new Map<number, { holder: number; asks: Int32Array }[]>(waiters.map((waiter) => [waiter, []]));
  for (const { holder, asks } of components) {
    const places = {
      holder: holder === null ? -1 : (placeOf.get(holder) ?? -1),
      asks: Int32Array.from(asks, (number) => placeOf.get(number) ?? -1),
    };
    for (const number of asks) wanted.get(number)?.push(places);
  }

  const waits = new Map<number, LeaseWait>();
  for (const [waiter, itsComponents] of wanted) {
    const counts = countHolders(placeOf.get(waiter) ?? -1, itsComponents, numbers.length);
    const first = firstOf(counts, rankAt);
    if (first.length === 0) continue;
    const describe = (place: number) => ({ session: nameAt[place] as string, components: counts[place] as number });
    waits.set(waiter, {
      first: first.map(describe),
      count: counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0),
    });
  }
  return waits;
}

/** How many of the components each session keeps the one at place `me` off. */
function countHolders(
  me: number,
  components: readonly { holder: number; asks: Int32Array }[],
  sessions: number,
): Int32Array {
  const counts = new Int32Array(sessions);
  const add = (place: number) => {
    counts[place] = (counts[place] as number) + 1;
  };
  for (const { holder, asks } of components) {
    if (holder >= 0 && holder !== me) add(holder);
    for (const place of asks) {
      if (place >= me) break;
      if (place >= 0) add(place);
    }
  }
  return counts;
}

/** The places of those with the most, and of the lowest rank among their like; as many as are named. */
function firstOf(counts: Int32Array, rankAt: Int32Array): number[] {
  const first: number[] = [];
  const isBefore = (one: number, other: number) => {
    const more = (counts[one] as number) - (counts[other] as number);
    return more === 0 ? (rankAt[one] as number) < (rankAt[other] as number) : more > 0;
  };
  for (const [place, count] of counts.entries()) {
    if (count === 0 || (first.length === NAMED && !isBefore(place, first[NAMED - 1] as number))) continue;
    const at = first.findIndex((other) => isBefore(place, other));
    first.splice(at < 0 ? first.length : at, 0, place);
    if (first.length > NAMED) first.pop();
  }
  return first;
}
