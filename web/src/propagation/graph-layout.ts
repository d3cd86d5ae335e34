/** Where the nodes of a plan are drawn: each behind all that it waits for. */

interface Edge {
  from: string;
  to: string;
}

export interface Placed {
  id: string;
  /** Left upper corner, px. */
  x: number;
  y: number;
}

export interface Drawing {
  nodes: Placed[];
  /** Edges between nodes that are drawn, as lines. */
  lines: { key: string; x1: number; y1: number; x2: number; y2: number }[];
  width: number;
  height: number;
}

/** Size of a node and of what is between nodes, px. */
export const NODE = { width: 210, height: 44 };
const GAP = { x: 70, y: 16 };
const EDGE = 8;

/**
 * Returns the drawing. Nodes keep their order within a column.
 * @param ids nodes in canonical order
 */
export function layOutGraph(ids: readonly string[], edges: readonly Edge[]): Drawing {
  const known = new Set(ids);
  const drawn = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const columns = columnsOf(ids, drawn);
  const rows = new Map<number, number>();
  const places = new Map<string, Placed>();
  for (const id of ids) {
    const column = columns.get(id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    places.set(id, { id, x: EDGE + column * (NODE.width + GAP.x), y: EDGE + row * (NODE.height + GAP.y) });
  }
  const most = Math.max(0, ...rows.values());
  const lines = new Map<string, Drawing['lines'][number]>();
  for (const { from, to } of drawn) {
    const [one, other] = [places.get(from), places.get(to)];
    if (one === undefined || other === undefined) continue;
    const key = `${from} ${to}`;
    const middle = NODE.height / 2;
    lines.set(key, { key, x1: one.x + NODE.width, y1: one.y + middle, x2: other.x, y2: other.y + middle });
  }
  return {
    nodes: [...places.values()],
    lines: [...lines.values()],
    width: 2 * EDGE + Math.max(1, rows.size) * (NODE.width + GAP.x) - GAP.x,
    height: 2 * EDGE + Math.max(1, most) * (NODE.height + GAP.y) - GAP.y,
  };
}

/** Returns the column of each node: one more than the greatest of those before it. What would follow itself stays in the first. */
function columnsOf(ids: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const behind = new Map<string, string[]>();
  const open = new Map(ids.map((id) => [id, 0]));
  for (const { from, to } of edges) {
    behind.set(from, [...(behind.get(from) ?? []), to]);
    open.set(to, (open.get(to) ?? 0) + 1);
  }
  const columns = new Map<string, number>();
  const ready = ids.filter((id) => open.get(id) === 0);
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    const column = columns.get(id) ?? 0;
    columns.set(id, column);
    for (const next of behind.get(id) ?? []) {
      columns.set(next, Math.max(columns.get(next) ?? 0, column + 1));
      const left = (open.get(next) ?? 1) - 1;
      open.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  return columns;
}
