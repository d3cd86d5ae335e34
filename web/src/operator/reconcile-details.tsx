import { useQuery } from '@tanstack/react-query';
import type { OperatorReconcileView } from '../../../domain/operator/view-schema.ts';
import { NewestOutput } from '../runs/newest-output.tsx';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { causeText, countsText, outcomeText, writeText } from './resource-text.ts';

/** Writes that are named at most. */
const NAMED = 100;

/** A reconcile: its cause, how it ended, what it wrote, and what its run put out. */
export function ReconcileDetails({ id }: { id: string }) {
  const path = recordPath('operator/reconciles', id);
  const topic = `reconcile:${id}`;
  const read = useQuery({
    queryKey: ['operator', 'reconcile', id, 'record'],
    queryFn: ({ signal }) => callApi<OperatorReconcileView>(path, { signal }),
  });
  useLive(topic, ['operator', 'reconcile', id, 'record']);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  const record = isGone ? undefined : read.data;
  return (
    <section aria-label="Reconcile" aria-busy={read.isPending || undefined}>
      <h2>Reconcile {shownText(id)}</h2>
      {isGone && <p>There is no reconcile with this id: records of reconciles are kept for a while only.</p>}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {record !== undefined && <Shown record={record} />}
      {record !== undefined && (
        <NewestOutput
          path={`${path}/logs`}
          queryKey={['operator', 'reconcile', id]}
          topic={record.outcome === null ? topic : null}
        />
      )}
      {record !== undefined && (
        <CopyCommand name="Copy reconcile as CLI" text={`./muster operator reconcile-get ${shellWord(id)}`} />
      )}
    </section>
  );
}

function Shown({ record }: { record: OperatorReconcileView }) {
  const { cause, started_at, ended_at, messages, writes, host, cancelled_by, requeue_after_seconds: again } = record;
  const listed = writes.listed ?? [];
  return (
    <>
      <dl>
        <dt>Cause</dt>
        <dd>{shownText(causeText(cause))}</dd>
        <dt>Outcome</dt>
        <dd>
          {outcomeText(record)}
          {cancelled_by !== null && `, cancelled by ${shownText(cancelled_by)}`}
          {record.finalizer_run && ', of the finalizer'}
        </dd>
        <dt>Started</dt>
        <dd>
          <Moment at={started_at} />
          {host !== '' && ` on ${shownText(host)}`}
        </dd>
        {ended_at !== null && (
          <>
            <dt>Ended</dt>
            <dd>
              <Moment at={ended_at} />
            </dd>
          </>
        )}
        <dt>Tasks</dt>
        <dd>{countsText(record) || 'none'}</dd>
        {again !== null && (
          <>
            <dt>Runs again after</dt>
            <dd>
              {again} s{record.requeue_reason !== null && `: ${shownText(record.requeue_reason)}`}
            </dd>
          </>
        )}
      </dl>
      {messages.length > 0 && (
        <ul aria-label="Messages">
          {messages.map((message, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same message may come twice
            <li key={place}>{shownText(message)}</li>
          ))}
        </ul>
      )}
      <h3>Writes: {writes.total}</h3>
      {listed.length > 0 && (
        <ul aria-label="Writes">
          {listed.slice(0, NAMED).map((write, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an object may be written twice
            <li key={place}>{shownText(writeText(write))}</li>
          ))}
        </ul>
      )}
      {writes.total > Math.min(listed.length, NAMED) && listed.length > 0 && (
        <p>and {writes.total - Math.min(listed.length, NAMED)} more</p>
      )}
    </>
  );
}
