import type { ClusterClient } from './cluster-client.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import { ANNOTATIONS, type Metadata } from './objects.ts';
import { readPods } from './read-jobs.ts';
import { encoded } from './secret-values.ts';
import { ABSENT } from './statuses.ts';

const MERGE = 'application/merge-patch+json';

interface SecretObject {
  metadata: Metadata;
  data?: Record<string, string>;
}

/**
 * Replaces keys of a Job's Secret where they differ, and has the node of its pod take notice: by itself it looks at the files of a
 * Secret once in a minute or so, but at once when the pod changes. Answers false when the Secret is gone, as it goes with its Job.
 */
export async function updateSecret(
  client: ClusterClient,
  paths: ClusterPaths,
  name: string,
  values: Record<string, string>,
): Promise<boolean> {
  const path = paths.secret(name);
  const data = encoded(values);
  const there = await client.ask<SecretObject>({ method: 'GET', path, expected: [ABSENT], secret: true });
  if (there.status === ABSENT) return false;
  if (Object.entries(data).every(([key, value]) => there.body.data?.[key] === value)) return true;
  const changed = await client.ask<SecretObject>({
    method: 'PATCH',
    path,
    body: { data },
    contentType: MERGE,
    expected: [ABSENT],
    secret: true,
  });
  if (changed.status === ABSENT) return false;
  const annotations = { [ANNOTATIONS.secret]: changed.body.metadata.resourceVersion };
  for (const { metadata } of await readPods(client, paths, name)) {
    await client.ask({
      method: 'PATCH',
      path: paths.pod(metadata.name),
      body: { metadata: { annotations } },
      contentType: MERGE,
      expected: [ABSENT],
    });
  }
  return true;
}
