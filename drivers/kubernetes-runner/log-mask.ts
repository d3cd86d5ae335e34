import { createMask } from '../../domain/runs/mask.ts';
import type { ClusterClient } from './cluster-client.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { decoded } from './secret-values.ts';

const ABSENT = 404;

/**
 * Hides in a text what the session's Secret names as never to be shown; a runner that hands in nothing by itself masks nothing either.
 * Throws when the Secret is gone, since then nobody knows what to hide.
 */
export async function logMask(
  client: ClusterClient,
  paths: ClusterPaths,
  name: string,
): Promise<(text: string) => string> {
  const { status, body } = await client.ask<{ data?: Record<string, string> }>({
    method: 'GET',
    path: paths.secret(name),
    expected: [ABSENT],
    secret: true,
  });
  if (status === ABSENT) throw new Error('its Secret, with what is to be masked, is gone');
  const { 'masks.json': masks = '[]' } = decoded(body.data ?? {});
  return createMask(JSON.parse(masks) as string[]);
}
