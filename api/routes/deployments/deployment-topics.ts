import { KEY_MAX } from '../../../domain/schema.ts';
import { readDeploymentRevision, readDeploymentsRevision } from '../../../store/deployments/revisions.ts';
import { type OpenTopic, topicOfList } from '../../server/streaming/topic-watches.ts';
import type { DeploymentApi } from './dependencies.ts';

/** From one look at a deployment to the next at least, ms: a large one has thousands of objects. */
const GAP_MS = 500;

type TopicDependencies = Pick<DeploymentApi, 'db' | 'clock' | 'staleAfterMs' | 'streams'>;

/** Topics of the lane: projects and clusters, and one deployment by its path below `/v2`. Names of this lane need no encoding. */
export function deploymentTopics({ db, clock, staleAfterMs, streams }: TopicDependencies) {
  return {
    deployments: topicOfList(streams, () => readDeploymentsRevision(db, clock(), staleAfterMs)),
    deployment: (key) =>
      key === null || key === '' || key.length > KEY_MAX
        ? null
        : {
            // Which AppContext will tell of it is not known beforehand.
            join: () => streams.joinAny(),
            read: () => readDeploymentRevision(db, key, clock(), staleAfterMs),
            gapMs: GAP_MS,
          },
  } satisfies Record<string, OpenTopic>;
}
