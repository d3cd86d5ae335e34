import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { LogLine, LogLines, LogMarks, LogSearch } from '../../../../domain/sessions/log-schema.ts';
import { callApi, recordPath } from '../../shared/api-call.ts';
import { PAGE_LINES, pagesOf } from './log-rows.ts';

/** Lines at the end that are read with each news of the session: more than a page shows. */
const TAIL = 120;
/** Pages of lines that are kept after they were seen. */
const KEPT_PAGES = 40;

/** Which log: that of one layer in one attempt. */
export interface LogOf {
  name: string;
  id: string;
  layer: number;
  attempt: number;
}

/** Returns the path of a question about a log, below `/api/v1`; what is undefined is not asked. */
export function logPath(
  name: string,
  what: string,
  words: Record<string, string | number | boolean | undefined>,
): string {
  const given = Object.entries(words).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([word, value]): [string, string] => [word, String(value)]));
  return `${recordPath('sessions', name)}/${what}?${query}`;
}

/** The end of a log, as new as the session is; layer and attempt left out: of the newest output. */
export function useLogEnd(name: string, id: string, layer: number | undefined, attempt: number | undefined) {
  return useQuery({
    // News of the session reaches what is below `session`.
    queryKey: ['session', name, 'log-end', id, layer, attempt],
    queryFn: ({ signal }) => callApi<LogLines>(logPath(name, 'log-lines', { layer, attempt, tail: TAIL }), { signal }),
    // The log before stays until another one is there.
    placeholderData: (before) => before,
  });
}

/** Returns the lines with these numbers, as far as they are there by now: of the end, else of pages that are read. */
export function useLogLines({ name, id, layer, attempt }: LogOf, end: LogLines, numbers: readonly number[]) {
  const client = useQueryClient();
  const first = end.lines[0]?.number ?? Number.POSITIVE_INFINITY;
  const pages = pagesOf(numbers.filter((number) => number < first && number <= end.total));
  const key = ['log', name, id, layer, attempt];
  const reads = useQueries({
    queries: pages.map((from) => ({
      queryKey: [...key, from],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        callApi<LogLines>(logPath(name, 'log-lines', { layer, attempt, from, limit: PAGE_LINES }), { signal }),
      // A line never changes once another one follows it.
      staleTime: ({ state: { data } }: { state: { data: LogLines | undefined } }) =>
        data !== undefined && data.total >= from + PAGE_LINES ? Number.POSITIVE_INFINITY : 0,
    })),
  });
  // Of each page that is there, how long the log was when it was read again.
  const readAgain = useRef(new Map<number, number>());
  const busy = reads.map(({ isFetching }) => Number(isFetching)).join('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: pages that had not ended are read again whenever there is more, also while they were read
  useEffect(() => {
    for (const [place, read] of reads.entries()) {
      const from = pages[place] ?? 0;
      if (!read.isStale || read.isFetching || (read.data?.total ?? 0) >= end.total) continue;
      if (readAgain.current.get(from) === end.total) continue;
      readAgain.current.set(from, end.total);
      void read.refetch();
    }
  }, [end.total, busy]);
  const seen = pages.join(' ');
  useEffect(() => {
    const kept = client.getQueryCache().findAll({ queryKey: ['log', name, id], type: 'inactive' });
    const oldest = kept.sort((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt);
    if (seen !== '') for (const query of oldest.slice(0, -KEPT_PAGES)) client.getQueryCache().remove(query);
  }, [client, name, id, seen]);
  const lines = new Map<number, LogLine>();
  for (const { data } of reads) for (const line of data?.lines ?? []) lines.set(line.number, line);
  for (const line of end.lines) lines.set(line.number, line);
  const failed = reads.find((read) => read.isError && read.data === undefined);
  return { lines, error: failed?.error ?? null, retry: () => void failed?.refetch() };
}

/** The first lines that have a text in them; null: none is looked for. */
export function useMatches({ name, id, layer, attempt }: LogOf, q: string | undefined) {
  return useQuery({
    queryKey: ['log-search', name, id, layer, attempt, q],
    queryFn: ({ signal }) => callApi<LogSearch>(logPath(name, 'log-search', { layer, attempt, q }), { signal }),
    enabled: q !== undefined,
  });
}

/** Returns the first line behind another one that has a text in it; undefined: there is none now. */
export function nextMatch(of: LogOf, q: string, after: number, signal: AbortSignal): Promise<number | undefined> {
  return nextLine(of, { q, after }, signal);
}

/** Returns the first line behind another one that says what failed; undefined: there is none now. */
export function nextFailure(of: LogOf, after: number, signal: AbortSignal): Promise<number | undefined> {
  return nextLine(of, { failures: true, after }, signal);
}

async function nextLine(
  { name, layer, attempt }: LogOf,
  words: Record<string, string | number | boolean>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const path = logPath(name, 'log-search', { layer, attempt, ...words, limit: 1 });
  return (await callApi<LogSearch>(path, { signal })).lines[0]?.number;
}

/** Returns the numbers of lines that say what failed, ascending, and whether there may be more of them. */
export async function failuresOf(
  { name, layer, attempt }: LogOf,
  signal: AbortSignal,
): Promise<{ numbers: number[]; hasMore: boolean }> {
  const { failed, unreachable, more } = await callApi<LogMarks>(logPath(name, 'log-marks', { layer, attempt }), {
    signal,
  });
  return { numbers: [...failed, ...unreachable].sort((a, b) => a - b), hasMore: more };
}
