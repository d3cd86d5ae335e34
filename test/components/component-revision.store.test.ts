/** Revisions of components: another text whenever what a page shows may be another. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Component } from '../../domain/components/schema.ts';
import {
  countMatchingComponents,
  readComponentRevision,
  readComponentsRevision,
} from '../../store/components/component-list.ts';
import { deleteComponents, upsertComponents } from '../../store/components/components.ts';
import { addConfiguration } from '../sessions/session-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
let seconds = 0;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
const component = (id: string, more: Partial<Component> = {}): Component => ({
  ...{ id, state: [], desired_config: '', error_count: 0, enabled: true, tags: {} },
  ...more,
});
const write = (...components: Component[]) => {
  seconds += 1;
  return upsertComponents(database.db, components, new Date(1_700_000_000_000 + seconds * 1_000), null);
};
beforeEach(async () => {
  await database.db.deleteFrom('components').execute();
  await write(component('n1'), component('n2', { desired_config: 'late', error_count: 5 }));
});

const both = async () => [await readComponentsRevision(database.db), await readComponentRevision(database.db, 'n1')];
/** Which of the two an act changes. */
async function changedBy(act: () => Promise<unknown>): Promise<boolean[]> {
  const before = await both();
  expect(await both()).toEqual(before);
  await act();
  return (await both()).map((text, place) => text !== before[place]);
}

test('a write of a component changes both, one of another that of all', async () => {
  expect(await changedBy(() => write(component('n1', { enabled: false })))).toEqual([true, true]);
  expect(await changedBy(() => write(component('n2', { tags: { a: 'b' } })))).toEqual([true, false]);
});

test('one that is made, or gone, changes both', async () => {
  expect(await changedBy(() => write(component('n3')))).toEqual([true, false]);
  expect(await changedBy(() => deleteComponents(database.db, ['n1']))).toEqual([true, true]);
  expect(await readComponentRevision(database.db, 'n1')).toBe('');
});

test('a lease changes both', async () => {
  const { id } = await makeSession(database.db);
  const lease = { component_id: 'n1', session_id: id, taken_at: new Date() };
  expect(await changedBy(() => database.db.insertInto('component_leases').values(lease).execute())).toEqual([
    true,
    true,
  ]);
  expect(await changedBy(() => database.db.deleteFrom('component_leases').execute())).toEqual([true, true]);
});

test('a configuration changes that of all, and of what desires it', async () => {
  await write(component('n1', { desired_config: 'late' }));
  expect(await changedBy(() => addConfiguration(database.db, 'late'))).toEqual([true, true]);
  expect(await changedBy(() => addConfiguration(database.db, 'another'))).toEqual([true, false]);
});

test('what matches is counted, up to a bound', async () => {
  const options = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };
  await addConfiguration(database.db, 'there');
  await write(
    component('n2', { desired_config: 'there', error_count: 5 }),
    component('n4', { desired_config: 'there' }),
  );
  const count = (more: object, most = 10) => countMatchingComponents(database.db, { options, ...more }, most);
  expect(await count({})).toBe(3);
  expect(await count({}, 2)).toBe(2);
  expect(await count({ status: 'failed' })).toBe(1);
  expect(await count({ status: 'pending', textInId: 'N' })).toBe(1);
  expect(await count({ desiredConfig: 'there', ids: ['n1', 'n4'] })).toBe(1);
});
