/** One call to a member cluster, and what its answer means. */
import { setTimeout as rest } from 'node:timers/promises';
import { type AnswerClass, type ClusterCall, classOf, hasEnded } from '../../domain/deployments/answer-class.ts';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import type { Asked, MemberCluster } from '../../domain/deployments/ports.ts';

/** Rest before the one repeat of a call that the cluster had a fault of its own in, ms. */
const REPEAT_MS = 1_000;

export interface Told<Found> {
  said: Exclude<AnswerClass, { is: 'ask-version' }>;
  found: Found | null;
  /** Nothing of the call is on its way any more. */
  hasEnded: boolean;
}

/**
 * Makes a call, once more where the cluster had a fault of its own and yet answers.
 * @param resource what the call is about
 * @param mayRepeat asked before the repeat; without it the cluster counts as away
 */
export async function askMember<Found>(
  member: MemberCluster,
  resource: Pick<Identity, 'group' | 'kind'>,
  call: ClusterCall,
  make: () => Promise<Asked<Found>>,
  mayRepeat: () => Promise<boolean> = async () => true,
): Promise<Told<Found>> {
  // Messages may quote what was sent.
  const isSecret = resource.group === '' && resource.kind === 'Secret';
  for (let isRepeat = false; ; isRepeat = true) {
    const { answer, found } = await make();
    const isOver = hasEnded(answer);
    const said = classOf(call, answer, isSecret);
    if (said.is !== 'ask-version') return { said, found, hasEnded: isOver };
    const { reason, message } = said;
    const away = { is: 'unreachable', reason, message, retryAfter: null } as const;
    if (!(await isThere(member))) return { said: away, found, hasEnded: isOver };
    if (isRepeat) return { said: { is: 'refused', reason, message }, found, hasEnded: isOver };
    await rest(REPEAT_MS);
    if (!(await mayRepeat())) return { said: away, found, hasEnded: isOver };
  }
}

async function isThere(member: MemberCluster): Promise<boolean> {
  return classOf('read', (await member.readVersion()).answer, false).is === 'accepted';
}
