/** What a resource waits for whose time has come, as its reason says it. */
import { expect, test } from '@jest/globals';
import type { Db } from '../../../store/connection/database.ts';
import { findResource, listResources } from '../../../store/operator/reads.ts';
import { addWidget, begin, end, MACHINE, OPERATOR } from '../hands/fixtures.ts';
import { later, NOW, withOperatorRows } from '../hands/operator-rows.ts';

let db: Db;
withOperatorRows((opened) => {
  db = opened.db;
});

const reasonOf = async (id: string, now = NOW) => {
  const { reason } = (await findResource(db, id, now)) ?? {};
  const listed = await listResources(db, { operator: OPERATOR }, null, 100, now);
  expect(listed.find((one) => one.id === id)?.reason).toBe(reason);
  return reason;
};
const slots = (of: 'operator_watches' | 'operator_processes', count: number) =>
  db.updateTable(of).set({ slots: count }).where('operator', '=', OPERATOR).execute();

test('a place of its kind, one of a process, or a process; with all of them it is about to begin', async () => {
  const waiting = await addWidget(db, 'a', NOW);
  expect(await reasonOf(waiting)).toBe('created');
  const record = await begin(db, await addWidget(db, 'b', NOW), NOW);
  await slots('operator_watches', 1);
  expect(await reasonOf(waiting)).toBe('waits for a free place of its kind: 1 of 1 are taken');
  await slots('operator_watches', 4);
  await slots('operator_processes', 1);
  expect(await reasonOf(waiting)).toBe('waits for a free place: all 1 of the live processes are taken');
  expect(await reasonOf(record.resourceId)).toBeNull();
  expect(await reasonOf(waiting, later(46))).toBe('waits for a process of its operator: none gives signs');
  await end(db, record, 'ok', NOW);
  expect(await reasonOf(waiting)).toBe('created');
  await db.updateTable('operator_processes').set({ left_at: NOW }).where('machine', '=', MACHINE).execute();
  expect(await reasonOf(waiting)).toBe('waits for a process of its operator: none gives signs');
});

test('nothing of the kind before its time has come', async () => {
  const id = await addWidget(db, 'c', NOW, { cause: null });
  await db.updateTable('operator_processes').set({ left_at: NOW }).where('machine', '=', MACHINE).execute();
  await db
    .updateTable('operator_resources')
    .set({ due_at: later(60), reason: 'its period' })
    .where('id', '=', id)
    .execute();
  expect(await reasonOf(id)).toBe('its period');
  expect(await reasonOf(id, later(60))).toBe('waits for a process of its operator: none gives signs');
});
