/** What clusters that do not answer cost the others of the same deployment. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { kubeconfigOf } from '../../test/deployments/cluster-fixtures.ts';
import { freePort } from '../../test/support/free-port.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { appOf } from '../deployment-objects.ts';
import {
  ask,
  type DeploymentsBench,
  labelCluster,
  makeDeployment,
  PROVIDER,
  registerCluster,
  removeDeployment,
  secondsOf,
} from '../deployments-place.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

const ROUNDS = 3;
/** One cluster of so many is dead. */
const OF = 5;
const APPS = 5;
const PER_APP = 20;
const RATIO = 1.1;
const LOOK_MS = 100;

export async function measureDeploymentsDead({ stack, members }: DeploymentsBench): Promise<Measurement[]> {
  const dead = Math.max(1, Math.round(members.length / OF));
  const alive = members.slice(0, Math.max(1, members.length - dead));
  const silent = await openSilence();
  const refusing = await freePort();
  for (const { name } of alive)
    for (const label of ['alive', 'mixed']) await labelCluster(stack, PROVIDER, name, label);
  for (let index = 0; index < dead; index += 1) {
    // Half refuse connections, the others take them and say nothing.
    const port = index % 2 === 0 ? refusing : silent.port;
    const kubeconfig = kubeconfigOf({ server: `https://127.0.0.1:${port}` });
    await registerCluster(stack, PROVIDER, { name: `dead${index}`, kubeconfig }, ['mixed']);
  }
  const apps = Array.from({ length: APPS }, (_, index) => appOf(`app${index}`, PER_APP));
  const samples: Record<'alive' | 'mixed', number[]> = { alive: [], mixed: [] };
  try {
    for (let turn = 0; turn <= ROUNDS; turn += 1) {
      for (const label of turn % 2 === 0 ? (['alive', 'mixed'] as const) : (['mixed', 'alive'] as const)) {
        const name = `${label}-${turn}`;
        await makeDeployment(stack, name, apps, { provider: PROVIDER, label }, { instantiate: false });
        const seconds = await secondsOf(async () => {
          await ask(stack, name, 'instantiate');
          while ((await leftAlive(stack)) > 0) await delay(LOOK_MS);
        });
        // Their resources were never sent, so nothing is left of them.
        await removeDeployment(stack, name);
        if (turn > 0) samples[label].push(round(seconds, 2));
      }
    }
  } finally {
    await silent.close();
  }
  const ratio = median(samples.mixed.map((seconds, index) => seconds / (samples.alive[index] ?? Number.NaN)));
  return [
    {
      what: `${alive.length} clusters x ${APPS * PER_APP} resources beside ${dead} dead clusters`,
      bar: `<= ${RATIO} x without them`,
      measured: `${round(ratio)} x, ${median(samples.alive)} s without`,
      met: ratio <= RATIO,
      samples,
    },
  ];
}

/** Returns how many resources of living clusters are not applied yet, of the AppContext that goes on. Throws where one of them has failed. */
async function leftAlive(stack: MusterStack): Promise<number> {
  const [row] = await stack.sql<{ left: string; failed: string }>(
    `select count(*) as left, count(*) filter (where r.status = 'Failed') as failed
    from context_resources r join deployment_contexts c on c.id = r.context
    where c.wanted = 'apply' and r.status <> 'Applied' and r.cluster not like 'dead%'`,
  );
  const failed = Number(row?.failed ?? 0);
  if (failed > 0) throw new Error(`${failed} resources of living clusters have failed`);
  return Number(row?.left ?? 0);
}

/** Opens a port that takes connections and says nothing. */
async function openSilence(): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
