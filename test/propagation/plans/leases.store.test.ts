/** Targets and resources in all plans: one action at a time on each, the oldest that waits first. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { pausePlan } from '../../../control/propagation/command-plan.ts';
import { findWakeable } from '../../../store/propagation/leases.ts';
import { claimAttempt, endAttempt, listUnverified } from '../../../store/propagation/plan-attempts.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

/** A plan of one resource that runs in a place, and goes on. */
async function planAt(name: string, place: string): Promise<string> {
  await plans.work([name], 'worked', () => place);
  const { id } = await plans.process({ tags: [`name=${name}`] });
  await plans.start(id);
  // Who waits for longer is told by the time.
  plans.pass(10);
  return id;
}

const HERE = 'component:here';

async function ended(plan: string): Promise<void> {
  const open = (await plans.attempts(plan)).filter(({ state }) => state === 'open');
  for (const { id } of open) await plans.end(id);
}

test('one action at a time on a target, whichever plan it is of; the oldest that waits is next', async () => {
  const [first, second, third] = [await planAt('a', HERE), await planAt('b', HERE), await planAt('c', HERE)];
  const far = await planAt('d', 'component:far');
  await plans.advance(first);
  for (const plan of [second, third]) expect((await plans.advance(plan)).waitMs).toBe(30_000);
  await plans.advance(far);
  expect((await Promise.all([first, second, third, far].map(plans.running))).map(({ length }) => length)).toEqual([
    1, 0, 0, 1,
  ]);
  expect(await findWakeable(plans.db, plans.deps.clock())).toEqual([]);
  await ended(first);
  // A later one would find the target kept for the older one.
  expect(await findWakeable(plans.db, plans.deps.clock())).toEqual([second]);
  await plans.advance(third);
  expect(await plans.running(third)).toEqual([]);
  await plans.advance(second);
  expect(await plans.running(second)).toEqual(['b.run']);
  await ended(second);
  await plans.advance(third);
  expect(await plans.running(third)).toEqual(['c.run']);
});

test('who waits and is paused, or has not looked for two minutes, holds up nobody', async () => {
  const [first, second, third] = [await planAt('a', HERE), await planAt('b', HERE), await planAt('c', HERE)];
  await plans.advance(first);
  for (const plan of [second, third]) await plans.advance(plan);
  await pausePlan(plans.deps, second);
  await ended(first);
  await plans.advance(third);
  expect(await plans.running(third)).toEqual(['c.run']);

  const fourth = await planAt('d', HERE);
  const fifth = await planAt('e', HERE);
  for (const plan of [fourth, fifth]) await plans.advance(plan);
  await ended(third);
  plans.pass(121_000);
  await plans.advance(fifth);
  expect(await plans.running(fifth)).toEqual(['e.run']);
});

test('one action at a time of a resource', async () => {
  await plans.work(['a']);
  await plans.addEvents('on a.run changed a.reload\non a.run changed a.start');
  const { id } = await plans.process();
  await plans.start(id);
  await plans.advance(id);
  await ended(id);
  await plans.advance(id);
  expect(await plans.running(id)).toHaveLength(1);
  expect((await plans.finish(id)).state).toBe('succeeded');
});

test('the limit of a definition counts in its plan, and does not hold up others', async () => {
  await plans.work(['a1', 'a2', 'a3'], 'limited');
  await plans.work(['b']);
  const { id } = await plans.process();
  await plans.start(id);
  await plans.advance(id);
  expect(await plans.running(id)).toEqual(['a1.run', 'b.run']);
  expect((await plans.finish(id)).counts).toMatchObject({ success: 4 });
});

test('no more than the limit of a plan goes on, and what waits behind one target holds up no other', async () => {
  const crowd = Array.from({ length: 230 }, (_, index) => `here${String(index).padStart(3, '0')}`);
  await plans.work(crowd, 'worked', () => HERE);
  await plans.work(['x', 'y', 'z']);
  const { id } = await plans.process();
  await plans.start(id);
  await plans.advance(id);
  expect(await plans.running(id)).toEqual(['here000.run', 'x.run', 'y.run', 'z.run']);
  await sql`update propagation_plans set items_limit = 2`.execute(plans.db);
  const other = (await plans.attempts(id)).filter(({ name }) => !name.startsWith('here'));
  for (const attempt of other) await plans.end(attempt.id);
  await plans.advance(id);
  expect(await plans.running(id)).toEqual(['here000.run']);
});

test('many plans for one target never run at once, and all come to their end', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) ids.push(await planAt(`n${index}`, HERE));
  let most = 0;
  const left = new Set(ids);
  while (left.size > 0) {
    const answers = await Promise.all([...left].map(async (id) => ({ id, ...(await plans.advance(id)) })));
    const open = (await Promise.all(ids.map((id) => plans.attempts(id))))
      .flat()
      .filter(({ state }) => state === 'open');
    most = Math.max(most, open.length);
    for (const { id } of open) await plans.end(id);
    for (const { id, isOver } of answers) if (isOver) left.delete(id);
  }
  expect(most).toBe(1);
  expect(await plans.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
  expect(await plans.db.selectFrom('propagation_lease_waits').selectAll().execute()).toEqual([]);
});

test('of many attempts whose ends are not confirmed each is asked after, also where a few never can be', async () => {
  const machine = 'lost-machine';
  for (const [name, place] of [
    ['a', 'component:one'],
    ['b', 'component:two'],
  ] as const) {
    const plan = await planAt(name, place);
    const [open] = (await plans.advance(plan)).attempts;
    await claimAttempt(plans.db, { plan, id: open?.attempt ?? '' }, machine);
    const end = { outcome: 'error', code: 'run_lost', message: null, verified: false } as const;
    expect(await endAttempt(plans.db, open?.attempt ?? '', end, plans.deps.clock())).toBe(true);
  }
  const asked = new Set<string>();
  for (let cleanUp = 0; cleanUp < 60; cleanUp++) {
    const [id] = await listUnverified(plans.db, machine, 1);
    if (id !== undefined) asked.add(id);
  }
  expect(asked.size).toBe(2);
});
