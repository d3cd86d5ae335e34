import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiBase, callApi, type Surface } from '../api-call.ts';
import { curlCommand } from '../commands.ts';
import { useLive } from '../live/use-live.ts';
import { CopyCommand } from '../ui/copy-command.tsx';
import { Failure } from '../ui/failure.tsx';
import { DroppedNotice } from '../ui/notice.tsx';

export interface ListFrameProps<Answer> {
  /** Of the page and of its heading. */
  name: string;
  /** What of the URL was not known. */
  dropped: readonly string[] | undefined;
  /** What is asked of the API. */
  path: string;
  surface?: Surface | undefined;
  queryKey: QueryKey;
  /** Topic of the stream that tells of changes. */
  topic: string;
  /** Why the user may not read it; null: nothing is in the way. */
  refusal?: string | null | undefined;
  /** Between heading and filters. */
  above?: ReactNode;
  /** The filters; they know what the API said of them. */
  bar(error: unknown): ReactNode;
  /** Whether the filters show an error themselves. */
  isShownByBar?(error: unknown): boolean;
  /** What was found. */
  children(answer: Answer): ReactNode;
  /** The command that lists the same. */
  command: string;
  /** Buttons behind the commands. */
  buttons?: ReactNode;
  /** Behind the list. */
  below?: ReactNode;
}

/** What stands around every list: it is read and read anew, and fails in its own panel. While it is read anew, what was found before stays. */
export function ListFrame<Answer>(props: ListFrameProps<Answer>) {
  const { name, path, surface, topic, refusal = null, bar, isShownByBar, children } = props;
  const queryKey = [...props.queryKey, 'list', path];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => callApi<Answer>(path, { signal, ...(surface === undefined ? {} : { surface }) }),
    placeholderData: (before) => before,
    enabled: refusal === null,
  });
  const isRead = refusal === null;
  useLive(isRead ? topic : null, queryKey);
  return (
    <main aria-busy={(isRead && (list.isPending || list.isPlaceholderData)) || undefined}>
      <title>{`${name} - Muster`}</title>
      <h1>{name}</h1>
      <DroppedNotice names={props.dropped} />
      {props.above}
      {!isRead && <p>{refusal}</p>}
      {isRead && bar(list.error)}
      {list.isError && isShownByBar?.(list.error) !== true && (
        <Failure error={list.error} retry={() => void list.refetch()} />
      )}
      {list.data !== undefined && isRead && children(list.data)}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={props.command} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase(surface)}${path}`)} />
        {props.buttons}
      </p>
      {props.below}
    </main>
  );
}
