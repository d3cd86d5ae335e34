import type { ClusterClient } from '../kubernetes/cluster-client.ts';
import { ABSENT, CONFLICT } from '../kubernetes/statuses.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { ANNOTATIONS, type Metadata } from './objects.ts';
import { readPods } from './read-jobs.ts';
import { decoded, encoded } from './secret-values.ts';

const MERGE = 'application/merge-patch+json';

interface SecretObject {
  metadata: Metadata;
  data?: Record<string, string>;
}

/**
 * Replaces those keys of a Job's Secret that `change` answers for its values, and has the node of its pod take notice: by itself it
 * looks at the files of a Secret once in a minute or so, but at once when the pod changes. Answers the values after that; null when
 * the Secret is gone, as it goes with its Job.
 */
export async function updateSecret(
  client: ClusterClient,
  paths: ClusterPaths,
  name: string,
  change: (now: Record<string, string>) => Record<string, string>,
): Promise<Record<string, string> | null> {
  const path = paths.secret(name);
  for (;;) {
    const there = await client.ask<SecretObject>({ method: 'GET', path, expected: [ABSENT], secret: true });
    if (there.status === ABSENT) return null;
    const now = decoded(there.body.data ?? {});
    const changes = change(now);
    if (Object.keys(changes).length === 0) return now;
    const changed = await client.ask<SecretObject>({
      method: 'PATCH',
      path,
      // The version: what somebody else has changed meanwhile may matter to `change`.
      body: { metadata: { resourceVersion: there.body.metadata.resourceVersion }, data: encoded(changes) },
      contentType: MERGE,
      expected: [ABSENT, CONFLICT],
      secret: true,
    });
    if (changed.status === ABSENT) return null;
    if (changed.status === CONFLICT) continue;
    await markPods(client, paths, name, changed.body.metadata.resourceVersion);
    return { ...now, ...changes };
  }
}

async function markPods(
  client: ClusterClient,
  paths: ClusterPaths,
  name: string,
  version: Metadata['resourceVersion'],
): Promise<void> {
  const annotations = { [ANNOTATIONS.secret]: version };
  for (const { metadata } of await readPods(client, paths, name)) {
    await client.ask({
      method: 'PATCH',
      path: paths.pod(metadata.name),
      body: { metadata: { annotations } },
      contentType: MERGE,
      expected: [ABSENT],
    });
  }
}
