/** Reads through the proxy of an operator, beside the same reads without it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, type AgentOptions, type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClusterAccess } from '../../drivers/kubernetes/cluster-access.ts';
import { openProxied } from '../../test/operator/proxy/proxied.ts';
import { type Measurement, round } from '../measurement.ts';
import { withOperators } from '../operator-place.ts';
import { quantile } from '../statistics.ts';

const READS = 1_000;
/** Reads that count on neither side. */
const WARM = 50;
const BAR_MS = 3;
const MAP = '/api/v1/namespaces/default/configmaps/read';

export function measureOperatorProxy(): Promise<Measurement> {
  return withOperators({}, async ({ api, client }) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'read' }, data: { text: 'x'.repeat(1_000) } };
    await client.ask({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
    const access = openClusterAccess(api.kubeconfig);
    const folder = await mkdtemp(join(tmpdir(), 'muster-bench-proxy-'));
    const proxied = await openProxied(access, { folder });
    const agents: Agent[] = [];
    const kept = (options: AgentOptions): Agent => {
      const agent = new Agent({ ...options, keepAlive: true, maxSockets: 1 });
      agents.push(agent);
      return agent;
    };
    try {
      const { server, options } = await access.read();
      const { ca, cert, key } = options;
      const own: AgentOptions = {};
      if (ca !== undefined) own.ca = ca;
      if (cert !== undefined) own.cert = cert;
      if (key !== undefined) own.key = key;
      const direct = { ...options, host: server.hostname, port: server.port, path: MAP, agent: kept(own) };
      const guest = proxied.admit();
      const through = { ...proxied.options(guest, 'GET', MAP), agent: kept({ ca: proxied.proxy.ca }) };
      const samples: { direct: number[]; proxy: number[] } = { direct: [], proxy: [] };
      for (let read = 0; read < WARM + READS; read += 1) {
        const [plain, proxy] = [await milliseconds(direct), await milliseconds(through)];
        if (read < WARM) continue;
        samples.direct.push(round(plain, 3));
        samples.proxy.push(round(proxy, 3));
      }
      const [plain, proxy] = [quantile(samples.direct, 0.5), quantile(samples.proxy, 0.5)];
      return {
        what: 'GET of an object through the proxy',
        bar: `direct + ${BAR_MS} ms, p50`,
        measured: `direct ${round(plain)} ms + ${round(proxy - plain)} ms`,
        met: proxy <= plain + BAR_MS,
        samples,
      };
    } finally {
      for (const agent of agents) agent.destroy();
      await proxied.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function milliseconds(options: RequestOptions): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const began = performance.now();
  const asked = request(options, (answer) => {
    if (answer.statusCode !== 200) reject(new Error(`the answer is ${answer.statusCode}`));
    answer.resume().once('end', resolve).once('error', reject);
  });
  asked.once('error', reject).end();
  await promise;
  return performance.now() - began;
}
