import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Explanation } from '../../../domain/explain-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

/** The button that asks why, and the answer. */
export function Explain({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <p>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Explain
        </button>
      </p>
      {isOpen && <Why id={id} />}
    </>
  );
}

function Why({ id }: { id: string }) {
  const read = useQuery({
    queryKey: ['component', id, 'explain'],
    queryFn: ({ signal }) => callApi<Explanation>(`${recordPath('components', id)}/explain`, { signal }),
  });
  // The page follows the component.
  useLive('batches', ['component', id, 'explain']);
  return (
    <section aria-label="Why" aria-busy={read.isPending || undefined}>
      <h2>Why</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && <Answer explanation={read.data} />}
    </section>
  );
}

function Answer({ explanation: { state, since, conditions, next, command } }: { explanation: Explanation }) {
  return (
    <>
      <p>
        It is {state}
        {since !== null && (
          <>
            ; its record changed <Moment at={since} />
          </>
        )}
        .
      </p>
      <ol>
        {conditions.map(({ text, holds, becomes_true_when: when }) => (
          <li key={text}>
            {holds ? 'yes' : 'no'}: {shownText(text)}
            {when !== null && <span className="quiet"> (true when {shownText(when)})</span>}
          </li>
        ))}
      </ol>
      {next !== null && (
        <p>
          It waits until {shownText(next.event)}
          {next.at !== null && (
            <>
              {' '}
              (<Moment at={next.at} />)
            </>
          )}
          .
        </p>
      )}
      {command !== null && (
        <p>
          <code>{shownText(command)}</code> <CopyCommand name="Copy the command" text={command} />
        </p>
      )}
    </>
  );
}
