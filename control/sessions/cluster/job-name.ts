import { createHash } from 'node:crypto';

/**
 * Name of a session's job: `cfs-<uuid4>` (cfs-flows 1.3), always the same for one admission of a session, and as random as its id. What clients
 * write into `status.session.job` names nothing on the cluster: they could name what is another's. A session that is admitted once more,
 * after its database was restored, has another one: the Job of before tells nothing of it.
 */
export function jobNameOf(sessionId: string, admittedAt: Date | null): string {
  const digest = createHash('sha256')
    .update(`job of ${sessionId} ${admittedAt?.getTime() ?? ''}`)
    .digest('hex');
  const [, a, b, c, variant, d, e] = /^(.{8})(.{4})(.{3})(.)(.{3})(.{12})/.exec(digest) ?? [];
  // Version 4, and one of the variant's four digits.
  return `cfs-${a}-${b}-4${c}-${'89ab'[Number.parseInt(variant ?? '', 16) % 4]}${d}-${e}`;
}
