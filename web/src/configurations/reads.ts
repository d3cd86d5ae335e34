/** What the pages of configurations read and write. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Configuration, ConfigurationBody } from '../../../domain/configurations/schema.ts';
import { callApi, recordPath, writeHeaders } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import type { ActionRequest } from '../shared/ui/action.tsx';
import type { Stored } from './draft.ts';

/** Topic and first word of the keys of all that these pages read. */
export const CONFIGURATIONS = 'configurations';

const keyOf = (name: string) => [CONFIGURATIONS, name, 'record'];

/** A proxy that compresses answers weakens their tags; the version that they name is the same. */
const strongTag = (tag: string | null) => tag?.replace(/^W\//, '') ?? null;

/** Reads a configuration with its tag, and again when one has changed. */
export function useStored(name: string) {
  const read = useQuery({
    queryKey: keyOf(name),
    queryFn: async ({ signal }): Promise<Stored> => {
      let tag: string | null = null;
      const onTag = (found: string | null) => {
        tag = strongTag(found);
      };
      const path = recordPath('configurations', name);
      const record = await callApi<Configuration>(path, { surface: '/v3', signal, onTag });
      return { record, tag };
    },
  });
  useLive(CONFIGURATIONS, [CONFIGURATIONS, name]);
  return read;
}

/** Returns what writes a configuration, over the version of `tag` alone; null: where there is none. */
export function useWrite(name: string) {
  const client = useQueryClient();
  return async (body: ConfigurationBody, tag: string | null, request: ActionRequest): Promise<Stored> => {
    const headers = { ...writeHeaders(request), ...(tag === null ? { 'if-none-match': '*' } : { 'if-match': tag }) };
    let written: string | null = null;
    const onTag = (found: string | null) => {
      written = strongTag(found);
    };
    try {
      const path = recordPath('configurations', name);
      const record = await callApi<Configuration>(path, { method: 'PUT', surface: '/v3', body, headers, onTag });
      const stored = { record, tag: written };
      // What was asked before the write must not come after it.
      await client.cancelQueries({ queryKey: keyOf(name) });
      client.setQueryData(keyOf(name), stored);
      return stored;
    } finally {
      // Also where it was refused: the stored version may be another one.
      void client.invalidateQueries({ queryKey: [CONFIGURATIONS] });
    }
  };
}
