import { clearDrifted } from '../../store/components/drift.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * Makes what a check found drifted count as not configured, in the caller's transaction, so that it is configured again. A
 * component that desires something else by now is left alone, and so is a layer that is behind anyway. Answers the ids of
 * the components, sorted.
 */
export async function reconfigureDrifted(trx: Db, session: { id: string; name: string }, now: Date): Promise<string[]> {
  const { default_playbook: defaultPlaybook } = await readOptions(trx);
  return clearDrifted(trx, session.id, { defaultPlaybook, actor: `session/${session.name}`, now });
}
