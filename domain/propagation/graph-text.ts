/** The graph of a plan as DOT and as a tree of text. Both show occurrences, conditions, statuses and what closed each loop. */
import { musterError } from '../errors.ts';
import { byName } from './closure.ts';
import { keywordOf } from './event-words.ts';
import type { NodeStatus, PlanCycle, PlanEdge, PlanNode } from './plan-schema.ts';

/** A plan as its graph shows it. */
export interface GraphView {
  /** In canonical order. */
  nodes: readonly Pick<PlanNode, 'id' | 'base'>[];
  edges: readonly PlanEdge[];
  cycles: readonly Pick<PlanCycle, 'closed_by'>[];
  statuses: Readonly<Record<string, NodeStatus>>;
}

/** What of a plan is shown: a node and what is near it. */
export interface GraphCut {
  around: string;
  /** Steps along edges, in either direction. */
  depth: number;
}

/** Nodes that a graph shows. */
export const MOST_NODES = 500;

const COLOURS: Readonly<Record<NodeStatus, string>> = {
  pending: 'cyan',
  in_progress: 'yellow',
  error_retry: '#ffff55',
  success: 'green',
  error: 'red',
  noop: 'black',
  skipped: 'blue',
  blocked: 'magenta',
};

/**
 * Returns the part of a graph that may be shown. Throws `graph_too_large` above 500 nodes, and `node_not_found` for a cut around a node
 * that the plan has not.
 */
export function graphView(view: GraphView, cut?: GraphCut): GraphView {
  const kept = cut === undefined ? view : around(view, cut);
  refuseLargeGraph(kept.nodes.length, cut);
  return kept;
}

/** Refuses to show so many nodes. Throws `graph_too_large`. */
export function refuseLargeGraph(nodes: number, cut: GraphCut | undefined): void {
  if (nodes <= MOST_NODES) return;
  const fix = cut === undefined ? 'name a node to look around, and a depth' : 'name a smaller depth';
  throw musterError('graph_too_large', `the graph has ${nodes} nodes, at most ${MOST_NODES} are shown: ${fix}`);
}

function around(view: GraphView, { around: centre, depth }: GraphCut): GraphView {
  const isCentre = ({ id, base }: GraphView['nodes'][number]) => [id, base, `${id}#0`].includes(centre);
  const near = new Set(view.nodes.filter(isCentre).map(({ id }) => id));
  if (near.size === 0) throw musterError('node_not_found', `the plan has no node ${centre}`);
  const beside = new Map(view.nodes.map(({ id }) => [id, [] as string[]]));
  for (const { from, to } of view.edges) {
    beside.get(from)?.push(to);
    beside.get(to)?.push(from);
  }
  let edge = [...near];
  for (let step = 0; step < depth && edge.length > 0; step += 1) {
    edge = [...new Set(edge.flatMap((node) => beside.get(node) ?? []))].filter((node) => !near.has(node));
    for (const node of edge) near.add(node);
  }
  return {
    ...view,
    nodes: view.nodes.filter(({ id }) => near.has(id)),
    edges: view.edges.filter(({ from, to }) => near.has(from) && near.has(to)),
  };
}

/** Returns the graph in the language of Graphviz. */
export function graphDot(view: GraphView): string {
  const closes = closingEdges(view);
  const nodes = view.nodes.map(({ id }) => {
    const status = view.statuses[id] ?? 'pending';
    return `  ${quoted(id)} [label=${quoted(`${id}\\n${status}`)}, color=${quoted(COLOURS[status])}];`;
  });
  const edges = view.edges.map((edge) => {
    const style = edge.type === 'react_on' ? 'solid' : edge.type === 'depends_on' ? 'dashed' : 'dotted';
    const closing = closes(edge) ? ', color="red", penwidth=2' : '';
    const label = closes(edge) ? `${labelOf(edge)}\\ncloses the loop` : labelOf(edge);
    return `  ${quoted(edge.from)} -> ${quoted(edge.to)} [label=${quoted(label)}, style=${style}${closing}];`;
  });
  return ['digraph plan {', '  rankdir=LR;', '  node [shape=box];', ...nodes, ...edges, '}', ''].join('\n');
}

/** Returns the graph as a tree: each node below the first node that it follows, and named again below the others. */
export function graphTree(view: GraphView): string {
  const closes = closingEdges(view);
  const place = new Map(view.nodes.map(({ id }, index) => [id, index]));
  const leaving = new Map<string, PlanEdge[]>();
  for (const edge of view.edges) leaving.set(edge.from, [...(leaving.get(edge.from) ?? []), edge]);
  const entered = new Set(view.edges.map(({ to }) => to));
  const shown = new Set<string>();
  const lines: string[] = [];
  const show = (id: string, lead: string, tail: string, said: string): void => {
    const isKnown = shown.has(id);
    shown.add(id);
    const status = view.statuses[id] ?? 'pending';
    lines.push(`${lead}${said}${id} [${status}]${isKnown ? ' (above)' : ''}`);
    if (isKnown) return;
    const children = [...(leaving.get(id) ?? [])].sort(
      (a, b) => (place.get(a.to) ?? 0) - (place.get(b.to) ?? 0) || byName(labelOf(a), labelOf(b)),
    );
    for (const [index, edge] of children.entries()) {
      const isLast = index === children.length - 1;
      const closing = closes(edge) ? ', closes the loop' : '';
      show(
        edge.to,
        `${tail}${isLast ? '`-' : '|-'} `,
        `${tail}${isLast ? '   ' : '|  '}`,
        `${labelOf(edge)}${closing}: `,
      );
    }
  };
  for (const { id } of view.nodes) if (!entered.has(id)) show(id, '', '', '');
  return lines.map((line) => `${line}\n`).join('');
}

/** Tells which edges are of the pairs that closed a loop. */
function closingEdges({ nodes, cycles }: GraphView): (edge: PlanEdge) => boolean {
  const bases = new Map(nodes.map(({ id, base }) => [id, base]));
  const pairs = new Set(cycles.flatMap(({ closed_by }) => closed_by.map(([from, to]) => `${from} ${to}`)));
  return ({ type, from, to }) => type !== 'sequence' && pairs.has(`${bases.get(from)} ${bases.get(to)}`);
}

const labelOf = ({ type, on }: PlanEdge): string => (type === 'sequence' ? 'then' : `${keywordOf(type)} ${on}`);

const quoted = (text: string): string => `"${text.replaceAll('"', '\\"')}"`;
