import { createHash } from 'node:crypto';
import { readSystem } from '../../../control/service/read-system.ts';
import type { Status } from '../../../domain/service/status-schema.ts';
import { type System, SystemSchema } from '../../../domain/service/system-schema.ts';
import { readOptionsRevision } from '../../../store/configurations/revisions.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { type OpenTopic, topicOfList } from '../../server/streaming/topic-watches.ts';
import { sharedAnswer } from '../../shared/shared-answer.ts';
import type { ServiceApi } from './dependencies.ts';

/** So long all callers get the same answer, ms. */
const SHARED_MS = 2_000;
/** Checks whose words move all the time. */
const RESTLESS = ['database', 'connections', 'events', 'outbox', 'disk'];
/** From one look of the topic to the next at least, ms: each asks Temporal. */
const GAP_MS = 5_000;

/** Returns what reads the system, for all who ask at about the same time. */
export function systemReader(deps: ServiceApi, readStatus: () => Promise<Status>): () => Promise<System> {
  return sharedAnswer(async () => readSystem(deps, await readStatus()), SHARED_MS);
}

/** Whether Muster itself is well. Answers without a database too. */
export async function systemRoutes(app: ApiServer, read: () => Promise<System>): Promise<void> {
  app.get(
    '/system',
    {
      schema: {
        tags: ['service'],
        summary:
          'Whether Muster itself is well: status, processes, queues, disk, database, and checks with what mends them',
        response: { 200: SystemSchema },
      },
      config: { access: 'reader', class: 'free' },
    },
    read,
  );
}

/** Returns the topic of the lane: what was looked at, with the options. Numbers that move all the time are no news. */
export function systemTopics({ db, streams }: ServiceApi, read: () => Promise<System>): Record<string, OpenTopic> {
  const revision = async () => {
    const [{ checks, processes, queues, notices, disk }, options] = await Promise.all([
      read(),
      readOptionsRevision(db),
    ]);
    const shown = [
      checks.map(({ name, ok, detail }) => [name, ok, RESTLESS.includes(name) ? null : detail]),
      processes.map(({ kind, version, host }) => [kind, version, host]),
      queues.map(({ name, depth, pollers }) => [name, depth, pollers]),
      ...[notices, disk?.low, options],
    ];
    return createHash('sha256').update(JSON.stringify(shown)).digest('hex');
  };
  return { system: topicOfList(streams, revision, { gapMs: GAP_MS }) };
}
