/** The events of a plan out of Postgres: as many as its rules need, and no others. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { buildPlan } from '../../../domain/propagation/build-plan.ts';
import type { PropagationEvent } from '../../../domain/propagation/event-schema.ts';
import { parseEvents, renderEvent } from '../../../domain/propagation/event-text.ts';
import { findPlanEvents } from '../../../store/propagation/plan-closure.ts';
import { type ModelBench, openModel } from './model-bench.ts';

let model: ModelBench;
beforeEach(async () => {
  model = await openModel();
});
afterEach(() => model.close());

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f.1'];
const ACTIONS = ['run', 'update', 'remove', 'reload'];
const itemsOf = (nodes: readonly string[]) =>
  nodes.map((node) => ({
    resource: node.slice(0, node.lastIndexOf('.')),
    action: node.slice(node.lastIndexOf('.') + 1),
  }));
const found = async (...nodes: string[]) => (await findPlanEvents(model.db, itemsOf(nodes))).map(renderEvent).sort();

describe('the events of a plan', () => {
  test('make the plan that all events make', async () => {
    await model.create(...NAMES);
    const node = fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...ACTIONS)).map((ends) => ends.join('.'));
    const emitter = fc.oneof(node, fc.constantFrom(...NAMES.map((name) => `${name}.*`)));
    const event: fc.Arbitrary<PropagationEvent> = fc.record({
      type: fc.constantFrom('depends_on', 'react_on'),
      parent: emitter,
      on: fc.constantFrom('changed', 'success', 'failure', 'any'),
      child: node,
    });
    const givenModel = fc.tuple(
      fc.array(event, { maxLength: 25 }),
      fc.uniqueArray(node, { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(givenModel, async ([events, staged]) => {
        await sql`truncate propagation_events`.execute(model.db);
        await model.addEvents(events);
        const read = await findPlanEvents(model.db, itemsOf(staged));
        expect(buildPlan({ staged, events: read })).toEqual(buildPlan({ staged, events }));
      }),
      { numRuns: 60 },
    );
  });

  test('of resources that are not in the plan are not read', async () => {
    await model.create(...NAMES);
    await model.addEvents(
      'on a.run changed b.run\nafter b.run success c.run\non c.run changed d.run\non d.run any e.run',
    );
    expect(await found('a.run')).toEqual(['after b.run success c.run', 'on a.run changed b.run']);
    expect(await found('c.update')).toEqual(['on c.run changed d.run']);
    expect(await found()).toEqual([]);
  });

  test('end at a resource that the plan removes, but not at its removal', async () => {
    await model.create(...NAMES);
    await model.addEvents(
      'on a.run changed b.run\non b.run changed c.run\non a.run changed c.remove\non c.remove any d.run',
    );
    expect(await found('a.run', 'b.remove')).toEqual([
      'on a.run changed b.run',
      'on a.run changed c.remove',
      'on b.run changed c.run',
      'on c.remove any d.run',
    ]);
  });

  test('of run count for update where the definition has no update', async () => {
    const files = { 'meta.yaml': 'handler: shell', 'actions/run.sh': '', 'actions/remove.sh': '' };
    const key = { repository: 'resources', name: 'script', version: '1.0.0' };
    await putDefinition(model.deps, { ...key, files, overwrite: false });
    await createResource(model.deps, { name: 'x', from: 'script' });
    await model.create('a', 'b');
    await model.addEvents('on x.run changed a.run\non a.run changed b.reload');
    const events = await findPlanEvents(model.db, itemsOf(['x.update']));
    expect(buildPlan({ staged: ['x.update'], events }).nodes.map(({ id }) => id)).toEqual([
      'x.update',
      'a.run',
      'b.reload',
    ]);
    expect(await found('a.update')).toEqual(['on a.run changed b.reload']);
  });

  test('are found along a chain of 20,000 reactions', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `on n${index}.run changed n${index + 1}.run`);
    const rows = parseEvents(lines.join('\n')).map(({ type, parent, on, child }) => {
      const [from, to] = itemsOf([parent, child]);
      return {
        id: parent,
        type,
        parent: from?.resource,
        parent_action: from?.action,
        on_outcome: on,
        child: to?.resource,
        child_action: to?.action,
      };
    });
    await sql`
      insert into propagation_events (id, type, parent, parent_action, on_outcome, child, child_action, source, created_at)
      select id, type, parent, parent_action, on_outcome, child, child_action, 'user', now()
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as (id text, type text, parent text, parent_action text, on_outcome text, child text, child_action text)`.execute(
      model.db,
    );
    const begun = performance.now();
    expect(await findPlanEvents(model.db, itemsOf(['n0.run']))).toHaveLength(20_000);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
