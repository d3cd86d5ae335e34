/** Operators as parts of what `muster status` shows: each has processes of its own, which no stack starts. */
import type { ApiClient } from '../../client/api-client.ts';
import { CliFailure, EXIT } from '../../failure.ts';

/** What is read of an operator of the API. */
interface ToldOperator {
  name: string;
  version: string;
  watcher: string | null;
  hosts: { live: boolean; engine: { ok: boolean; reason: string | null } }[];
}

export interface OperatorPart {
  name: string;
  version: string;
  state: string;
  reason: string;
}

/** Returns the operators of an API, the dead ones too; none where it does not tell of them, or not us. */
export async function readOperatorParts(api: ApiClient): Promise<OperatorPart[]> {
  try {
    const { operators } = await api.json<{ operators: ToldOperator[] }>({ method: 'GET', path: '/api/v1/operator' });
    return operators.map(partOf);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit === EXIT.interrupted) throw error;
    return [];
  }
}

function partOf({ name, version, watcher, hosts }: ToldOperator): OperatorPart {
  const live = hosts.filter((host) => host.live);
  if (live.length === 0) return { name, version, state: 'not available', reason: 'no process of it gives signs' };
  const engine = live.find((host) => !host.engine.ok)?.engine.reason ?? null;
  const reason = engine === null ? (watcher === null ? 'no process of it watches' : null) : `Temporal: ${engine}`;
  return { name, version, state: reason === null ? 'ok' : 'not available', reason: reason ?? '' };
}
