/** What becomes of the item of an action that has ended for good. */
import { type Aggregate, isSuccess } from './verdict.ts';

/** `commit`: the machine has it now; `fail`: it stays staged, so that a retry can commit it. */
export type Settlement = 'commit' | 'fail';

/** Returns what is to be done for an item; null where its action did not run. */
export function settlementOf(aggregate: Aggregate): Settlement | null {
  if (isSuccess(aggregate)) return 'commit';
  return aggregate === 'failed' || aggregate === 'error' ? 'fail' : null;
}
