/** One call to a member cluster, and what its answer means. */
import { setTimeout as rest } from 'node:timers/promises';
import { type AnswerClass, type ClusterCall, classOf } from '../../domain/deployments/answer-class.ts';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import type { Asked, MemberCluster } from '../../domain/deployments/ports.ts';

/** Rest before the one repeat of a call that the cluster had a fault of its own in, ms. */
const REPEAT_MS = 1_000;

/** Makes a call, once more where the cluster had a fault of its own and yet answers. `resource`: what the call is about. */
export async function askMember<Found>(
  member: MemberCluster,
  resource: Pick<Identity, 'group' | 'kind'>,
  call: ClusterCall,
  make: () => Promise<Asked<Found>>,
): Promise<{ said: Exclude<AnswerClass, { is: 'ask-version' }>; found: Found | null }> {
  // Messages may quote what was sent.
  const isSecret = resource.group === '' && resource.kind === 'Secret';
  for (let isRepeat = false; ; isRepeat = true) {
    const { answer, found } = await make();
    const said = classOf(call, answer, isSecret);
    if (said.is !== 'ask-version') return { said, found };
    const { reason, message } = said;
    if (!(await isThere(member))) return { said: { is: 'unreachable', reason, message, retryAfter: null }, found };
    if (isRepeat) return { said: { is: 'refused', reason, message }, found };
    await rest(REPEAT_MS);
  }
}

async function isThere(member: MemberCluster): Promise<boolean> {
  return classOf('read', (await member.readVersion()).answer, false).is === 'accepted';
}
