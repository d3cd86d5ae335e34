import { type MusterError, musterError } from '../../domain/errors.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import {
  type ConnectionRow,
  deleteConnections,
  findConnection,
  findConnectionsOfPair,
} from '../../store/propagation/connections.ts';
import { deleteEventsOfConnections, handEventsOver, keepEvents } from '../../store/propagation/resource-events.ts';
import type { ModelDependencies, ModelWrite } from './dependencies.ts';
import { stageEdited } from './stage-edit.ts';
import { writeJoined } from './write-model.ts';

/**
 * Removes one connection and stages its receiver, whose own value counts again. Events that connections of the pair made go with the last
 * one, unless they are to be kept.
 * Throws `connection_not_found`.
 */
export async function disconnect(deps: ModelDependencies, id: string, keep: boolean): Promise<void> {
  if (!isUuid(id)) throw connectionNotFound(id);
  await writeJoined(deps, async (write) => {
    const row = await findConnection(write.trx, id);
    if (row === null) throw connectionNotFound(id);
    await removeConnections(write, [row], keep);
  });
}

/**
 * Removes the connections from one resource to another, or those of the named inputs of the emitter: `input`, or `input|key` for one
 * member of an object. Returns the removed ones.
 * Throws `connection_not_found` where there is none.
 */
export async function disconnectPair(
  deps: ModelDependencies,
  { emitter, receiver, inputs }: { emitter: string; receiver: string; inputs?: readonly string[] | undefined },
  keep: boolean,
): Promise<ConnectionRow[]> {
  return writeJoined(deps, async (write) => {
    const rows = await findConnectionsOfPair(write.trx, emitter, receiver);
    const chosen = rows.filter((row) => inputs === undefined || inputs.some((input) => isNamed(row, input)));
    if (chosen.length === 0) throw connectionNotFound(`${emitter} -> ${receiver}`);
    await removeConnections(write, chosen, keep);
    return chosen;
  });
}

/** `input`, or `input|tag|key`, where the tag is the one of all members of objects. */
function isNamed({ emitter_input, receiver_key }: ConnectionRow, text: string): boolean {
  const [input, ...rest] = text.split('|');
  return emitter_input === input && (rest.length === 0 || rest.at(-1) === receiver_key);
}

/** Removes connections with what they made, and stages their receivers. */
export async function removeConnections(
  write: ModelWrite,
  rows: readonly ConnectionRow[],
  keep: boolean,
): Promise<void> {
  await deleteConnections(
    write.trx,
    rows.map(({ id }) => id),
  );
  await forgetConnections(write, rows, keep);
  await stageEdited(
    write,
    rows.map(({ receiver }) => receiver),
  );
}

/** What becomes of the events of connections that were removed. */
export async function forgetConnections(
  { trx }: ModelWrite,
  rows: readonly ConnectionRow[],
  keep: boolean,
): Promise<void> {
  const pairs = new Map(rows.map(({ emitter, receiver }) => [`${emitter} ${receiver}`, { emitter, receiver }]));
  for (const { emitter, receiver } of pairs.values()) {
    const ids = rows.filter((row) => row.emitter === emitter && row.receiver === receiver).map(({ id }) => id);
    const [left] = await findConnectionsOfPair(trx, emitter, receiver);
    if (keep) await keepEvents(trx, ids);
    else if (left !== undefined) await handEventsOver(trx, ids, left.id);
    else await deleteEventsOfConnections(trx, ids);
  }
}

function connectionNotFound(name: string): MusterError {
  return musterError('connection_not_found', `There is no connection ${name.slice(0, 600)}`);
}
