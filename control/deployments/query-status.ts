/** The answer to a status query, as far as it is built: the counts of what was applied. */
import { addCounts, shownCounts } from '../../domain/deployments/counting.ts';
import type { Members } from '../../domain/deployments/members.ts';
import { notSupported } from '../../domain/deployments/not-supported.ts';
import { groupNames, nameInPath, type RecordKind } from '../../domain/deployments/record-path.ts';
import type { GroupRecord } from '../../domain/deployments/record-schema.ts';
import { RSYNC_STATUSES } from '../../domain/deployments/resource-status.ts';
import { readStatusQuery } from '../../domain/deployments/status-query.ts';
import { headOf } from '../../domain/deployments/status-view.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { countStatuses } from '../../store/deployments/contexts.ts';
import { findRecord, type RecordRow } from '../../store/deployments/records.ts';
import { recordNotFound } from './records.ts';
import { standingOf } from './situation.ts';

/** Parameters that narrow or widen the answer and are not built. */
const LATER = ['app', 'cluster', 'resource', 'format'];

/**
 * Returns the status of a deployment intent group or a logical cloud.
 * Throws `bad_request` for a mistake in the query, `not_supported` for what is not built of it, `not_found`.
 */
export async function statusOf(
  { db }: { db: Db },
  kind: Extract<RecordKind, 'group' | 'cloud'>,
  path: string,
  given: Readonly<Record<string, string | undefined>>,
): Promise<Members> {
  const query = readStatusQuery(
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === undefined ? undefined : [value]])),
  );
  const record = await findRecord(db, { kind, path });
  if (record === null) throw recordNotFound(kind, path);
  const later = LATER.find((name) => given[name] !== undefined);
  if (later !== undefined) throw notSupported(`the query parameter ${later}`);
  if (query.type !== 'rsync') throw notSupported(`type=${query.type}`);
  if (query.output !== 'summary') throw notSupported(`output=${query.output} (output=summary is)`);
  const { actions, state, instance, contexts } = await standingOf(db, path);
  const asked = query.instance ?? instance;
  const status = asked === null ? null : (contexts.get(asked) ?? null);
  if (asked !== null && status === null) {
    throw musterError('not_found', `'${nameInPath(path)}' has no instance '${asked}'`);
  }
  const head = headOf({ names: namesOf(kind, record), state, actions, status });
  if (asked === null) return head;
  const counts = shownCounts(addCounts(RSYNC_STATUSES, [await countStatuses(db, asked)]));
  return counts === undefined ? head : { ...head, 'rsync-status': counts };
}

function namesOf(kind: 'group' | 'cloud', record: RecordRow): Record<string, string> {
  if (kind === 'cloud') return { name: nameInPath(record.path) };
  const { project, app, version, name } = groupNames(record.path);
  return {
    project,
    'composite-app-name': app,
    'composite-app-version': version,
    'composite-profile-name': (record as unknown as GroupRecord).spec.profile,
    name,
  };
}
