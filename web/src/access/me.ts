import { useQuery } from '@tanstack/react-query';
import type { Me } from '../../../domain/access/schema.ts';
import { callApi } from '../shared/api-call.ts';

/** Who the user is here. */
export function useMe() {
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => callApi<Me>('/me', { signal }), staleTime: 60_000 });
}
