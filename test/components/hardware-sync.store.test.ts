/** The hardware sync on a real database: what it makes, what it leaves, what it remembers (cfs-flows 6.2). */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { putComponents } from '../../control/components/put-components.ts';
import { readHardwareSync } from '../../control/components/read-hardware-sync.ts';
import { syncHardware } from '../../control/components/sync-hardware.ts';
import { createAbsentComponents } from '../../store/components/hardware-sync.ts';
import { eventually } from '../support/eventually.ts';
import { node } from '../support/fakes/hardware-service.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ['components', 'hardware_syncs', 'options'] as const)
    await database.db.deleteFrom(table).execute();
  now = START;
  logged.length = 0;
});

const START = Date.UTC(2026, 10, 21, 10);
let now = START;
const logged: unknown[] = [];
const log = {
  info: (fields: object, message: string) => void logged.push([message, fields]),
  warn: (fields: object, message: string) => void logged.push([message, fields]),
};
const signal = new AbortController().signal;
const deps = (listHardware: () => Promise<{ ID: string; Type: string }[]>) => ({
  db: database.db,
  clock: () => new Date(now),
  listHardware,
  log,
});
const nodes = (...ids: string[]) => deps(async () => ids.map((id) => node(id)));
const away = (reason: string) =>
  deps(async () => {
    throw new Error(reason);
  });
const pass = (given: ReturnType<typeof deps>) => syncHardware(given, signal);
const rows = () => database.db.selectFrom('components').selectAll().orderBy('id').execute();
const interval = (seconds: number) =>
  database.db
    .insertInto('options')
    .values({ record: JSON.stringify({ hardware_sync_interval: seconds }), updated_at: new Date(0), actor: null })
    .onConflict((conflict) =>
      conflict.column('single').doUpdateSet({ record: JSON.stringify({ hardware_sync_interval: seconds }) }),
    )
    .execute();

describe('a pass', () => {
  test('makes what is missing, enabled and with nothing desired, and leaves what exists', async () => {
    const before = {
      id: 'x2',
      desired_config: 'base',
      error_count: 3,
      tags: { rack: '1' },
      muster: { boot: 'b' },
    };
    await putComponents({ db: database.db, clock: () => new Date(0) }, { actor: 'ann' }, [before]);
    await pass(nodes('x3', 'x1', 'x2'));
    const [x1, x2, x3] = await rows();
    for (const made of [x1, x3]) {
      expect(made).toMatchObject({
        desired_config: '',
        error_count: 0,
        enabled: true,
        tags: {},
        state: [],
        retry_policy: null,
        actor: 'hardware-sync',
        updated_at: new Date(START),
      });
    }
    expect(x2).toMatchObject({ desired_config: 'base', error_count: 3, enabled: false, boot: 'b', actor: 'ann' });
    expect(logged).toEqual([['components made of new nodes', { created: 2, leftOut: 0 }]]);
  });

  test('writes no component when there is nothing new, and deletes none that is gone', async () => {
    await pass(nodes('x1', 'x2'));
    const versions = () => sql`select id, xmin::text from components order by id`.execute(database.db);
    const { rows: before } = await versions();
    now += 10_000;
    await pass(nodes('x1'));
    expect((await versions()).rows).toEqual(before);
    expect(logged).toHaveLength(1);
  });

  test('of very many nodes makes them all, once', async () => {
    const ids = Array.from({ length: 12_001 }, (_, index) => `x${index}`);
    await pass(nodes(...ids));
    expect(await rows()).toHaveLength(12_001);
    expect(await readHardwareSync(nodes())).toMatchObject({ nodes: 12_001, created: 12_001 });
  });

  test('leaves a component that somebody makes at this moment', async () => {
    const { making } = await database.db.transaction().execute(async (trx) => {
      await sql`insert into components (id, desired_config, enabled, updated_at, actor)
        values ('x1', 'base', false, now(), 'ann')`.execute(trx);
      const creation = createAbsentComponents(database.db, ['x0', 'x1', 'x2'], new Date(now));
      await eventually('it waits for the other one', async () => {
        const { rows: waiting } = await sql`select 1 from pg_locks where not granted
            and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(trx);
        return waiting.length > 0;
      });
      return { making: creation };
    });
    expect(await making).toBe(2);
    expect(await rows()).toMatchObject([
      { id: 'x0', actor: 'hardware-sync' },
      { id: 'x1', desired_config: 'base', enabled: false, actor: 'ann' },
      { id: 'x2', actor: 'hardware-sync' },
    ]);
  });
});

describe('the interval', () => {
  test('is that of the option, read each time; a shorter one counts within 30 s', async () => {
    let asked = 0;
    const counting = deps(async () => {
      asked += 1;
      return [];
    });
    expect(await pass(counting)).toMatchObject({ waitMs: 10_000 });
    now += 9_000;
    expect(await pass(counting)).toMatchObject({ waitMs: 1_000 });
    expect(asked).toBe(1);
    now += 1_000;
    await interval(3_600);
    expect(await pass(counting)).toMatchObject({ waitMs: 30_000 });
    expect(asked).toBe(1);
    await interval(20);
    now += 30_000;
    expect(await pass(counting)).toMatchObject({ waitMs: 20_000 });
    expect(asked).toBe(2);
    await interval(Number.MAX_SAFE_INTEGER);
    now += 20_000;
    await pass(counting);
    await interval(5);
    await pass(counting);
    expect(asked).toBe(3);
    expect(await readHardwareSync(counting)).toMatchObject({ ok: true, interval: 5 });
  });

  test('does not wait for a clock that was set back', async () => {
    await pass(nodes('x1'));
    now -= 3_600_000;
    await pass(nodes('x1', 'x2'));
    expect(await rows()).toHaveLength(2);
  });
});

describe('how it stands', () => {
  test('is nothing where there is none, or none any more', async () => {
    expect(await readHardwareSync(nodes())).toBeNull();
    await pass(nodes('x1'));
    expect(await syncHardware({ ...nodes(), listHardware: undefined }, signal)).toBeNull();
    expect(await readHardwareSync(nodes())).toBeNull();
  });

  test('a hardware manager that is away is told with its reason, once, until it is back', async () => {
    await pass(nodes('x1'));
    now += 10_000;
    expect(await pass(away('no route'))).toEqual({ waitMs: 10_000, summary: 'the last pass failed: no route' });
    now += 10_000;
    await pass(away('no route'));
    expect(await readHardwareSync(nodes())).toEqual({
      ok: false,
      reason: 'no route',
      last_pass_at: new Date(START + 20_000).toISOString(),
      last_success_at: new Date(START).toISOString(),
      interval: 10,
      nodes: 1,
      created: 1,
    });
    now += 10_000;
    await pass(nodes('x1', 'x2'));
    expect(await readHardwareSync(nodes())).toMatchObject({ ok: true, reason: null, nodes: 2, created: 2 });
    expect(logged.map((entry) => (entry as [string])[0])).toEqual([
      'components made of new nodes',
      'hardware sync failed; it goes on trying',
      'components made of new nodes',
      'hardware sync works again',
    ]);
  });

  test('is dead when no pass came for the interval and 20 s', async () => {
    await pass(nodes('x1'));
    now += 31_000;
    expect(await readHardwareSync(nodes())).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^no pass for 31 s/),
    });
  });

  test('a pass that is cancelled is no failure of the hardware manager', async () => {
    const cancelled = new AbortController();
    cancelled.abort(new Error('shutdown'));
    await expect(syncHardware(away('aborted'), cancelled.signal)).rejects.toThrow('shutdown');
    expect(await readHardwareSync(nodes())).toBeNull();
  });
});
