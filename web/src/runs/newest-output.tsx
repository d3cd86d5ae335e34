import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { LogEntry } from '../../../domain/runs/stream-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { newestText } from './newest-text.ts';

/** Pieces that are read, from the end. */
const PIECES = 200;

interface NewestOutputProps {
  /** Of the pages of the output. */
  path: string;
  queryKey: QueryKey;
  /** Topic that tells of more; null: no more comes. */
  topic: string | null;
}

/** The newest output of a run, as text. */
export function NewestOutput({ path, queryKey, topic }: NewestOutputProps) {
  // The end is read once more: what was read before may be older.
  const key = [...queryKey, 'output', topic];
  const read = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => callApi<{ logs: LogEntry[] }>(`${path}?tail=${PIECES}`, { signal }),
    placeholderData: (before) => before,
  });
  useLive(topic, key);
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <p>The output is read.</p>;
  const text = newestText(read.data.logs.map((piece) => piece.text));
  if (text === '') return <p>There is no output{topic !== null && ' yet'}.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
    <pre role="log" aria-label="Output" aria-live="off" tabIndex={0}>
      {text}
    </pre>
  );
}
