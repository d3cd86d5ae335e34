/** Which of the resources that are due run now, and where. */

export interface Candidate {
  id: string;
  /** The entry that it belongs to. */
  kind: string;
  /** Class of urgency: smaller goes first. */
  urgency: number;
  dueAt: Date;
}

export interface Places {
  /** Places that are free for each kind, all processes together. */
  kinds: ReadonlyMap<string, number>;
  /** Places that are free in each live process, by its machine. */
  machines: ReadonlyMap<string, number>;
}

export interface Admitted {
  id: string;
  machine: string;
}

/** Returns what runs now: the most urgent first, then what has waited longest, each on the machine with the most free places. */
export function admit(candidates: readonly Candidate[], places: Places): Admitted[] {
  const kinds = new Map(places.kinds);
  const machines = new Map(places.machines);
  const admitted: Admitted[] = [];
  const inOrder = [...candidates].sort(
    (one, other) => one.urgency - other.urgency || one.dueAt.getTime() - other.dueAt.getTime(),
  );
  for (const { id, kind } of inOrder) {
    const free = kinds.get(kind) ?? 0;
    const machine = freest(machines);
    if (machine === null) break;
    if (free <= 0) continue;
    kinds.set(kind, free - 1);
    machines.set(machine, (machines.get(machine) ?? 0) - 1);
    admitted.push({ id, machine });
  }
  return admitted;
}

function freest(machines: ReadonlyMap<string, number>): string | null {
  let best: [string | null, number] = [null, 0];
  for (const [machine, free] of machines) if (free > best[1]) best = [machine, free];
  return best[0];
}
