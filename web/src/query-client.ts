import { QueryCache, QueryClient } from '@tanstack/react-query';
import { isRefusal, isUnknown } from './shared/api-call.ts';

const ME = 'me';
/** How often what did not come through is read again while it is shown, ms. */
const AGAIN_MS = 5_000;

/** Read again from time to time is only what has no answer. */
const untilAnswered = ({ state: { error } }: { state: { error: unknown } }): number | false =>
  error !== null && !isRefusal(error) ? AGAIN_MS : false;

/** What was refused is refused again; what did not come through is tried twice more. A 401 of any read asks anew who the user is. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isUnknown(error) && queryKey[0] !== ME) void queryClient.invalidateQueries({ queryKey: [ME] });
    },
  }),
  defaultOptions: {
    queries: {
      retry: (failures, error) => !isRefusal(error) && failures < 2,
      refetchInterval: untilAnswered,
      // The stream says what is to be read again, also when the page is seen again.
      refetchOnWindowFocus: false,
      // Whether the API answers is asked of the API: a browser may take itself for offline.
      networkMode: 'always',
    },
  },
});
