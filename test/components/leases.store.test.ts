import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { takeLeases } from '../../control/components/take-leases.ts';
import {
  leasedComponents,
  releaseLeftLeases,
  requestedLeases,
  requestLeases,
  waitingForLeases,
} from '../../store/components/leases.ts';
import { ensureRun, markRunEnded } from '../../store/runs/runs.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { forgetSessions, markPurged } from '../../store/sessions/sweep.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.deleteFrom('runs').execute();
  await database.db.deleteFrom('sessions').execute();
});

const END = { succeeded: 'true', message: 'done', reason: null } as const;
const UNKNOWN = { succeeded: 'unknown', message: 'nobody knows', reason: 'workflow_ended' } as const;

const queued = () => makeSession(database.db);
/** As admission does, though others wait. */
const letIn = ({ id }: SessionRow) =>
  database.db.updateTable('sessions').set({ stage: 'admitted', status: 'running' }).where('id', '=', id).execute();
async function running(): Promise<SessionRow> {
  const session = await makeSession(database.db);
  await letIn(session);
  return session;
}
const take = (session: SessionRow, ...componentIds: string[]) =>
  database.db.transaction().execute((trx) => takeLeases(trx, { sessionId: session.id, componentIds, now: new Date() }));
const heldBy = async (session: SessionRow) => {
  const rows = await database.db
    .selectFrom('component_leases')
    .select('component_id')
    .where('session_id', '=', session.id)
    .orderBy('component_id')
    .execute();
  return rows.map((row) => row.component_id);
};
async function components(...ids: string[]): Promise<void> {
  await sql`insert into components (id, updated_at) select id, now() from unnest(${ids}::text[]) as id
    on conflict do nothing`.execute(database.db);
}

