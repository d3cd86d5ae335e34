/** How a job of Muster's own image service says that it waits for its turn. */

/** Begins the message of such a job, after which it says for whom it waits. */
export const WAITS_FOR_TURN = 'waits for its turn';

/** Whether a job only waits for its turn: nothing is wrong, however long it takes (cfs-flows 8, rule 2). */
export function waitsForTurn({ message }: { message: string }): boolean {
  return message.startsWith(WAITS_FOR_TURN);
}
