/** From the request to the moment at which the first container of the session's pod runs. */
import type { ClusterStack } from '../../test/support/kubernetes/cluster-stack.ts';
import { watchContainerStarts } from '../container-starts.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const SESSIONS = 20;
const WITHIN_MS = 120_000;

export async function measureJobStart(cluster: ClusterStack, configuration: string): Promise<Measurement> {
  const { stack, namespace } = cluster;
  const starts = watchContainerStarts(namespace);
  const first: number[] = [];
  const ansible: number[] = [];
  try {
    for (let index = 0; index < SESSIONS; index += 1) {
      const asked = Date.now();
      const name = await stack.create(`js-${index}-${asked % 1e6}`, configuration);
      const session = await stack.untilComplete(name, WITHIN_MS);
      if (session.status.session.succeeded !== 'true') throw new Error(session.status.session.message);
      const began = await starts.of(session.status.session.job);
      first.push((Math.min(...Object.values(began)) - asked) / 1000);
      ansible.push(((began.ansible ?? Number.NaN) - asked) / 1000);
    }
  } finally {
    starts.close();
  }
  const [p50, p95] = [quantile(first, 0.5), quantile(first, 0.95)];
  return {
    what: `POST session to the first container of its Job (${starts.source})`,
    bar: 'p50 <= 5 s',
    measured: `p50 ${round(p50)} s, p95 ${round(p95)} s; container ansible p50 ${round(quantile(ansible, 0.5))} s`,
    met: p50 <= 5,
    samples: {
      first_seconds: first.map((sample) => round(sample, 3)),
      ansible_seconds: ansible.map((sample) => round(sample, 3)),
    },
  };
}