describe('leases', () => {
  test('are taken all or none, and taking them again changes nothing', async () => {
    const [one, other] = [await running(), await running()];
    expect(await take(one, 'b', 'a', 'b')).toEqual({ taken: true });
    expect(await take(one, 'a', 'b')).toEqual({ taken: true });
    expect(await take(one, 'a', 'b', 'c')).toEqual({ taken: true });
    expect(await take(other, 'x', 'b', 'c', 'y')).toEqual({
      taken: false,
      holders: [{ session: one.name, components: 2 }],
    });
    expect(await heldBy(one)).toEqual(['a', 'b', 'c']);
    expect(await heldBy(other)).toEqual([]);
    expect(await take(other)).toEqual({ taken: true });
    expect((await leasedComponents(database.db, ['a', 'x', 'c'])).sort()).toEqual(['a', 'c']);
  });

  test('that are refused name who has how many of them, the one with the most first', async () => {
    const [one, two, asks] = [await running(), await running(), await queued()];
    await take(one, 'a');
    await take(two, 'b', 'c', 'z');
    expect(await take(asks, 'a', 'b', 'c', 'd')).toEqual({
      taken: false,
      holders: [
        { session: two.name, components: 2 },
        { session: one.name, components: 1 },
      ],
    });
  });

  test('roll back with the transaction of who takes them', async () => {
    const session = await queued();
    const failed = database.db.transaction().execute(async (trx) => {
      await takeLeases(trx, { sessionId: session.id, componentIds: ['a'], now: new Date() });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await heldBy(session)).toEqual([]);
  });

  test.each(['true', 'false', 'unknown'] as const)('go with the end of the session, %s', async (succeeded) => {
    const session = await running();
    await take(session, 'a', 'b');
    await writeEnd(database.db, session.id, { ...END, succeeded }, new Date());
    expect(await heldBy(session)).toEqual([]);
  });

  test('are kept while a run of a session that nobody answers for may be alive, and given back when it is not', async () => {
    const session = await running();
    await take(session, 'a');
    const runId = `${session.id}-1-0`;
    await ensureRun(
      database.db,
      {
        id: runId,
        sessionId: session.id,
        streamId: session.id,
        layer: 0,
        attempt: 1,
        host: 'disk',
      },
      new Date(),
    );
    await writeEnd(database.db, session.id, UNKNOWN, new Date());
    const longAgo = new Date(Date.now() - 60_000);
    expect(await releaseLeftLeases(database.db, longAgo)).toBe(false);
    expect(await heldBy(session)).toEqual(['a']);
    await markRunEnded(database.db, runId, 'lost', null, new Date());
    expect(await releaseLeftLeases(database.db, longAgo)).toBe(true);
    expect(await heldBy(session)).toEqual([]);
  });

  test('of a session whose machine does not come back are given back in the end; those of one that runs are not', async () => {
    const [gone, live] = [await running(), await running()];
    await take(gone, 'a');
    await take(live, 'b');
    const run = { sessionId: gone.id, streamId: gone.id, layer: 0, attempt: 1, host: 'disk' };
    await ensureRun(database.db, { ...run, id: `${gone.id}-1-0` }, new Date());
    await writeEnd(database.db, gone.id, UNKNOWN, new Date());
    expect(await releaseLeftLeases(database.db, new Date(Date.now() + 1_000))).toBe(true);
    expect([await heldBy(gone), await heldBy(live)]).toEqual([[], ['b']]);
  });

  test('do not outlive the record of their session', async () => {
    const session = await running();
    await take(session, 'a');
    await sql`update sessions set deleted_at = now(), stage = 'ended' where id = ${session.id}`.execute(database.db);
    await markPurged(database.db, session.id, new Date());
    await forgetSessions(database.db, new Date(Date.now() + 1_000));
    expect(await leasedComponents(database.db, ['a'])).toEqual([]);
  });
});

describe('who comes first', () => {
  test('one that runs takes from one that is not let in yet, all that it has', async () => {
    const [older, sent] = [await running(), await queued()];
    expect(await take(sent, 'a', 'b', 'c')).toEqual({ taken: true });
    expect(await take(older, 'b')).toEqual({ taken: true });
    expect([await heldBy(older), await heldBy(sent)]).toEqual([['b'], []]);
    const requested = await requestedLeases(database.db, sent.id);
    expect({ ...requested, components: requested.components.sort() }).toEqual({
      components: ['a', 'b', 'c'],
      yielded: true,
    });
    // Let in, it waits for what it gave away, and takes the rest of it only together with that.
    await letIn(sent);
    expect(await take(sent, 'a', 'b', 'c')).toEqual({
      taken: false,
      holders: [{ session: older.name, components: 1 }],
    });
    expect((await waitingForLeases(database.db)).map(({ name }) => name)).toEqual([sent.name]);
    await writeEnd(database.db, older.id, END, new Date());
    expect(await take(sent, 'a', 'b', 'c')).toEqual({ taken: true });
    expect(await waitingForLeases(database.db)).toEqual([]);
  });

  test('one that is not let in takes from nobody, and none takes from one that runs', async () => {
    const [runs, waits, other] = [await running(), await queued(), await queued()];
    await take(runs, 'a');
    await take(waits, 'b');
    for (const component of ['a', 'b']) expect((await take(other, component)).taken).toBe(false);
    const later = await running();
    expect(await take(later, 'a', 'b')).toEqual({ taken: false, holders: [{ session: runs.name, components: 1 }] });
    expect([await heldBy(runs), await heldBy(waits)]).toEqual([['a'], ['b']]);
  });

  test('a running one that waits longer keeps younger ones off, also the batcher, until it ends', async () => {
    await components('a', 'b');
    const [busy, old, young] = [await running(), await running(), await running()];
    await take(busy, 'a');
    expect(await requestLeases(database.db, old.id, ['a', 'b', 'no-component'])).toBe(2);
    expect((await take(old, 'a', 'b')).taken).toBe(false);
    const kept = { taken: false, holders: [{ session: old.name, components: 1 }] };
    expect(await take(young, 'b')).toEqual(kept);
    expect(await take(await queued(), 'b')).toEqual(kept);
    await writeEnd(database.db, old.id, END, new Date());
    expect(await take(young, 'b')).toEqual({ taken: true });
  });

  test('a request of one that is not running keeps nobody off, nor does that of a younger one', async () => {
    await components('a');
    const [first, waits, young] = [await running(), await queued(), await running()];
    await requestLeases(database.db, waits.id, ['a']);
    await requestLeases(database.db, young.id, ['a']);
    expect(await take(first, 'a')).toEqual({ taken: true });
  });
});

describe('many at once', () => {
  test('never get the same component twice, and nobody is broken off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 }), {
          minLength: 2,
          maxLength: 8,
        }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        async (wishes, runs) => {
          await database.db.deleteFrom('sessions').execute();
          const sessions: { session: SessionRow; wish: string[] }[] = [];
          for (const [index, wish] of wishes.entries()) {
            sessions.push({ session: await (runs[index] ? running() : queued()), wish });
          }
          const left = new Set(sessions);
          const work = async (mine: (typeof sessions)[number]) => {
            if (!(await take(mine.session, ...mine.wish)).taken) return;
            const held = await heldBy(mine.session);
            // All of them, or none because an older one that runs took them meanwhile.
            if (held.length > 0) expect(held).toEqual([...mine.wish].sort());
            await writeEnd(database.db, mine.session.id, END, new Date());
            left.delete(mine);
          };
          for (let round = 0; left.size > 0; round++) {
            expect(round).toBeLessThan(20);
            await Promise.all([...left].map(work));
          }
          expect(await leasedComponents(database.db, ['a', 'b', 'c', 'd', 'e', 'f'])).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('one that is given back in the same moment is refused or taken, and then free', async () => {
    for (let round = 0; round < 10; round++) {
      const [has, wants] = [await running(), await running()];
      await take(has, 'x');
      const [, answer] = await Promise.all([writeEnd(database.db, has.id, END, new Date()), take(wants, 'x')]);
      if (!answer.taken) expect(await take(wants, 'x')).toEqual({ taken: true });
      await writeEnd(database.db, wants.id, END, new Date());
    }
    expect(await leasedComponents(database.db, ['x'])).toEqual([]);
  });
});
