import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { LogEntry } from '../../../../domain/runs/stream-schema.ts';
import type { SessionDetail } from '../../../../domain/sessions/detail-schema.ts';
import { callApi, recordPath } from '../../shared/api-call.ts';
import { Failure } from '../../shared/ui/failure.tsx';
import { shownText } from '../../shared/ui/shown-text.ts';
import { type KeptLog, shownLines, withPieces } from './shown-log.ts';

/** Pieces that are read first, from the end, and at once later. */
const [NEWEST, AT_ONCE] = [200, 500];
/** Lines that are drawn: the rest is kept by the server, and the command line has all of it. */
const DRAWN = 2_000;

interface LogAnswer {
  logs: LogEntry[];
  cursor: number;
  next: object | null;
}

/** The newest output of a session; it follows what comes until it is scrolled up. */
export function LogView({ session: { id, name } }: { session: SessionDetail }) {
  const client = useQueryClient();
  const key = ['session', name, 'log', id];
  const path = `${recordPath('sessions', name)}/logs`;
  const read = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<KeptLog> => {
      const before = client.getQueryData<KeptLog>(key);
      const { logs, cursor } =
        before === undefined
          ? await callApi<LogAnswer>(`${path}?tail=${NEWEST}`, { signal })
          : { logs: [], cursor: before.cursor };
      let log = before ?? withPieces({ cursor, text: '', isCut: (logs[0]?.seq ?? 1) > 1 }, logs);
      for (;;) {
        const page = await callApi<LogAnswer>(`${path}?after=${log.cursor}&limit=${AT_ONCE}`, { signal });
        log = withPieces(log, page.logs);
        if (page.next === null) return log;
      }
    },
  });
  if (read.isError && read.data === undefined) {
    return <Failure error={read.error} retry={() => void read.refetch()} />;
  }
  if (read.data === undefined) return <p>The output is read.</p>;
  return <Output log={read.data} name={name} />;
}

function Output({ log, name }: { log: KeptLog; name: string }) {
  const [isFollowing, setFollowing] = useState(true);
  const place = useRef<HTMLPreElement>(null);
  const all = shownLines(log.text);
  const lines = all.slice(-DRAWN);
  const isCut = log.isCut || all.length > DRAWN;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there is more text, the end is elsewhere
  useEffect(() => {
    const element = place.current;
    if (isFollowing && element !== null) element.scrollTop = element.scrollHeight;
  }, [isFollowing, log.text]);
  const onScroll = () => {
    const element = place.current;
    if (element === null) return;
    setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < 4);
  };
  return (
    <>
      <p className="buttons">
        <button type="button" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          Follow
        </button>
        {isCut && (
          <span>
            The newest {lines.length} lines. All of them: <code>./muster session logs {shownText(name)}</code>
          </span>
        )}
      </p>
      {log.text === '' && <p>There is no output yet.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys */}
      <pre role="log" aria-label="Output" aria-live="off" tabIndex={0} ref={place} onScroll={onScroll}>
        {lines.join('\n')}
      </pre>
    </>
  );
}
