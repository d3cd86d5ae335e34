import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { PlanEdge } from '../../../domain/propagation/plan-schema.ts';
import type { PlanNodeView, PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { type ListPlace, listPath } from '../shared/list/filters.ts';
import { ListTable, Paging } from '../shared/list/list-table.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { PlanGraph } from './plan-graph.tsx';
import { loopOf, reasonText, sizeOf } from './plan-text.ts';

/** Nodes of a plan up to which its graph is drawn; above, the table has pages. */
const DRAWN = 500;
/** Edges that are read. */
const EDGES = 10_000;
const ENDED: readonly string[] = ['succeeded', 'failed', 'stopped', 'abandoned'];

interface NodesAnswer {
  nodes: PlanNodeView[];
  next: { after_id: string } | null;
}

interface EdgesAnswer {
  edges: PlanEdge[];
  next: object | null;
}

/** The nodes of a plan: as a graph where it is small enough, and always as a table with the same facts. */
export function PlanNodes({ plan, search }: { plan: PlanView; search: ListPlace }) {
  const { id, state } = plan;
  const values = { after_id: search.after_id, shown: search.shown };
  const isSmall = sizeOf(plan) <= DRAWN;
  const base = recordPath('propagation/plans', id);
  const path = listPath(`${base}/nodes`, [], isSmall ? {} : values, { limit: String(isSmall ? DRAWN : 100) });
  const nodes = useQuery({
    // An end is read once more: what was read before may be older.
    queryKey: ['plan', id, path, ENDED.includes(state)],
    queryFn: ({ signal }) => callApi<NodesAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  const edges = useQuery({
    queryKey: ['plan-edges', id],
    queryFn: ({ signal }) => callApi<EdgesAnswer>(`${base}/edges?limit=${EDGES}`, { signal }),
    enabled: isSmall,
    // The edges of a plan stay as it was built.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <section aria-label="Nodes">
      <h2>Nodes</h2>
      {edges.isError && <Failure error={edges.error} retry={() => void edges.refetch()} />}
      {nodes.isError && <Failure error={nodes.error} retry={() => void nodes.refetch()} />}
      {isSmall && nodes.data && edges.data && (
        <PlanGraph plan={plan} nodes={nodes.data.nodes} edges={edges.data.edges} isCut={edges.data.next !== null} />
      )}
      {!isSmall && <p>A graph of more than {DRAWN} nodes is not drawn: a node that is opened shows what is near it.</p>}
      {nodes.data && <Table plan={plan} nodes={nodes.data.nodes} after={search.after_id} />}
      {nodes.data && !isSmall && <Paging order="names" search={values} next={nodes.data.next} />}
    </section>
  );
}

interface TableProps {
  plan: PlanView;
  nodes: readonly PlanNodeView[];
  /** Where the page of the table begins. */
  after: string | undefined;
}

function Table({ plan, nodes, after }: TableProps) {
  return (
    <ListTable
      name="Nodes"
      isMain
      rows={nodes}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Node',
          cell: ({ id }) => (
            <Link to="/propagation/$id" params={{ id: plan.id }} search={{ after_id: after, shown: id }}>
              {shownText(id)}
            </Link>
          ),
        },
        { head: 'Status', cell: ({ status }) => status },
        { head: 'Outcome', cell: ({ outcome }) => outcome ?? '' },
        { head: 'Reason', cell: (node) => shownText(reasonText(node)) },
        { head: 'Run', cell: ({ occurrence }) => occurrence + 1 },
        { head: 'Loop', cell: (node) => loopOf(plan, node) ?? '' },
        { head: 'Origin', cell: ({ origin }) => origin },
        { head: 'Target', cell: ({ target }) => shownText(target ?? '') },
        { head: 'Attempts', cell: ({ attempts }) => attempts },
      ]}
    />
  );
}
