import { useQuery } from '@tanstack/react-query';
import type { LogLines } from '../../../../domain/sessions/log-schema.ts';
import { callApi } from '../../shared/api-call.ts';
import { CopyCommand } from '../../shared/ui/copy-command.tsx';
import { Failure } from '../../shared/ui/failure.tsx';
import { LineText } from './log-lines.tsx';
import type { ChosenLines } from './log-rows.ts';
import { type LogOf, logPath } from './use-log.ts';

/** Chosen lines that are shown whole at most. */
const SHOWN = 100;
/** Characters of a line that are shown at once. */
const AT_ONCE = 100_000;

interface ChosenTextProps {
  log: LogOf;
  chosen: ChosenLines;
  total: number;
  /** A link to the lines that stays. */
  address: string;
}

/** The chosen lines, whole and wrapped. */
export function ChosenText({
  log: { name, id, layer, attempt },
  chosen: { first, last },
  total,
  address,
}: ChosenTextProps) {
  const wanted = Math.min(last, total) - first + 1;
  const limit = Math.min(wanted, SHOWN);
  const read = useQuery({
    // A last line may go on.
    queryKey: ['log-chosen', name, id, layer, attempt, first, limit, first + limit > total ? total : null],
    queryFn: ({ signal }) =>
      callApi<LogLines>(logPath(name, 'log-lines', { layer, attempt, from: first, limit, whole: true }), { signal }),
  });
  const title = first === last ? `Line ${first}` : `Lines ${first} to ${last}`;
  return (
    <section aria-label={title} className="chosen-text">
      <h2>{title}</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys */}
      <pre tabIndex={0}>
        {read.data?.lines
          .filter(({ number }) => number <= last)
          .map(({ number, text }) => (
            <span key={number}>
              <LineText text={text.slice(0, AT_ONCE)} />
              {text.length > AT_ONCE && ` ... ${text.length - AT_ONCE} more characters: the download has them`}
              {'\n'}
            </span>
          ))}
      </pre>
      {read.data !== undefined && (wanted > limit || (read.data.next !== null && read.data.lines.length < limit)) && (
        <p>Not all of these lines are shown here: the download has them.</p>
      )}
      <CopyCommand name="Copy link" text={address} />
    </section>
  );
}
