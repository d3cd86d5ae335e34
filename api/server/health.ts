import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../domain/text/message-of.ts';
import { pingDatabase } from '../../store/connection/database.ts';
import type { ApiShared, EngineHealth } from '../shared/api-shared.ts';

/** For one part to answer, ms: the engine's own question ends after 3 s and says more; probes wait longer. */
const PATIENCE = 3_500;

export interface Health {
  database: EngineHealth;
  engine: EngineHealth;
  /** Whether this process is set up: the database in shape, the site's values in place. */
  setup: EngineHealth;
}

/** Whether the parts answer, with the reason when one does not; never rejects and takes 3.5 s at most. */
export async function readHealth(
  deps: Pick<ApiShared, 'db' | 'setup'> & { engineHealth(): Promise<EngineHealth> },
): Promise<Health> {
  const [database, engine] = await Promise.all([
    inTime(
      pingDatabase(deps.db).then(
        () => ({ ok: true, reason: null }),
        (error: unknown) => ({ ok: false, reason: messageOf(error) }),
      ),
    ),
    inTime(deps.engineHealth()),
  ]);
  return { database, engine, setup: deps.setup() };
}

async function inTime(answer: Promise<EngineHealth>): Promise<EngineHealth> {
  const end = new AbortController();
  const late = setTimeout(
    PATIENCE,
    { ok: false, reason: `no answer within ${PATIENCE / 1000} s` },
    { signal: end.signal },
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([answer, late]);
  } finally {
    end.abort();
  }
}
