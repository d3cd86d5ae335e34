/** What a plan has frozen for an action, as its handler gets it when an attempt begins. */
import { musterError } from '../../domain/errors.ts';
import type { Definition } from '../../domain/propagation/definition-schema.ts';
import { secretReference } from '../../domain/propagation/secret-reference.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { Db } from '../../store/connection/database.ts';
import { findContents, findDefinitionOfHash } from '../../store/propagation/definitions.ts';
import { findFrozen } from '../../store/propagation/frozen.ts';
import type { PlanNodeRow } from '../../store/propagation/plan-tables.ts';

export interface ReadActionDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
}

export interface FrozenAction {
  definition: Definition;
  /** Content of each file of the definition, by its path. */
  files: ReadonlyMap<string, Buffer>;
  /** Inputs with their resolved values; secret ones are references, or null. */
  inputs: Readonly<Record<string, unknown>>;
  /** Values of the secret inputs that refer to something, by input. They are read now, and stand in no record. */
  secrets: ReadonlyMap<string, string>;
}

/**
 * Reads what a node's action works with.
 * Throws `definition_not_found`, `secret_by_reference`, `secret_not_allowed`, `secret_not_found`, and what the secret store refuses.
 */
export async function readAction(
  { db, secrets }: ReadActionDependencies,
  node: Pick<PlanNodeRow, 'id' | 'definition' | 'inputs' | 'base_path'>,
): Promise<FrozenAction> {
  const row = await findDefinitionOfHash(db, node.definition);
  if (row === null) {
    throw musterError('definition_not_found', `The definition ${node.base_path} of node ${node.id} was removed`);
  }
  const contents = await findContents(db, Object.values(row.files));
  const files = new Map(
    Object.entries(row.files).map(([path, hash]) => {
      const content = contents.get(hash);
      if (content === undefined) throw new Error(`the content of ${path} in ${node.base_path} is not stored`);
      return [path, content];
    }),
  );
  const inputs = await readInputs(db, node);
  return { definition: row.definition, files, inputs, secrets: await readSecrets(secrets, row.definition, inputs) };
}

/** Returns the inputs that a plan has frozen for a node; secret ones are references, or null. */
export async function readInputs(
  db: Db,
  node: Pick<PlanNodeRow, 'id' | 'inputs'>,
): Promise<Readonly<Record<string, unknown>>> {
  const inputs = (await findFrozen(db, [node.inputs])).get(node.inputs);
  if (inputs === undefined) throw new Error(`the inputs of node ${node.id} are not stored`);
  return inputs;
}

async function readSecrets(
  store: Pick<SecretStore, 'get'>,
  { inputs: known }: Definition,
  inputs: Readonly<Record<string, unknown>>,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const [input, { secret }] of Object.entries(known)) {
    const value = secret ? await readSecret(store, input, inputs[input] ?? null) : null;
    if (value !== null) values.set(input, value);
  }
  return values;
}

/**
 * Returns the value that a secret input refers to, or null where it refers to nothing.
 * Throws `secret_by_reference`, `secret_not_allowed`, `secret_not_found`.
 */
export async function readSecret(
  store: Pick<SecretStore, 'get'>,
  input: string,
  value: unknown,
): Promise<string | null> {
  const reference = secretReference(value, input);
  if (reference === null) return null;
  const found = (await store.get(reference.secret))?.[reference.key];
  if (found !== undefined) return found;
  throw musterError(
    'secret_not_found',
    `There is no key ${reference.key} of secret ${reference.secret}, which input ${input} refers to`,
    `inputs.${input}`,
  );
}
