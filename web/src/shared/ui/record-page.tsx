/** One record as a page: it is read, may be gone, and is the same as commands. */
import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiBase, callApi, Refusal, type Surface } from '../api-call.ts';
import { curlCommand } from '../commands.ts';
import { useLive } from '../live/use-live.ts';
import { CopyCommand } from './copy-command.tsx';
import { Failure } from './failure.tsx';
import { DroppedNotice } from './notice.tsx';

interface RecordPageProps<Answer> {
  /** Heading and title, with the record's name as it is shown; undefined: it is not read yet. */
  title(answer: Answer | undefined): string;
  path: string;
  surface?: Surface;
  queryKey: QueryKey;
  /** Topic of the stream that tells of changes of all below the key. */
  topic: string;
  dropped: readonly string[] | undefined;
  /** What stands there when there is no such record, and where others are. */
  gone: ReactNode;
  /** The command that shows it. */
  command(answer: Answer | undefined): string;
  children(answer: Answer): ReactNode;
}

/** The page. While it is read anew, what was found before stays. */
export function RecordPage<Answer>(props: RecordPageProps<Answer>) {
  const { path, surface = '/api/v1', queryKey, topic, dropped, gone, command, children } = props;
  const read = useQuery({
    queryKey: [...queryKey, path],
    queryFn: ({ signal }) => callApi<Answer>(path, { signal, surface }),
  });
  useLive(topic, queryKey);
  const title = props.title(read.data);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <main aria-busy={read.isPending || undefined}>
      <title>{`${title} - Muster`}</title>
      <h1>{title}</h1>
      <DroppedNotice names={dropped} />
      {isGone && <p>{gone}</p>}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data !== undefined && !isGone && children(read.data)}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={command(read.data)} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase(surface)}${path}`)} />
      </p>
    </main>
  );
}
