import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { PlanEdge } from '../../../domain/propagation/plan-schema.ts';
import type { PlanNodeView, PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { shownText } from '../shared/ui/shown-text.ts';
import { layOutGraph, NODE } from './graph-layout.ts';
import { loopOf } from './plan-text.ts';

/** Characters of a name that fit into a node. */
const NAMED = 26;

interface PlanGraphProps {
  plan: PlanView;
  nodes: readonly PlanNodeView[];
  edges: readonly PlanEdge[];
  /** Whether not all edges are there. */
  isCut: boolean;
}

/** The graph of a plan, from left to right. A node of a loop says which loop; the table has the same facts. */
export function PlanGraph({ plan, nodes, edges, isCut }: PlanGraphProps) {
  const ids = nodes.map(({ id }) => id).join('\n');
  // Statuses change often, places never.
  const drawing = useMemo(() => layOutGraph(ids.split('\n'), edges), [ids, edges]);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return (
    <figure aria-label="Graph" className="graph">
      <svg width={drawing.width} height={drawing.height}>
        <title>Graph of the plan</title>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
            <path d="M0 0 L8 4 L0 8 z" />
          </marker>
        </defs>
        {drawing.lines.map(({ key, ...line }) => (
          <line key={key} {...line} markerEnd="url(#arrow)" />
        ))}
        {drawing.nodes.map(({ id, x, y }) => {
          const node = byId.get(id);
          if (node === undefined) return null;
          const loop = loopOf(plan, node);
          const name = shownText(id);
          return (
            <Link key={id} to="/propagation/$id" params={{ id: plan.id }} search={{ shown: id }}>
              <rect className={`node ${node.status}`} x={x} y={y} width={NODE.width} height={NODE.height} rx={4} />
              <text x={x + 8} y={y + 18}>
                {name.length > NAMED ? `${name.slice(0, NAMED)}...` : name}
              </text>{' '}
              <text x={x + 8} y={y + 36}>
                {node.status}
                {loop !== null && `, loop ${loop}`}
              </text>
            </Link>
          );
        })}
      </svg>
      {isCut && <figcaption>Not all edges are drawn: there are too many.</figcaption>}
    </figure>
  );
}
