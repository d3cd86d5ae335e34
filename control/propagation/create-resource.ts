import { randomUUID } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import { newInputs } from '../../domain/propagation/own-inputs.ts';
import { resourceName } from '../../domain/propagation/resource-name.ts';
import { storedTag } from '../../domain/propagation/tags.ts';
import { insertResource, type ResourceRow } from '../../store/propagation/resources.ts';
import { insertItems } from '../../store/propagation/staged-items.ts';
import type { ModelDependencies } from './dependencies.ts';
import { holdSpec } from './find-definition.ts';
import { itemOf } from './stage-edit.ts';
import { writeOne } from './write-model.ts';

export interface NewResource {
  name: string;
  /** Spec of its definition. */
  from: string;
  inputs?: Readonly<Record<string, unknown>> | undefined;
  tags?: readonly string[] | undefined;
}

/**
 * Makes a resource of a definition, of which it keeps a copy, and stages its first `run`.
 * Throws `resource_exists`, `validation_failed`, `invalid_spec`, `repository_not_found`, `definition_not_found`, `input_unknown`,
 * `secret_by_reference`, `secret_not_allowed`, `value_too_large`.
 */
export async function createResource(deps: ModelDependencies, wanted: NewResource): Promise<ResourceRow> {
  const name = resourceName(wanted.name);
  const given = storedTags(wanted.tags ?? []);
  return writeOne(deps, async ({ trx, now, actor }) => {
    const found = await holdSpec(trx, wanted.from);
    const { definition } = found;
    const inputs = newInputs(definition.inputs, wanted.inputs ?? {}, () => randomUUID().replaceAll('-', ''));
    const row = await insertResource(trx, {
      name,
      repository: found.repository,
      definition: found.name,
      version: found.version,
      hash: found.hash,
      handler: definition.handler,
      actions: JSON.stringify(definition.actions),
      meta_inputs: JSON.stringify(definition.inputs),
      type_limit: definition.type_limit,
      inputs: JSON.stringify(inputs),
      tags: [...new Set([...given, ...definition.tags, `resource=${found.name}`, `name=${name}`])].sort(),
      state: 'created',
      state_before: null,
      created_at: now,
      updated_at: now,
      actor,
    });
    if (row === null) throw musterError('resource_exists', `A resource with the name ${name} already exists`);
    await insertItems(trx, [itemOf(row, 'run', false)], now, actor);
    return row;
  });
}

/**
 * Returns tags in their stored form.
 * Throws `validation_failed`.
 */
export function storedTags(tags: readonly string[]): string[] {
  return tags.map((tag) => {
    const stored = storedTag(tag);
    if (stored !== null) return stored;
    const shown = JSON.stringify(tag.slice(0, 300));
    throw musterError('validation_failed', `${shown} is no tag: it must have the form name or name=value`, 'tags');
  });
}
