/** What has made a resource run, as its row keeps it beyond the reconciles themselves. */
import { describe, expect, test } from '@jest/globals';
import { getResource, pageOfResources } from '../../../control/operator/read-operators.ts';
import { CAUSES_KEPT, type CauseType, urgencyOf } from '../../../domain/operator/cause.ts';
import type { Db } from '../../../store/connection/database.ts';
import { writeDependentCause } from '../../../store/operator/dependents.ts';
import { writeDrain, writeManualCause } from '../../../store/operator/requests.ts';
import { writeNotes } from '../../../store/operator/resources.ts';
import { stopOperators, wakeCancelled } from '../../../store/operator/stops.ts';
import { addWidget, begin, end, OPERATOR, WIDGET } from '../hands/fixtures.ts';
import { later, NOW, resourceRow, withOperatorRows } from '../hands/operator-rows.ts';

let db: Db;
withOperatorRows((opened) => {
  db = opened.db;
});

const noted = (name: string, type: CauseType | null, now: Date) => {
  const object = { namespace: 'ns', name, uid: `uid-${OPERATOR}-${name}`, generation: 1, mark: '', deleting: false };
  const cause = type === null ? null : { cause: { type }, urgency: urgencyOf(type) };
  return writeNotes(db, OPERATOR, WIDGET, [{ object, cause }], now);
};
const changedDependent = (name: string, object: string, now: Date) => {
  const cause = { type: 'dependent', object, manager: 'helm' } as const;
  const names = [{ namespace: 'ns', name }];
  return writeDependentCause(db, OPERATOR, WIDGET, names, { cause, urgency: urgencyOf('dependent') }, now);
};
const causesOf = async (id: string) => (await getResource({ db, clock: () => NOW }, id)).causes ?? [];
const at = (seconds: number) => later(seconds).toISOString();

describe('the causes of a resource', () => {
  test('are all that made it run, the newest first, also those behind a more urgent cause', async () => {
    const id = await addWidget(db, 'a', NOW);
    await changedDependent('a', 'Pod ns/web', later(1));
    await writeManualCause(db, id, { by: 'ann', urgency: urgencyOf('manual') }, later(2));
    expect(await resourceRow(db, id)).toMatchObject({ cause: { type: 'created' } });
    expect(await causesOf(id)).toEqual([
      { type: 'manual', by: 'ann', at: at(2) },
      { type: 'dependent', object: 'Pod ns/web', manager: 'helm', at: at(1) },
      { type: 'created', at: at(0) },
    ]);
  });

  test('stay when a reconcile begins; what came by itself is noted then', async () => {
    const id = await addWidget(db, 'b', NOW);
    await end(db, await begin(db, id, later(1)), 'failed', later(2));
    await begin(db, id, later(3));
    expect(await causesOf(id)).toEqual([
      { type: 'retry', attempt: 1, at: at(3) },
      { type: 'created', at: at(0) },
    ]);
  });

  test('of a resource whose time has come is the timer; what is told again without a cause is none', async () => {
    const id = await addWidget(db, 'c', NOW, { cause: null });
    await noted('c', null, later(1));
    expect(await causesOf(id)).toEqual([]);
    await begin(db, id, later(2));
    expect(await causesOf(id)).toEqual([{ type: 'timer', at: at(2) }]);
  });

  test('that a first list found after a failure is there once', async () => {
    const id = await addWidget(db, 'd', NOW, { cause: 'retry' });
    await begin(db, id, later(1));
    expect(await causesOf(id)).toEqual([{ type: 'retry', at: at(0) }]);
  });

  test('are those of a drain, and of a release after a stop of everything', async () => {
    const id = await addWidget(db, 'e', NOW);
    const record = await begin(db, id, NOW);
    await db
      .updateTable('operator_reconciles')
      .set({ cancel_requested_at: later(1) })
      .where('id', '=', record.id)
      .execute();
    await stopOperators(db, later(1));
    await wakeCancelled(db, [later(1)], { by: 'ann', urgency: urgencyOf('manual') }, later(2));
    await writeDrain(db, OPERATOR, { mode: 'run', by: null, urgency: urgencyOf('manual') }, later(3));
    expect(await causesOf(id)).toEqual([
      { type: 'manual', at: at(3) },
      { type: 'manual', by: 'ann', at: at(2) },
      { type: 'created', at: at(0) },
    ]);
  });

  test('are the newest 20; lists leave them out', async () => {
    const id = await addWidget(db, 'f', NOW);
    for (let change = 1; change <= 25; change += 1) {
      if (change % 2 === 0) await noted('f', 'changed', later(change));
      else await changedDependent('f', `Pod ns/p${change}`, later(change));
    }
    const causes = await causesOf(id);
    expect(causes.map(({ at: time }) => time)).toEqual(Array.from({ length: CAUSES_KEPT }, (_, n) => at(25 - n)));
    expect(causes[0]).toMatchObject({ type: 'dependent', object: 'Pod ns/p25' });
    const query = {
      limit: 10,
      after_id: '',
      operator: OPERATOR,
      kind: undefined,
      namespace: undefined,
      name: undefined,
    };
    const page = await pageOfResources({ db, clock: () => NOW }, { ...query, phase: '' });
    expect(page.records).toMatchObject([{ id, causes: null }]);
  });
});
