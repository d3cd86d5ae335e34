import { musterError } from '../../domain/errors.ts';
import { isDeepEqual } from '../../domain/propagation/freeze.ts';
import { editedInputs } from '../../domain/propagation/own-inputs.ts';
import { findConnectionsInto } from '../../store/propagation/connections.ts';
import { updateResource } from '../../store/propagation/resources.ts';
import type { ModelDependencies } from './dependencies.ts';
import { editable, stageEdited } from './stage-edit.ts';
import { writeOne } from './write-model.ts';

/**
 * Sets own values of inputs and stages the resource. Members of an object that are connected stay connected.
 * Throws `resource_not_found`, `input_unknown`, `input_connected`, `secret_by_reference`, `secret_not_allowed`, `value_too_large`,
 * `validation_failed`.
 */
export async function updateInputs(
  deps: ModelDependencies,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<void> {
  await writeOne(deps, async (write) => {
    const row = await editable(write, name);
    const inputs = editedInputs(row.meta_inputs, row.inputs, given);
    // A value that an object has beside its connected members is its own.
    const connected = (await findConnectionsInto(write.trx, [name])).filter(({ receiver_key }) => receiver_key === '');
    for (const { receiver_input, emitter, emitter_input } of connected) {
      if (!Object.hasOwn(given, receiver_input)) continue;
      throw musterError(
        'input_connected',
        `Input ${receiver_input} of ${name} has its value from ${emitter}::${emitter_input}`,
        `inputs.${receiver_input}`,
      );
    }
    if (isDeepEqual(inputs, row.inputs)) return;
    await updateResource(write.trx, name, { inputs }, write.now, write.actor);
    await stageEdited(write, [name]);
  });
}
