/** The batcher on a real database, with a clock that the test moves. */
import { createHash } from 'node:crypto';
import { type PassReport, runPass } from '../../control/batches/run-pass.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { upsertComponents } from '../../store/components/components.ts';
import { lockOptions, mergeOptions } from '../../store/configurations/options.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const URL = 'https://git.example.test/one.git';

export const layerOf = (index: number, revision = 0) => ({
  clone_url: URL,
  playbook: `layer${index}.yml`,
  commit: createHash('sha1').update(`${index}/${revision}`).digest('hex'),
});

export interface GivenComponent {
  id: string;
  configuration?: string;
  state?: [layer: number, status: 'applied' | 'failed'][];
  enabled?: boolean;
  tags?: Record<string, string>;
  errors?: number;
  retries?: number;
}

export interface RealBatcher {
  database: TestDatabase;
  /** Seconds since the beginning. */
  now: { value: number };
  /** How often the dispatcher was told. */
  kicks: { value: number };
  warnings: string[];
  clock(): Date;
  setOptions(options: Partial<Options>): Promise<void>;
  configure(name: string, layers: number, revision?: number): Promise<void>;
  put(...components: GivenComponent[]): Promise<void>;
  /** The pass at an instant, in seconds. */
  pass(at: number): Promise<PassReport | null>;
  /** Writes the end of a session as the engine does. */
  end(name: string, succeeded: 'true' | 'false' | 'unknown', reason?: ErrorCode): Promise<void>;
  close(): Promise<void>;
}

const BEGIN = Date.parse('2026-11-21T10:00:00Z');

export async function openRealBatcher(): Promise<RealBatcher> {
  const database = await createTestDatabase();
  const { db } = database;
  const now = { value: 0 };
  const kicks = { value: 0 };
  const warnings: string[] = [];
  const clock = () => new Date(BEGIN + now.value * 1_000);
  const log = { info: () => undefined, warn: (_fields: object, message: string) => void warnings.push(message) };
  const dispatcher = {
    kick: () => {
      kicks.value += 1;
    },
  };
  return {
    database,
    now,
    kicks,
    warnings,
    clock,
    setOptions: (options) =>
      db.transaction().execute(async (trx) => {
        await lockOptions(trx);
        await mergeOptions(trx, options, clock(), null);
      }),
    configure: async (name, layers, revision = 0) => {
      const record = JSON.stringify({
        name,
        last_updated: wireTime(clock()),
        layers: Array.from({ length: layers }, (_, index) => layerOf(index, revision)),
      });
      await db
        .insertInto('configurations')
        .values({ name, record, updated_at: clock(), actor: null })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ record }))
        .execute();
    },
    put: (...components) =>
      upsertComponents(
        db,
        components.map((given) => ({
          id: given.id,
          desired_config: given.configuration ?? 'A',
          state: (given.state ?? []).map(([layer, status]) => ({
            ...layerOf(layer),
            status,
            session_name: 'earlier',
            last_updated: wireTime(clock()),
          })),
          error_count: given.errors ?? 0,
          ...(given.retries === undefined ? {} : { retry_policy: given.retries }),
          enabled: given.enabled ?? true,
          tags: given.tags ?? {},
        })),
        clock(),
        null,
      ),
    pass: (at) => {
      now.value = at;
      return runPass({ db, dispatcher, clock, log });
    },
    end: async (name, succeeded, reason) => {
      const { id } = await db.selectFrom('sessions').select('id').where('name', '=', name).executeTakeFirstOrThrow();
      await writeEnd(db, id, { succeeded, message: `ended ${succeeded}`, reason: reason ?? null }, new Date());
    },
    close: () => database.close(),
  };
}
