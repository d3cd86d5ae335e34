import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { connectionNow, listen, onConnection, type PageConnection } from './hub-client.ts';

/** Keeps what is read under `queryKey` as new as its topic; null: there is nothing to follow. */
export function useLive(topic: string | null, queryKey: QueryKey): void {
  const client = useQueryClient();
  const path = JSON.stringify(queryKey);
  useEffect(
    () => (topic === null ? undefined : listen(topic, refresher(client, JSON.parse(path)))),
    [client, topic, path],
  );
}

/** Returns how the page is connected. */
export function useConnection(): PageConnection {
  return useSyncExternalStore(onConnection, connectionNow);
}

/** One read at a time: news that comes meanwhile makes another one. A read that is under way may be older than the news. */
function refresher(client: QueryClient, queryKey: QueryKey): () => void {
  let isBusy = false;
  let isDirty = false;
  const refresh = async () => {
    isDirty = true;
    if (isBusy) return;
    isBusy = true;
    try {
      while (isDirty) {
        isDirty = false;
        const joined = { cancelRefetch: false };
        if (client.isFetching({ queryKey }) > 0) await client.refetchQueries({ queryKey, type: 'active' }, joined);
        await client.invalidateQueries({ queryKey }, joined);
      }
    } finally {
      isBusy = false;
    }
  };
  return () => void refresh();
}
