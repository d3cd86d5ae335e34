import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Refusal } from '../shared/api-call.ts';

/** Has the session read again where the API refuses its id: the page says then that it is gone, or that another one has its name. */
export function useReplaced(name: string, error: unknown): void {
  const client = useQueryClient();
  const isOther = error instanceof Refusal && [404, 410].includes(error.status);
  useEffect(() => {
    if (isOther) void client.invalidateQueries({ queryKey: ['session', name, 'detail'] });
  }, [client, name, isOther]);
}
