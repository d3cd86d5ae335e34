/** Many sessions at once, each a Job. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterStack } from '../../test/support/kubernetes/cluster-stack.ts';
import { type Measurement, round } from '../measurement.ts';

const SESSIONS = 20;
const LIMIT_S = 600;
/** Looking is work too, so it is done seldom. */
const LOOK_MS = 500;

export async function measureJobBurst({ stack }: ClusterStack, configuration: string): Promise<Measurement> {
  const names = Array.from({ length: SESSIONS }, (_, index) => `jm-${index}`);
  const started = performance.now();
  await Promise.all(names.map((name) => stack.create(name, configuration)));
  const posted = (performance.now() - started) / 1000;
  const count = async (condition: string) => {
    const [row] = await stack.sql<{ found: string }>(
      `select count(*) as found from sessions where name like 'jm-%' and ${condition}`,
    );
    return Number(row?.found);
  };
  let seconds = posted;
  while ((await count(`status <> 'complete'`)) > 0 && seconds < LIMIT_S) {
    await delay(LOOK_MS);
    seconds = (performance.now() - started) / 1000;
  }
  const good = await count(`status = 'complete' and succeeded = 'true'`);
  return {
    what: `${SESSIONS} sessions at once, each a Job`,
    bar: 'all complete',
    measured: `${good} complete in ${round(seconds, 1)} s (posted in ${round(posted, 1)} s)`,
    met: good === SESSIONS,
    samples: { seconds: [round(seconds, 2)] },
  };
}
