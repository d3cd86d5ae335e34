import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { LogEntry } from '../../../domain/runs/stream-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { newestText } from './newest-text.ts';

/** Pieces that are read, from the end. */
const PIECES = 200;
/** How often it is read while more may come, ms. */
const OPEN_MS = 2_000;

interface NewestOutputProps {
  /** Of the pages of the output. */
  path: string;
  queryKey: QueryKey;
  /** Whether more may come. */
  isOpen: boolean;
}

/** The newest output of a run, as text. */
export function NewestOutput({ path, queryKey, isOpen }: NewestOutputProps) {
  const read = useQuery({
    queryKey: [...queryKey, 'output', isOpen],
    queryFn: ({ signal }) => callApi<{ logs: LogEntry[] }>(`${path}?tail=${PIECES}`, { signal }),
    placeholderData: (before) => before,
    refetchInterval: isOpen ? OPEN_MS : false,
  });
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <p>The output is read.</p>;
  const text = newestText(read.data.logs.map((piece) => piece.text));
  if (text === '') return <p>There is no output{isOpen && ' yet'}.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
    <pre role="log" aria-label="Output" aria-live="off" tabIndex={0}>
      {text}
    </pre>
  );
}
