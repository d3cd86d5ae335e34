/** Who asked is stored with every write (design: access). */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cancelSession } from '../../../control/sessions/cancel-session.ts';
import { createSession } from '../../../control/sessions/create-session.ts';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { deleteSessions } from '../../../control/sessions/delete-sessions.ts';
import { finishDebug } from '../../../control/sessions/finish-debug.ts';
import { patchSession } from '../../../control/sessions/patch-session.ts';
import { retrySession } from '../../../control/sessions/retry-session.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';
import { addConfiguration, endSession, setSession } from '../session-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await addConfiguration(database.db, 'web');
});
afterAll(() => database.close());

const by = (actor: string | null) => ({ actor });
const deps = () => ({
  db: database.db,
  dispatcher: { kick: () => undefined },
  engine: { retryInPlace: async () => undefined, finishDebug: async () => undefined },
  clock: () => new Date(),
});
const made = (given: Parameters<typeof makeSession>[1] = {}) => makeSession(database.db, { actor: 'maker', ...given });
const who = async (id: string) => {
  const { actor, updated_by, cancel_actor } = await sessionNow(database.db, id);
  return { actor, updated_by, cancel_actor };
};

test.each(['ann', null])('a create of %s', async (actor) => {
  const { session } = await createSession(deps(), by(actor), {
    name: `by-${actor ?? 'nobody'}`,
    configuration_name: 'web',
  });
  expect(await who(session.id)).toEqual({ actor, updated_by: null, cancel_actor: null });
});

test('a patch', async () => {
  const { id, name } = await made();
  await patchSession(deps(), by('operator'), name, { status: { session: { status: 'running' } } });
  expect(await who(id)).toEqual({ actor: 'maker', updated_by: 'operator', cancel_actor: null });
});

test('a patch that completes the session asks for the end of its work', async () => {
  const { id, name } = await made();
  await patchSession(deps(), by('operator'), name, { status: { session: { status: 'complete' } } });
  expect(await who(id)).toEqual({ actor: 'maker', updated_by: 'operator', cancel_actor: 'operator' });
});

test('a cancel; a second one changes nothing, and a delete keeps who was first', async () => {
  const { id, name } = await made();
  await cancelSession(deps(), by('ann'), name, 'enough');
  await cancelSession(deps(), by('bob'), name, undefined);
  expect(await who(id)).toEqual({ actor: 'maker', updated_by: 'ann', cancel_actor: 'ann' });
  await deleteSession(deps(), by('bob'), name);
  expect(await who(id)).toEqual({ actor: 'maker', updated_by: 'bob', cancel_actor: 'ann' });
});

test('a delete, of one and of many, of what works and of what has ended', async () => {
  const [open, ended, many] = [await made(), await made(), await made({ tags: { batch: 'x' } })];
  await endSession(database.db, ended.id, 'true');
  await deleteSession(deps(), by('ann'), open.name);
  await deleteSession(deps(), by('ann'), ended.name);
  await deleteSessions(deps(), by('bob'), { status: '', tags: 'batch=x' });
  expect(await who(open.id)).toMatchObject({ updated_by: 'ann', cancel_actor: 'ann' });
  expect(await who(ended.id)).toMatchObject({ updated_by: 'ann', cancel_actor: null });
  expect(await who(many.id)).toMatchObject({ updated_by: 'bob', cancel_actor: 'bob' });
});

test('a retry is made by who asks for it; one in place is noted', async () => {
  const [ended, holding] = [await made(), await made()];
  await endSession(database.db, ended.id, 'false');
  const { session } = await retrySession(deps(), by('bob'), ended.name, {});
  expect(await who(session.id)).toMatchObject({ actor: 'bob' });
  await setSession(database.db, holding.id, { phase: 'hold', status: 'running', stage: 'admitted' });
  await retrySession(deps(), by('bob'), holding.name, {});
  expect(await who(holding.id)).toMatchObject({ actor: 'maker', updated_by: 'bob' });
  await finishDebug(deps(), by('cleo'), holding.name);
  expect(await who(holding.id)).toMatchObject({ actor: 'maker', updated_by: 'cleo' });
});
