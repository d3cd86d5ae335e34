import { QueryCache, QueryClient } from '@tanstack/react-query';
import { isRefusal, isUnknown } from './shared/api-call.ts';
import { isPolled, untilAnswered } from './shared/polled.ts';

const ME = 'me';

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
      // The stream says what is to be read again; what is polled instead is read as soon as the page is seen again.
      refetchOnWindowFocus: isPolled,
      // Whether the API answers is asked of the API: a browser may take itself for offline.
      networkMode: 'always',
    },
  },
});
