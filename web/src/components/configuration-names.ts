import { useQuery } from '@tanstack/react-query';
import type { Configuration } from '../../../domain/configurations/schema.ts';
import { callApi } from '../shared/api-call.ts';

/** Names that a choice offers at most; others can be had by the command line. */
const MOST = 1_000;

/** Returns the names of configurations, with `current` among them whether or not there is one of the name. */
export function useConfigurationNames(current: string | undefined): readonly string[] {
  const read = useQuery({
    queryKey: ['configurations', 'names'],
    queryFn: async ({ signal }) => {
      const path = `/configurations?limit=${MOST}`;
      const { configurations } = await callApi<{ configurations: Pick<Configuration, 'name'>[] }>(path, {
        surface: '/v3',
        signal,
      });
      return configurations.map(({ name }) => name);
    },
    staleTime: 30_000,
  });
  const names = read.data ?? [];
  return current === undefined || current === '' || names.includes(current) ? names : [current, ...names];
}
