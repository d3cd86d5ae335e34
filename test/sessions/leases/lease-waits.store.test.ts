/** Whom sessions wait for is right in their records at once, whoever comes, takes, gives back or goes; their workflows are not asked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { endSession } from '../../../control/sessions/end-session.ts';
import { noteNeededComponents } from '../../../control/sessions/needed-components.ts';
import { refreshLeaseWaits, rewordLeaseWaits } from '../../../control/sessions/reword-lease-waits.ts';
import { takeSessionLeases } from '../../../control/sessions/take-session-leases.ts';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { describeLeaseWait } from '../../../domain/sessions/lease-wait.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { leaseBlockers, requestedLeases } from '../../../store/components/leases.ts';
import type { NewSession, SessionRow } from '../../../store/sessions/sessions.ts';
import { writeEnd } from '../../../store/sessions/write-end.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow, signalClient } from '../../support/temporal/engine-sessions.ts';

const COMPONENTS = ['a', 'b', 'c', 'd'];
const END = { succeeded: 'true', message: 'done', reason: null } as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`insert into components (id, updated_at) select id, now() from unnest(${COMPONENTS}::text[]) as id`.execute(
    database.db,
  );
});
afterAll(() => database.close());
beforeEach(() => database.db.deleteFrom('sessions').execute());

/** A session with a slot that has come to its inventory. */
async function running(given: Partial<NewSession> = {}): Promise<SessionRow> {
  const session = await makeSession(database.db, given);
  await letIn(session);
  return session;
}
const letIn = ({ id }: SessionRow) =>
  database.db
    .updateTable('sessions')
    .set({ stage: 'admitted', status: 'running', phase: 'inventory', message: '' })
    .where('id', '=', id)
    .execute();

function engine(overlap = false) {
  const { client, signalled } = signalClient();
  const readOptions = async () => ({ ...DEFAULT_OPTIONS, allow_overlap: overlap });
  const deps = { db: database.db, client, readOptions, clock: () => new Date() };
  return {
    signalled,
    /** Comes to its turn for these components, and takes them if it may. */
    async asks(session: SessionRow, ...hosts: string[]): Promise<string> {
      if (!(await noteNeededComponents(deps, session, async () => hosts))) return 'taken';
      return (await takeSessionLeases(deps, session.id)).state;
    },
    ends: (session: SessionRow) => endSession(deps, session.id, END),
  };
}

/** Whom the record of a session names. */
async function named(session: SessionRow): Promise<string> {
  const { message } = await sessionNow(database.db, session.id);
  return message.replace(/^.*is false: /, '');
}

