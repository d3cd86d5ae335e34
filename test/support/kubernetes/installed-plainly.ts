import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from '../source-tree.ts';
import { SMALL } from './cluster-stack.ts';
import { imageName, type TestNamespace } from './dev-cluster.ts';
import { type Manifest, renderKustomize } from './helm.ts';
import { type InstalledMuster, makeSiteSecrets, openInstalled } from './installed-muster.ts';
import type { ServersForPods } from './servers-for-pods.ts';

const PATIENCE = '300s';
/** Folders of an overlay: Muster, and the Jobs before it comes and before it goes. */
const PARTS = ['.', 'migrate', 'uninstall'];

/** Muster as the plain manifests install it. */
export interface PlainMuster extends InstalledMuster {
  uninstall(): Promise<void>;
}

interface PlainOptions {
  namespace: TestNamespace;
  servers: ServersForPods;
  /** Folder for the copy of the manifests. */
  dir: string;
  /** Further settings, by name. */
  settings: Record<string, string>;
  /** Further ports that pods may reach outside, where they are not the usual ones. */
  ports: readonly number[];
  /** Is given the network policies of the site before anything of it is there. */
  impose?: (policies: Manifest[]) => Promise<void>;
}

/**
 * Installs this checkout by Kustomize, as the documents say: a copy of the example with the images and settings of the site
 * (docs/kubernetes.md). Everything is ready when this returns.
 */
export async function installPlainly(options: PlainOptions): Promise<PlainMuster> {
  const { namespace, servers, dir, settings, ports, impose } = options;
  const folder = join(dir, 'kustomize');
  const overlay = join(folder, 'overlays', 'example');
  await cp(join(ROOT, 'deploy', 'kustomize'), folder, { recursive: true });
  const variables = {
    MUSTER_TEMPORAL_ADDRESS: servers.temporalAddress,
    MUSTER_TEMPORAL_NAMESPACE: 'muster-site',
    MUSTER_RUNNER_REQUESTS: JSON.stringify(SMALL.requests),
    MUSTER_RUNNER_LIMITS: JSON.stringify(SMALL.limits),
    ...settings,
  };
  const site = join(overlay, 'site');
  await setVariables(join(site, 'settings.yaml'), variables);
  await setVariables(join(site, 'images-of-jobs.yaml'), {
    MUSTER_RUNNER_AEE_IMAGE: imageName('aee'),
    MUSTER_RUNNER_UTIL_IMAGE: imageName('util'),
  });
  const image = imageName('muster');
  const colon = image.lastIndexOf(':');
  await change(join(site, 'kustomization.yaml'), (file) => {
    file.images = [{ name: 'muster', newName: image.slice(0, colon), newTag: image.slice(colon + 1) }];
    const value = { ports: ports.map((port) => ({ protocol: 'TCP', port })) };
    const patch = stringify([{ op: 'add', path: '/spec/egress/-', value }]);
    file.patches.push({ target: { kind: 'NetworkPolicy' }, patch });
  });
  for (const part of PARTS) {
    await change(join(overlay, part, 'kustomization.yaml'), (file) => {
      file.namespace = namespace.name;
    });
  }

  const objects = (await Promise.all(PARTS.map((part) => renderKustomize(join(overlay, part))))).flat();
  await impose?.(objects.filter(({ kind }) => kind === 'NetworkPolicy'));

  const token = await makeSiteSecrets(namespace, servers);
  const completes = async (part: 'migrate' | 'uninstall') => {
    await namespace.kubectl(['apply', '-k', join(overlay, part)]);
    const job = `job/muster-${part}`;
    await namespace.kubectl(['wait', '--for=condition=complete', job, `--timeout=${PATIENCE}`]);
  };
  await completes('migrate');
  await namespace.kubectl(['apply', '-k', overlay]);
  const parts = ['deployment/muster-api', 'deployment/muster-worker'];
  for (const part of parts) await namespace.kubectl(['rollout', 'status', part, `--timeout=${PATIENCE}`]);
  return {
    ...(await openInstalled(namespace, token)),
    uninstall: async () => {
      await completes('uninstall');
      for (const part of PARTS) {
        await namespace.kubectl(['delete', '-k', join(overlay, part), `--timeout=${PATIENCE}`]);
      }
    },
  };
}

/** Sets the variables of the container that a patch is for, beside or in place of those that stand there. */
async function setVariables(path: string, variables: Record<string, string>): Promise<void> {
  await change(path, (file) => {
    const [container] = file.spec.template.spec.containers;
    const kept = container.env.filter(({ name }: { name: string }) => !Object.hasOwn(variables, name));
    container.env = [...kept, ...Object.entries(variables).map(([name, value]) => ({ name, value }))];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: manifests have every shape
async function change(path: string, edit: (file: any) => void): Promise<void> {
  const file = parse(await readFile(path, 'utf8'));
  edit(file);
  await writeFile(path, stringify(file));
}
