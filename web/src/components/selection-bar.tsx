import { useMutation } from '@tanstack/react-query';
import type { ComponentItem } from '../../../domain/components/list-schema.ts';
import type { Selection } from '../../../domain/components/selection-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import type { ComponentFilters } from './search.ts';
import { NOTHING, type Selected, selectedCount } from './selected.ts';

interface SelectionBarProps {
  selected: Selected;
  setSelected(selected: Selected): void;
  filters: ComponentFilters;
  /** Components of this page. */
  shown: readonly ComponentItem[];
  /** Components that match. */
  total: number;
}

/** How many are selected, and how all or none are. */
export function SelectionBar({ selected, setSelected, filters, shown, total }: SelectionBarProps) {
  const choose = useMutation({
    mutationFn: () => callApi<Selection>('/components/selections', { method: 'POST', body: { filter: filters } }),
    onSuccess: (selection) => setSelected({ kind: 'all', selection }),
  });
  const count = selectedCount(selected);
  return (
    <>
      <p className="buttons">
        <button type="button" disabled={choose.isPending || total === 0} onClick={() => choose.mutate()}>
          Select all {total} that match
        </button>
        {shown.length < total && (
          <button type="button" onClick={() => setSelected({ kind: 'ids', ids: new Set(shown.map(({ id }) => id)) })}>
            Select the {shown.length} of this page
          </button>
        )}
        <button type="button" disabled={count === 0} onClick={() => setSelected(NOTHING)}>
          Select none
        </button>
        <span role="status" aria-label="Selection">
          {count} selected
          {selected.kind === 'all' && (
            <>
              ; forgotten <Moment at={selected.selection.expires_at} />
            </>
          )}
        </span>
      </p>
      {choose.isError && <Failure error={choose.error} retry={() => choose.mutate()} />}
    </>
  );
}
