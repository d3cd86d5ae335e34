/** Many sessions at once with a runner that does nothing: what the engine itself needs. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';

const SESSIONS = 100;
const CLIENTS = 8;
/** Looking is work too, so it is done seldom. */
const LOOK_MS = 250;

/** The stack must run with `true` in place of ansible-playbook. */
export async function measureQueue(stack: MusterStack, configuration: string): Promise<Measurement> {
  const names = Array.from({ length: SESSIONS }, (_, index) => `q-${index}`);
  const started = performance.now();
  const left = [...names];
  const client = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await stack.create(name, configuration);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const posted = (performance.now() - started) / 1000;
  while ((await openSessions(stack)) > 0) await delay(LOOK_MS);
  const seconds = (performance.now() - started) / 1000;
  const [row] = await stack.sql<{ good: string }>(
    `select count(*) as good from sessions where name like 'q-%' and succeeded = 'true'`,
  );
  return {
    what: `${SESSIONS} sessions queued at once, no-op runner`,
    bar: 'all complete in 30 s, none lost',
    measured: `${row?.good} complete in ${round(seconds, 1)} s (posted in ${round(posted, 1)} s)`,
    met: seconds <= 30 && Number(row?.good) === SESSIONS,
    samples: { seconds: [round(seconds, 2)] },
  };
}

async function openSessions(stack: MusterStack): Promise<number> {
  const [row] = await stack.sql<{ open: string }>(`select count(*) as open from sessions where status <> 'complete'`);
  return Number(row?.open);
}
