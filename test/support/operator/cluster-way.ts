/** A way to the API server of an operator's bench that can be cut, held up and mended. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import type { OperatorBench } from './operator-process.ts';

export interface ClusterWay extends TcpProxy {
  /** Path of a kubeconfig that leads this way. */
  kubeconfig: string;
}

interface Kubeconfig {
  clusters: { cluster: { server: string } }[];
  users: { user: object }[];
}

/** Opens a way; close it with `cut()`. `name`: of its kubeconfig in the home; `token`: of an account, default: the administrator's certificate. */
export async function openClusterWay(bench: OperatorBench, name = 'kubeconfig', token?: string): Promise<ClusterWay> {
  const config = JSON.parse(readFileSync(bench.api.kubeconfig, 'utf8')) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]];
  if (cluster === undefined || user === undefined) throw new Error('the kubeconfig names no cluster and no user');
  const way = await openProxy(new URL(cluster.server).host);
  cluster.server = `https://${way.address}`;
  if (token !== undefined) user.user = { token };
  const kubeconfig = join(bench.home, name);
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { ...way, kubeconfig };
}
