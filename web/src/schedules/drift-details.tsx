import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DriftDetail } from '../../../domain/components/drift-schema.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { changedText } from './drift-text.ts';

/** The tasks that would change a component. */
export function DriftDetails({ id }: { id: string }) {
  const read = useQuery({
    queryKey: ['drift', 'one', id],
    queryFn: ({ signal }) => callApi<DriftDetail>(recordPath('drift', id), { signal }),
  });
  useLive('drift', ['drift', 'one', id]);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <section aria-label={`Drift of ${shownText(id)}`} aria-busy={read.isPending || undefined}>
      <h2>Drift of {shownText(id)}</h2>
      {isGone && (
        <p>
          Nothing is known: no check has looked at {shownText(id)} since it was configured, or there is no component of
          this id.
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && !isGone && read.data.layers.map((layer) => <Layer key={layer.layer} layer={layer} />)}
    </section>
  );
}

function Layer({ layer }: { layer: DriftDetail['layers'][number] }) {
  const { playbook, status, changes, changes_left_out, session_name, checked_at } = layer;
  const title = `Layer ${layer.layer + 1} ${shownText(playbook)}`;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <p>
        {status}, {changedText(layer)} would change, checked <Moment at={checked_at} /> by{' '}
        <Link to="/sessions/$name" params={{ name: session_name }}>
          {shownText(session_name)}
        </Link>
      </p>
      {changes.length > 0 && (
        <ul aria-label={`Tasks of ${title}`}>
          {changes.map(({ task, action, file, diff, censored, uncertain }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a playbook may have the same task twice
            <li key={index}>
              {shownText(task)} <span className="quiet">({shownText([action, file].filter(Boolean).join(', '))})</span>
              {uncertain !== undefined && <p>Uncertain: {shownText(uncertain)}</p>}
              {censored === true && <p>What it would change is not shown: the task has no_log.</p>}
              {diff !== undefined && <Diff text={diff} task={task} />}
            </li>
          ))}
        </ul>
      )}
      {changes_left_out > 0 && <p>and {changes_left_out} more, for which there was no room</p>}
    </section>
  );
}

/** A difference as unified text: each line is shown for itself, so that hidden characters cannot join lines. */
function Diff({ text, task }: { text: string; task: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
    <section className="diff" aria-label={`Difference of ${shownText(task)}`} tabIndex={0}>
      <pre>{lines.map((line) => shownText(line.replaceAll('\t', '    '))).join('\n')}</pre>
    </section>
  );
}
