/** Member clusters for tests and examples: API servers with controllers and a scheduler, and no node; all keep their objects in one etcd. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ended, makeCertificates, SINGLE_API_SERVER, startProgram, startServer, startStore } from './kubernetes-api.ts';

export interface Members {
  /** Paths of the kubeconfigs by the names of the members: `member-1`, `member-2` ... */
  kubeconfigs: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Starts so many members, and writes their kubeconfigs into a folder; ready when this returns. `controlled`: so many of them have controllers and a
 * scheduler; default: all.
 */
export async function startMembers(count: number, folder: string, controlled = count): Promise<Members> {
  const dir = await mkdtemp(join(tmpdir(), SINGLE_API_SERVER));
  await makeCertificates(dir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = await startStore(dir);
  const names = Array.from({ length: count }, (_, index) => `member-${index + 1}`);
  const started = await Promise.all(
    names.map((name) =>
      startServer({ dir, store: store.url, prefix: `/${name}`, kubeconfig: join(folder, `${name}.kubeconfig`) }),
    ),
  );
  // Without a port: nothing asks them.
  const parts = started
    .slice(0, controlled)
    .flatMap(({ kubeconfig }) =>
      ['kube-controller-manager', 'kube-scheduler'].map((program) =>
        startProgram(program, ['--kubeconfig', kubeconfig, '--leader-elect=false', '--secure-port=0']),
      ),
    );
  return {
    kubeconfigs: Object.fromEntries(names.map((name, index) => [name, started[index]?.kubeconfig ?? ''])),
    stop: async () => {
      await Promise.all(parts.map(ended));
      await Promise.all(started.map(({ stop }) => stop()));
      await store.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
