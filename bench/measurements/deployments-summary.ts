/** The status of a large deployment: counts alone, and everything. Nothing is brought to a cluster for it. */
import { kubeconfigOf } from '../../test/deployments/cluster-fixtures.ts';
import { mapsOf } from '../deployment-objects.ts';
import { makeDeployment, registerCluster, registerProvider, secondsOf, withStack } from '../deployments-place.ts';
import { keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const CLUSTERS = 50;
const APPS = 5;
const PER_APP = 200;
const READS = 50;
const BAR_MS = 300;
const PROVIDER = 'bench-paper';
const NAME = 'large';

export function measureDeploymentsSummary(): Promise<Measurement> {
  return withStack(async (stack) => {
    const { status } = await stack.call('POST', '/api/v1/stop', { reason: 'no phase is to begin' });
    if (status !== 200) throw new Error(`stop: ${status}`);
    await registerProvider(stack, PROVIDER);
    for (let index = 0; index < CLUSTERS; index += 1)
      await registerCluster(stack, PROVIDER, { name: `c${index}`, kubeconfig: kubeconfigOf() }, ['all']);
    const apps = Array.from({ length: APPS }, (_, index) => mapsOf(`app${index}`, PER_APP));
    const making = await secondsOf(() => makeDeployment(stack, NAME, apps, { provider: PROVIDER, label: 'all' }));
    // As a phase would leave them.
    await stack.sql(`update context_resources set attempted = true, status = case number % 10
      when 0 then 'Retrying' when 1 then 'Pending' else 'Applied' end`);
    const client = keepAliveClient(stack.url);
    const read = async (query: string) => {
      const reply = await client.send('GET', `/api/v1/deployments/${NAME}/status?${query}`);
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
      return reply;
    };
    const total = CLUSTERS * APPS * PER_APP;
    const counts: Record<string, number> = JSON.parse((await read('output=summary')).text)['rsync-status'];
    if (Object.values(counts).reduce((sum, count) => sum + count, 0) !== total) throw new Error(JSON.stringify(counts));
    const summary: number[] = [];
    for (let turn = 0; turn < READS; turn += 1) summary.push(round((await read('output=summary')).ms, 1));
    const all = [await read('output=all'), await read('output=all')].map(({ ms }) => round(ms, 0));
    client.close();
    const p95 = quantile(summary, 0.95);
    return {
      what: `summary of ${total} resources`,
      bar: `p95 ${BAR_MS} ms`,
      measured:
        `p50 ${round(quantile(summary, 0.5), 0)} ms, p95 ${round(p95, 0)} ms; ` +
        `everything ${round(Math.max(...all) / 1_000)} s, made in ${round(making)} s`,
      met: p95 <= BAR_MS,
      samples: { summary, all },
    };
  });
}
