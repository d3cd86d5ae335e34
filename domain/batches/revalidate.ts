/** A member of a batch that is about to be sent, as it is now; one that was deleted is not among them. */
export interface MemberFacts {
  id: string;
  enabled: boolean;
  /** Its batch key as it is now, or null when it is not pending. */
  key: string | null;
  /** Whether another session has it. */
  leased: boolean;
}

/**
 * The ids that a batch of `key` still holds right before sending, in their order: enabled, pending with the same key, and in no
 * other session. The others are dropped and collected anew where they belong (cfs-flows 5.2). What stays is configured as the
 * configuration is now: its `desired` is stored anew with the session.
 */
export function revalidate(key: string, members: readonly MemberFacts[]): string[] {
  return members.filter((member) => member.enabled && !member.leased && member.key === key).map(({ id }) => id);
}
