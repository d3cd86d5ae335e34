/** What is asked for waits for a worker. A person who waits for it is told where there is none. */
import type { ApiClient } from '../client/api-client.ts';
import type { CliContext } from '../context.ts';

/** Time (ms) without an end after which the API is asked for workers, and between two such questions. */
const PATIENCE = 10_000;
/** Time (ms) for the API to answer. */
const ANSWERS_WITHIN = 3_000;

/**
 * Returns what a command calls again and again while it waits. It says once that no worker is at work, and once more where a worker was
 * there meanwhile. An API that does not say counts as an API with workers.
 */
export function absentWorker(
  context: Pick<CliContext, 'now'>,
  api: ApiClient,
  say: (text: string) => void,
): () => Promise<void> {
  let asked = context.now();
  let isTold = false;
  return async () => {
    if (context.now() - asked < PATIENCE) return;
    asked = context.now();
    const isAbsent = (await countWorkers(api)) === 0;
    if (isAbsent && !isTold) {
      say('no worker is at work: nothing goes on until a worker is back (`./muster status` tells more)');
    }
    isTold = isAbsent;
  };
}

async function countWorkers(api: ApiClient): Promise<number | undefined> {
  try {
    const request = { method: 'GET', path: '/api/v1/status' } as const;
    const { workers } = await api.json<{ workers?: { count: number } | null }>(
      request,
      AbortSignal.timeout(ANSWERS_WITHIN),
    );
    return workers?.count;
  } catch {
    return undefined;
  }
}
