import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OperatorReconcileView } from '../../../domain/operator/view-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { type ListPlace, listPath } from '../shared/list/filters.ts';
import { ListTable, Paging } from '../shared/list/list-table.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { causeText, countsText, outcomeText } from './resource-text.ts';

interface ReconcilesAnswer {
  reconciles: OperatorReconcileView[];
  next: { after_id: string } | null;
}

/** The reconciles of a resource, newest first, each with its cause. */
export function Reconciles({ resource, search }: { resource: string; search: ListPlace }) {
  const values = { after_id: search.after_id, shown: search.shown };
  const path = listPath(`${recordPath('operator/resources', resource)}/reconciles`, [], values, { limit: '50' });
  const read = useQuery({
    queryKey: ['operator', 'resource', resource, path],
    queryFn: ({ signal }) => callApi<ReconcilesAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  return (
    <section aria-label="Reconciles">
      <h2>Reconciles</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data?.reconciles.length === 0 && <p>It has not reconciled yet.</p>}
      {read.data !== undefined && read.data.reconciles.length > 0 && (
        <ListTable<OperatorReconcileView>
          name="Reconciles"
          isMain
          rows={read.data.reconciles}
          keyOf={({ id }) => id}
          columns={[
            {
              head: 'Started',
              cell: ({ id, started_at }) => (
                <Link to="/operator/$id" params={{ id: resource }} search={{ ...values, shown: id }}>
                  <Moment at={started_at} />
                </Link>
              ),
            },
            { head: 'Cause', cell: ({ cause }) => shownText(causeText(cause)) },
            { head: 'Outcome', cell: outcomeText },
            { head: 'Tasks', cell: countsText },
            { head: 'Writes', cell: ({ writes }) => writes.total },
            { head: 'Message', cell: ({ messages: [first = ''] }) => shownText(first) },
            { head: 'Host', cell: ({ host }) => shownText(host) },
          ]}
        />
      )}
      {read.data !== undefined && <Paging order="newest" search={values} next={read.data.next} />}
    </section>
  );
}
