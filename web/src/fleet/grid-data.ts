import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { FleetGrid } from '../../../domain/fleet/grid-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { listen } from '../shared/live/hub-client.ts';
import { useLive } from '../shared/live/use-live.ts';
import { movedFrom } from './grid-news.ts';

/** Returns the path of the grid below `/api/v1`. */
export function gridPath(group: string, fields: 'all' | 'status'): string {
  return `/fleet/grid?${new URLSearchParams({ group, fields })}`;
}

/** The API shares an answer for a second: letters that were read with the last news may lack it, and are read once more after so long, ms. */
const SETTLED_MS = 1_500;

/** The grid as it is now: places are read once, letters with each news of components. */
export function useGrid(group: string) {
  const key = ['fleet-grid', group];
  const whole = useQuery({
    queryKey: [...key, 'places'],
    queryFn: ({ signal }) => callApi<FleetGrid>(gridPath(group, 'all'), { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const news = useQuery({
    queryKey: [...key, 'status'],
    queryFn: ({ signal }) => callApi<FleetGrid>(gridPath(group, 'status'), { signal }),
    enabled: whole.data !== undefined,
    gcTime: 0,
  });
  useLive('components', [...key, 'status']);
  const { refetch: readLetters } = news;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leave = listen('components', () => {
      clearTimeout(timer);
      timer = setTimeout(() => void readLetters({ cancelRefetch: false }), SETTLED_MS);
    });
    return () => {
      clearTimeout(timer);
      leave();
    };
  }, [readLetters]);
  const { refetch } = whole;
  const moved = movedFrom(whole.data, news.data);
  useEffect(() => {
    if (moved !== '') void refetch({ cancelRefetch: false });
  }, [moved, refetch]);
  // Letters of other places would be those of other components.
  const status = news.data !== undefined && moved === '' ? news.data.status : (whole.data?.status ?? '');
  return { whole, status };
}
