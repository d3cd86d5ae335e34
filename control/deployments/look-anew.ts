/** Where a cluster has an object by what it serves now: what other work has learned of a kind may be some minutes old. */
import type { AnswerClass } from '../../domain/deployments/answer-class.ts';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import { objectPath } from '../../domain/deployments/object-path.ts';
import type { MemberCluster } from '../../domain/deployments/ports.ts';
import { askMember } from './ask-member.ts';

/**
 * Returns the path of an object, and what the answer means; `path` is null where the kind is not served, or cannot be asked for. The cluster is asked
 * once for all kinds of a version in a piece of work.
 */
export async function lookAnew(
  member: MemberCluster,
  resource: Identity,
  namespace: string,
): Promise<{ said: Exclude<AnswerClass, { is: 'ask-version' }>; path: string | null }> {
  const { said, found } = await askMember(member, resource, 'read', () => member.findKind(resource, { isAnew: true }));
  if (said.is === 'accepted' && found !== null) return { said, path: objectPath(resource, found, namespace) };
  return { said: said.is === 'accepted' ? { is: 'absent' } : said, path: null };
}
