/** The groups of a fleet in order, of which a part at a time is in memory: sorted parts go to spools, and are merged when they are read. */
import { recordsOf, type Spool } from './spool.ts';

/** Members that are in memory at most. */
const HELD_MAX = 1_000_000;
/** What a group takes, as members. */
const OF_A_GROUP = 16;
/** Members that are handed on at once. */
const PIECE = 1_000;

/** Some members of a group, in order; a group comes in one piece after the other. */
export interface GroupPiece {
  name: string;
  members: readonly string[];
}

export interface GroupRuns {
  /** Names hold neither a line's end nor a comma. Members come in the order in which they are read again. */
  add(group: string, member: string): void;
  /** Puts what is in memory away when it is much. */
  settle(): Promise<void>;
  /** Returns the groups in the order of their names. */
  pieces(): AsyncGenerator<GroupPiece>;
  /** The most that was in memory so far, as members. */
  readonly heaviest: number;
}

/** @param newSpool makes a spool, which the caller closes */
export function createGroupRuns(newSpool: () => Spool, most = HELD_MAX): GroupRuns {
  let groups = new Map<string, string[]>();
  let weight = 0;
  let heaviest = 0;
  const runs: Spool[] = [];
  return {
    add: (group, member) => {
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [member]);
      else members.push(member);
      weight += members === undefined ? OF_A_GROUP + 1 : 1;
      if (weight > heaviest) heaviest = weight;
    },
    settle: async () => {
      if (weight < most) return;
      const spool = newSpool();
      runs.push(spool);
      for (const { name, members } of sortedPieces(groups)) await spool.write(`${name}\n${members.join(',')}\n`);
      [groups, weight] = [new Map(), 0];
    },
    pieces: () => merged([...runs.map(piecesOf), heldPieces(groups)]),
    get heaviest() {
      return heaviest;
    },
  };
}

function* sortedPieces(groups: ReadonlyMap<string, readonly string[]>): Generator<GroupPiece> {
  for (const name of [...groups.keys()].sort()) {
    const members = groups.get(name) ?? [];
    for (let at = 0; at < members.length; at += PIECE) yield { name, members: members.slice(at, at + PIECE) };
  }
}

async function* heldPieces(groups: ReadonlyMap<string, readonly string[]>): AsyncGenerator<GroupPiece> {
  yield* sortedPieces(groups);
}

async function* piecesOf(spool: Spool): AsyncGenerator<GroupPiece> {
  let name: string | null = null;
  for await (const lines of recordsOf(spool, '\n')) {
    for (const line of lines) {
      if (name === null) name = line;
      else {
        yield { name, members: line.split(',') };
        name = null;
      }
    }
  }
}

/** Of runs that have the same group the first comes first. */
async function* merged(runs: readonly AsyncGenerator<GroupPiece>[]): AsyncGenerator<GroupPiece> {
  let heads: { run: AsyncGenerator<GroupPiece>; piece: GroupPiece }[] = [];
  for (const run of runs) {
    const { value } = await run.next();
    if (value !== undefined) heads.push({ run, piece: value });
  }
  for (;;) {
    const [head] = heads;
    if (head === undefined) return;
    const first = heads.reduce((least, one) => (one.piece.name < least.piece.name ? one : least), head);
    yield first.piece;
    const { value } = await first.run.next();
    if (value !== undefined) first.piece = value;
    else heads = heads.filter((one) => one !== first);
  }
}
