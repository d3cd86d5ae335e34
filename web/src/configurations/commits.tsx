import { useQuery } from '@tanstack/react-query';
import type { ResolveAnswer } from '../../../domain/configurations/resolve-schema.ts';
import type { ConfigurationBody } from '../../../domain/configurations/schema.ts';
import { callApi } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

/** The commits that the branches of layers have now. */
export function Commits({ layers }: { layers: ConfigurationBody['layers'] }) {
  const ofBranches = layers.some(({ branch }) => branch !== undefined);
  const read = useQuery({
    queryKey: ['resolve', layers],
    queryFn: ({ signal }) =>
      callApi<ResolveAnswer>('/configurations/resolve', { method: 'POST', body: { layers }, signal }),
    enabled: ofBranches,
    // Branches go on: a dialog that is opened again asks again.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!ofBranches) return null;
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <p aria-busy="true">The branches are asked for.</p>;
  return (
    <ul aria-label="Commits">
      {read.data.layers.map(({ commit, problem }, index) => {
        const branch = layers[index]?.branch;
        if (branch === undefined) return null;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the answer has one entry for each layer, in its place
          <li key={index}>
            Layer {index + 1}, {shownText(branch)}:{' '}
            {problem === null ? <code>{commit}</code> : <strong>{shownText(problem.detail)}</strong>}
          </li>
        );
      })}
    </ul>
  );
}
