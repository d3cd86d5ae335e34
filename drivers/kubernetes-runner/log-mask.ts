import { createMask } from '../../domain/runs/mask.ts';
import type { LogReading } from '../../domain/sessions/cluster/cluster-job.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT } from '../kubernetes/statuses.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { decoded } from './secret-values.ts';

/**
 * Hides in a text what is known to be secret and what the session's Secret names; a runner that hands in nothing by itself masks
 * nothing either. Throws when the Secret is gone, which a deleted Job takes with it, and what is known is not all.
 */
export async function logMask(
  client: ClusterClient,
  paths: ClusterPaths,
  name: string,
  { secrets, areAll }: Pick<LogReading, 'secrets' | 'areAll'>,
): Promise<(text: string) => string> {
  const { status, body } = await client.ask<{ data?: Record<string, string> }>({
    method: 'GET',
    path: paths.secret(name),
    expected: [ABSENT],
    secret: true,
  });
  if (status === ABSENT && !areAll) throw new Error('its Secret, with what is to be masked, is gone');
  const { 'masks.json': masks = '[]' } = status === ABSENT ? {} : decoded(body.data ?? {});
  return createMask([...secrets, ...(JSON.parse(masks) as string[])]);
}
