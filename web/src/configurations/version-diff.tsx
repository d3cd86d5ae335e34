import { useQuery } from '@tanstack/react-query';
import type { ConfigurationDiff, LayerDiff, MemberDiff } from '../../../domain/configurations/history-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { layerChange, valueText } from './diff-text.ts';
import { CONFIGURATIONS } from './reads.ts';

/** What two versions of a configuration differ in. */
export function VersionDiff({ name, from, to }: { name: string; from: string; to: string }) {
  const query = new URLSearchParams({ from, to });
  const path = `${recordPath('configurations', name)}/diff?${query}`;
  const read = useQuery({
    queryKey: [CONFIGURATIONS, name, 'diff', path],
    queryFn: ({ signal }) => callApi<ConfigurationDiff>(path, { signal }),
  });
  return (
    <section aria-label="Difference" aria-busy={read.isPending || undefined}>
      <h2>Difference</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && <Difference diff={read.data} />}
    </section>
  );
}

function Difference({ diff: { layers, members, not_kept } }: { diff: ConfigurationDiff }) {
  const changed = layers.filter((layer) => layerChange(layer) !== 'same');
  return (
    <>
      {not_kept.length > 0 && <p>Too large for the audit, and not compared: {not_kept.join(', ')}.</p>}
      {changed.length === 0 && members.length === 0 && <p>Nothing differs in what is kept.</p>}
      {changed.length > 0 && (
        <ul aria-label="Layers">
          {changed.map((layer) => (
            <li key={`${layer.from} ${layer.to}`}>
              <LayerChange layer={layer} />
            </li>
          ))}
        </ul>
      )}
      {members.length > 0 && <Members members={members} />}
    </>
  );
}

function LayerChange({ layer }: { layer: LayerDiff }) {
  const { from, to, title, members } = layer;
  return (
    <>
      Layer {(to ?? from ?? 0) + 1} {shownText(title)}: {layerChange(layer)}
      {members.length > 0 && <Members members={members} />}
    </>
  );
}

function Members({ members }: { members: readonly MemberDiff[] }) {
  return (
    <ul>
      {members.map(({ member, before, after }) => (
        <li key={member}>
          {member}: <del>{shownText(valueText(before))}</del> becomes <ins>{shownText(valueText(after))}</ins>
        </li>
      ))}
    </ul>
  );
}
