/** A model on a database of its own, with the words in which its tests speak. */
import { addEvents } from '../../../control/propagation/add-events.ts';
import { connect, type NewConnection } from '../../../control/propagation/connect.ts';
import { createRepository } from '../../../control/propagation/create-repository.ts';
import { createResource } from '../../../control/propagation/create-resource.ts';
import { discardChanges } from '../../../control/propagation/discard-changes.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import { getResource, pageOfEvents } from '../../../control/propagation/read-resources.ts';
import { stageChanges } from '../../../control/propagation/stage-changes.ts';
import { updateInputs } from '../../../control/propagation/update-inputs.ts';
import type { Mapping } from '../../../domain/propagation/mapping.ts';
import { readYaml } from '../../../drivers/propagation-content/read-yaml.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

export type ModelBench = Awaited<ReturnType<typeof openModel>>;

/** A definition for everything: values, a list, an object, secrets, an action besides the canonical ones. */
export const PART = `
version: 1.0.0
actions: {reload: {}}
input:
  v: {schema: str, value: own}
  w: {schema: str, value: own}
  list: {schema: [str], value: []}
  env: {schema: {}, value: {own: "1"}}
  hosts: {schema: [{ip: str}], value: []}
  key: {schema: str, secret: true}
`;

export async function openModel() {
  const database: TestDatabase = await createTestDatabase();
  const { db } = database;
  const deps = { db, clock: () => new Date(), actor: 'ann', readYaml };
  await createRepository(deps, { name: 'resources' });
  await putPart(deps);
  return {
    ...database,
    deps,
    async create(...names: string[]) {
      for (const name of names) await createResource(deps, { name, from: 'part' });
    },
    set: (name: string, inputs: Record<string, unknown>) => updateInputs(deps, name, inputs),
    connect: (emitter: string, receiver: string, mapping: Mapping, events?: NewConnection['events']) =>
      connect(deps, { emitter, receiver, mapping, events }),
    addEvents: (given: Parameters<typeof addEvents>[1]) => addEvents(deps, given),
    get: (name: string) => getResource(db, name),
    async value(name: string, input: string) {
      return (await getResource(db, name)).resolved[input];
    },
    /** `resource.action` of what is staged. */
    async staged(asked: Parameters<typeof stageChanges>[1] = {}) {
      return (await stageChanges(deps, asked)).map(({ resource, action }) => `${resource}.${action}`);
    },
    items: () => stageChanges(deps, {}),
    discardAll: () => discardChanges(deps, 'all'),
    events: async () => (await pageOfEvents(db, {}, '', 1_000)).records.map(({ text }) => text).sort(),
    /** Commits everything as it is: what an executed plan would leave behind. */
    commitAll: () => commitAll(db),
  };
}

async function putPart(deps: Parameters<typeof putDefinition>[0]): Promise<void> {
  const key = { repository: 'resources', name: 'part', version: '1.0.0' };
  await putDefinition(deps, { ...key, files: { 'meta.yaml': PART }, overwrite: false });
}

async function commitAll(db: TestDatabase['db']): Promise<void> {
  const rows = await db.selectFrom('propagation_resources').select('name').execute();
  for (const { name } of rows) {
    const { resolved, tags, sources, definition } = await getResource(db, name);
    const connections = sources.map((one) => [
      one.emitter,
      one.emitter_input,
      one.receiver,
      one.key === null ? one.receiver_input : `${one.receiver_input}:${one.key}|_single`,
    ]);
    const record = {
      resource: name,
      inputs: JSON.stringify(resolved),
      connections: JSON.stringify(connections),
      tags,
      base_path: `${definition.repository}/${definition.name}/${definition.version}`,
      state: 'operational' as const,
      updated_at: new Date(),
    };
    await db
      .insertInto('propagation_committed')
      .values(record)
      .onConflict((conflict) => conflict.column('resource').doUpdateSet(record))
      .execute();
  }
  await db.updateTable('propagation_resources').set({ state: 'operational' }).execute();
  await db.deleteFrom('propagation_staged_items').execute();
}