describe('the record of a session that waits', () => {
  test('names those no longer that have ended, also when the end is written twice', async () => {
    const { asks, ends, signalled } = engine();
    const [one, two, waits] = [await running(), await running(), await running()];
    await asks(one, 'a');
    await asks(two, 'b', 'c');
    expect(await asks(waits, 'a', 'b', 'c')).toBe('waiting');
    expect(await named(waits)).toBe(`${two.name} (2), ${one.name} (1)`);
    // Whoever wrote the end died before it could say so.
    await writeEnd(database.db, one.id, END, new Date());
    expect(await named(waits)).toContain(one.name);
    signalled.length = 0;
    await ends(one);
    expect(await named(waits)).toBe(`${two.name} (2)`);
    await ends(one);
    expect(await named(waits)).toBe(`${two.name} (2)`);
    expect(signalled).toEqual([]);
  });

  test('names an older one that comes later, while that one waits and when it has its components', async () => {
    const { asks, ends } = engine();
    const [older, other, holder, waits] = [await running(), await running(), await running(), await running()];
    await asks(holder, 'a', 'c');
    await asks(waits, 'a', 'b');
    expect(await named(waits)).toBe(`${holder.name} (1)`);
    expect(await asks(older, 'b')).toBe('taken');
    expect(await named(waits)).toBe([`${holder.name} (1)`, `${older.name} (1)`].sort().join(', '));
    expect(await asks(other, 'b', 'c')).toBe('waiting');
    const three = [holder, older, other].map(({ name }) => `${name} (1)`);
    expect(await named(waits)).toBe(three.sort().join(', '));
    await ends(older);
    await ends(holder);
    expect(await named(waits)).toBe(`${other.name} (1)`);
    expect(await asks(other)).toBe('taken');
    expect(await named(waits)).toBe(`${other.name} (1)`);
  });

  test('names one that was sent with its components as soon as that has its slot', async () => {
    const { asks } = engine();
    const [holder, waits] = [await running(), await running()];
    const sent = await makeSession(database.db);
    await sql`insert into component_leases values ('b', ${sent.id}, now())`.execute(database.db);
    await asks(holder, 'a');
    await asks(waits, 'a', 'b');
    expect(await named(waits)).toBe(`${holder.name} (1)`);
    await letIn(sent);
    expect(await asks(sent)).toBe('taken');
    expect(await named(waits)).toBe([`${holder.name} (1)`, `${sent.name} (1)`].sort().join(', '));
  });

  test('names those no longer that take no part any more', async () => {
    const { asks } = engine();
    const [holder, older, waits] = [await running(), await running(), await running()];
    await asks(holder, 'a');
    await asks(older, 'a', 'b');
    await asks(waits, 'a', 'b');
    expect(await named(waits)).toBe(`${older.name} (2), ${holder.name} (1)`);
    expect(await engine(true).asks(older)).toBe('taken');
    expect(await named(waits)).toBe(`${holder.name} (1)`);
  });

  test('is told apart by the whole of a name', async () => {
    const { asks, ends } = engine();
    const names = ['x', 'x.x', 'x-x', 'xx'];
    const holders = await Promise.all(names.map((name) => running({ name })));
    for (const [n, holder] of holders.entries()) await asks(holder, COMPONENTS[n] as string);
    const waits = await running();
    await asks(waits, ...COMPONENTS);
    expect(await named(waits)).toBe('x (1), x-x (1), x.x (1), xx (1)');
    await ends(holders[0] as SessionRow);
    expect(await named(waits)).toBe('x-x (1), x.x (1), xx (1)');
    await ends(holders[2] as SessionRow);
    expect(await named(waits)).toBe('x.x (1), xx (1)');
  });

  test('that says something else by now is left alone', async () => {
    const { asks, ends } = engine();
    const [one, two, waits, ended] = [await running(), await running(), await running(), await running()];
    await asks(one, 'a');
    await asks(two, 'b');
    for (const session of [waits, ended]) await asks(session, 'a', 'b');
    const words = { message: `its machine is away, and it waited: ${one.name} (1)`, reason: 'runner_gone' } as const;
    await database.db.updateTable('sessions').set(words).where('id', '=', waits.id).execute();
    await ends(ended);
    await ends(one);
    await refreshLeaseWaits(database.db);
    expect(await sessionNow(database.db, waits.id)).toMatchObject(words);
    expect((await sessionNow(database.db, ended.id)).message).toBe('done');
  });

  test('is after every step what its own asking would say', async () => {
    const step = fc.record({ who: fc.nat(5), wants: fc.subarray(COMPONENTS, { minLength: 1 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
        await database.db.deleteFrom('sessions').execute();
        const { asks, ends } = engine();
        const sessions = [];
        for (let n = 0; n < 6; n += 1) sessions.push(await running());
        const state = new Map<SessionRow, string>();
        for (const { who, wants } of steps) {
          const session = sessions[who] as SessionRow;
          const before = state.get(session);
          if (before === 'ended') continue;
          if (before === 'taken') await ends(session);
          state.set(session, before === 'taken' ? 'ended' : await asks(session, ...wants));
          for (const [waits, how] of state) {
            if (how !== 'waiting') continue;
            const { components } = await requestedLeases(database.db, waits.id);
            const blockers = await leaseBlockers(database.db, waits.id, components);
            // Of one that is free its next step says it.
            if (blockers.length === 0) continue;
            expect((await sessionNow(database.db, waits.id)).message).toBe(describeLeaseWait(blockers));
          }
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('of thousands that wait for one component', () => {
  const COUNT = 2_000;
  const youngest = (count: number) =>
    database.db.selectFrom('sessions').selectAll().orderBy('queue', 'desc').limit(count).execute();
  /** How many records name a session. */
  const naming = async (name: string) => {
    const { rows } = await sql<{ count: number }>`
      select count(*) from sessions where strpos(message, ${`${name} (1)`}) > 0`.execute(database.db);
    return rows[0]?.count;
  };

  async function crowd(): Promise<{ holder: SessionRow; oldest: SessionRow }> {
    const { asks } = engine();
    const holder = await running({ name: '0-first' });
    await asks(holder, 'a');
    const oldest = await running({ name: '1-next' });
    await asks(oldest, 'a');
    await sql`
      with made as (
        insert into sessions (id, name, configuration_name, ansible_config, target, snapshot, status, succeeded, stage, phase,
          start_time, created_at, updated_at)
        select gen_random_uuid(), 'w-' || n, configuration_name, ansible_config, target, snapshot, 'running', 'none',
          'admitted', 'lease', now(), now(), now()
        from generate_series(2, ${COUNT}::int) n, sessions where id = ${holder.id}
        returning id
      )
      insert into lease_requests (session_id, component_id, yielded) select id, 'a', false from made`.execute(
      database.db,
    );
    await sql`update sessions set reason = 'components_busy' where phase = 'lease'`.execute(database.db);
    await refreshLeaseWaits(database.db);
    return { holder, oldest };
  }

  test('every record is right at once when the one that has it ends, and only the next in line is told', async () => {
    const { holder, oldest } = await crowd();
    expect(await naming(holder.name)).toBe(COUNT);
    const { ends, signalled } = engine();
    await ends(holder);
    expect(signalled).toEqual([sessionWorkflowId(oldest)]);
    // The next in line goes on, and its own step says so.
    expect(await naming(holder.name)).toBe(1);
    expect(await naming(oldest.name)).toBe(COUNT - 1);
    expect((await youngest(1))[0]?.message).toMatch(/: 1-next \(1\), w-10 \(1\), .*, 1994 more sessions$/);
  });

  test('where that is too much work, the oldest are, and the sweep does the rest', async () => {
    const { holder, oldest } = await crowd();
    await writeEnd(database.db, holder.id, END, new Date());
    await rewordLeaseWaits(database.db, holder.id, 500 * COUNT);
    expect(await naming(holder.name)).toBe(COUNT - 499);
    expect((await youngest(1))[0]?.message).toContain(holder.name);
    await refreshLeaseWaits(database.db);
    expect(await naming(holder.name)).toBe(1);
    expect(await naming(oldest.name)).toBe(COUNT - 1);
  });
});
