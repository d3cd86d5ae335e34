import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { endSession } from '../../../control/sessions/end-session.ts';
import { noteNeededComponents } from '../../../control/sessions/needed-components.ts';
import { takeSessionLeases } from '../../../control/sessions/take-session-leases.ts';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { leasedComponents } from '../../../store/components/leases.ts';
import type { NewSession, SessionRow } from '../../../store/sessions/sessions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow, signalClient } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await sql`insert into components (id, updated_at) select id, now() from unnest(array['a','b','c']) as id`.execute(
    database.db,
  );
});
afterAll(() => database.close());
beforeEach(() => database.db.deleteFrom('sessions').execute());

const END = { succeeded: 'true', message: 'done', reason: null } as const;

async function running(given: Partial<NewSession> = {}): Promise<SessionRow> {
  const { id } = await makeSession(database.db, given);
  const values = { stage: 'admitted', status: 'running', phase: 'inventory', message: '' } as const;
  await database.db.updateTable('sessions').set(values).where('id', '=', id).execute();
  return sessionNow(database.db, id);
}

function engine(overlap: boolean) {
  const { client, signalled } = signalClient();
  const options = { ...DEFAULT_OPTIONS, allow_overlap: overlap };
  const deps = { db: database.db, client, readOptions: async () => options, clock: () => new Date() };
  const asked: string[] = [];
  return {
    options,
    signalled,
    /** How often hosts were looked up. */
    asked,
    needs: (session: SessionRow, ...hosts: string[]) =>
      noteNeededComponents(deps, session, async () => {
        asked.push(session.id);
        return hosts;
      }),
    take: (session: SessionRow) => takeSessionLeases(deps, session.id),
    end: (session: SessionRow) => endSession(deps, session.id, END),
  };
}

/** Components that some session has. */
async function taken(): Promise<string[]> {
  const rows = await database.db
    .selectFrom('component_leases')
    .select('component_id')
    .orderBy('component_id')
    .execute();
  return rows.map((row) => row.component_id);
}

describe('a session', () => {
  test('takes no part while sessions may overlap, and nobody is asked for its hosts', async () => {
    const { needs, asked } = engine(true);
    expect(await needs(await running(), 'a', 'b')).toBe(false);
    expect(asked).toEqual([]);
  });

  test.each([
    ['hosts that are no components', {}, ['localhost', 'elsewhere'], false],
    ['hosts some of which are components', {}, ['localhost', 'a'], true],
    ['no host', {}, [], false],
    ['images', { target: { definition: 'image' as const, groups: null, image_map: null } }, ['a'], false],
  ])('on %s has to take its components only', async (_what, given, hosts, needed) => {
    expect(await engine(false).needs(await running(given), ...hosts)).toBe(needed);
  });

  test('waits for what others have, says who has how many, is woken by their end and goes on', async () => {
    const { needs, take, end, signalled } = engine(false);
    const [one, two] = [await running(), await running()];
    expect([await needs(one, 'a', 'b'), await needs(two, 'b', 'c')]).toEqual([true, true]);
    expect(await take(one)).toEqual({ state: 'taken' });
    const message = `waiting for components that other sessions have, allow_overlap is false: ${one.name} (1)`;
    expect(await take(two)).toEqual({ state: 'waiting', message, retrySeconds: 900 });
    expect(await sessionNow(database.db, two.id)).toMatchObject({
      status: 'running',
      phase: 'lease',
      message,
      reason: 'components_busy',
    });
    expect(await taken()).toEqual(['a', 'b']);
    signalled.length = 0;
    await end(one);
    expect(signalled).toContain(sessionWorkflowId(two));
    expect(await take(two)).toEqual({ state: 'taken' });
    expect(await take(two)).toEqual({ state: 'taken' });
    expect(await taken()).toEqual(['b', 'c']);
  });

  test('is not told of ends that change nothing for it; its record says whom it still waits for', async () => {
    const { needs, take, end, signalled } = engine(false);
    const [one, other, waits, younger] = [await running(), await running(), await running(), await running()];
    await needs(one, 'a');
    await needs(other, 'b');
    await needs(waits, 'a', 'b');
    await needs(younger, 'b');
    await take(one);
    await take(other);
    await take(waits);
    await take(younger);
    signalled.length = 0;
    await end(one);
    expect(signalled).toEqual([]);
    expect((await sessionNow(database.db, waits.id)).message).toMatch(`: ${other.name} (1)`);
    expect((await sessionNow(database.db, younger.id)).message).toMatch(
      `: ${[other.name, waits.name].sort().join(' (1), ')} (1)`,
    );
    await end(other);
    expect(signalled).toEqual([sessionWorkflowId(waits)]);
    expect((await take(waits)).state).toBe('taken');
    expect((await sessionNow(database.db, younger.id)).message).toMatch(`: ${waits.name} (1)`);
  });

  test('that is asked twice what it needs needs the same, and nothing more once it has it', async () => {
    const { needs, take, asked } = engine(false);
    const session = await running();
    expect([await needs(session, 'a'), await needs(session, 'a', 'b')]).toEqual([true, true]);
    expect(asked).toHaveLength(1);
    await take(session);
    expect(await needs(session, 'b')).toBe(false);
  });

  test('waits no longer when sessions may overlap again', async () => {
    const { needs, take, options } = engine(false);
    const [one, two] = [await running(), await running()];
    await needs(one, 'a');
    await needs(two, 'a', 'b');
    await take(one);
    expect((await take(two)).state).toBe('waiting');
    options.allow_overlap = true;
    expect(await take(two)).toEqual({ state: 'taken' });
    expect(await leasedComponents(database.db, ['b'])).toEqual([]);
  });

  test('that gave way waits also while sessions may overlap', async () => {
    const { needs, take, end } = engine(true);
    const strict = engine(false);
    const manual = await running();
    const sent = await makeSession(database.db);
    await sql`insert into component_leases values ('a', ${sent.id}, now())`.execute(database.db);
    await strict.needs(manual, 'a');
    expect(await strict.take(manual)).toEqual({ state: 'taken' });
    await database.db.updateTable('sessions').set({ stage: 'admitted' }).where('id', '=', sent.id).execute();
    expect(await needs(sent)).toBe(true);
    expect((await take(sent)).state).toBe('waiting');
    await end(manual);
    expect(await take(sent)).toEqual({ state: 'taken' });
    expect(await leasedComponents(database.db, ['a'])).toEqual(['a']);
  });

  test('that was sent with its components needs nothing more', async () => {
    const { needs, asked } = engine(false);
    const session = await running();
    await sql`insert into component_leases values ('a', ${session.id}, now())`.execute(database.db);
    expect(await needs(session, 'a', 'b')).toBe(false);
    expect(asked).toEqual([]);
  });

  test('that is being cancelled takes nothing, and waits for its cancel', async () => {
    const { needs, take, end } = engine(false);
    const session = await running();
    await needs(session, 'a');
    await sql`update sessions set cancel_requested_at = now() where id = ${session.id}`.execute(database.db);
    expect((await take(session)).state).toBe('waiting');
    await end(session);
    expect(await leasedComponents(database.db, ['a'])).toEqual([]);
    await expect(take(session)).rejects.toMatchObject({ code: 'cancelled' });
    expect(await database.db.selectFrom('lease_requests').selectAll().execute()).toEqual([]);
  });
});
