import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from '../source-tree.ts';
import { type Manifest, renderChart } from './helm.ts';
import { mergePatch } from './merge-patch.ts';

const FOLDER = join(ROOT, 'deploy', 'kustomize');
const HEAD = '# Made from the chart by "npm run manifests": change that, or an overlay.\n';

/** Which file an object stands in, by its kind. */
const FILES: Record<string, string> = {
  Job: 'job',
  ServiceAccount: 'accounts',
  Role: 'rights',
  RoleBinding: 'rights',
  Service: 'services',
  PodDisruptionBudget: 'disruption',
  NetworkPolicy: 'network',
};
/** Parts whose Job is applied on its own, with what it needs: before the rest is there, and before it goes. */
const ON_THEIR_OWN = ['migrate', 'uninstall'];

/** The plain manifests as the chart makes them: text by path below `deploy/kustomize`. */
export async function plainManifests(): Promise<Map<string, string>> {
  const values = ['--values', join(FOLDER, 'values.yaml')];
  const objects = (await renderChart(values)).map(withoutHelm);
  const files = new Map<string, Manifest[]>();
  const add = (path: string, object: Manifest) => files.set(path, [...(files.get(path) ?? []), object]);
  for (const object of objects) add(pathOf(object), object);
  // A component for whoever wants the image service: what comes with it, and what else it changes.
  for (const object of (await renderChart([...values, '--set', 'imageService.enabled=true'])).map(withoutHelm)) {
    const { apiVersion, kind, metadata } = object;
    const base = objects.find((one) => one.kind === kind && one.metadata.name === metadata.name);
    const patch = mergePatch(base, object);
    if (kind === 'PersistentVolumeClaim') add('claims/claims.yaml', object);
    else if (base === undefined) add('images/images.yaml', object);
    else if (patch !== undefined)
      add('images/changes.yaml', { apiVersion, kind, metadata: nameOf(metadata), ...patch });
  }
  return new Map(
    [...files].map(([path, manifests]) => [path, HEAD + manifests.map((one) => stringify(one)).join('---\n')]),
  );
}

/** Text of a manifest that is there. */
export function readManifest(path: string): Promise<string> {
  return readFile(join(FOLDER, path), 'utf8');
}

export async function writeManifests(): Promise<void> {
  for (const [path, text] of await plainManifests()) await writeFile(join(FOLDER, path), text);
}

function pathOf({ kind, metadata }: Manifest): string {
  const part = metadata.labels['app.kubernetes.io/component'];
  return `${ON_THEIR_OWN.includes(part) ? part : 'base'}/${FILES[kind] ?? part}.yaml`;
}

/** The component stands in whatever namespace the rest is brought to. */
function nameOf({ name, namespace }: Manifest): Manifest {
  return { name, namespace };
}

/** What only a release of helm's has. */
function withoutHelm(object: Manifest): Manifest {
  return JSON.parse(JSON.stringify(object), (key, value) => {
    if (key === 'labels') {
      const { 'helm.sh/chart': _chart, 'app.kubernetes.io/managed-by': _manager, ...rest } = value;
      return rest;
    }
    if (key === 'annotations' && Object.keys(value).every((name) => name.startsWith('helm.sh/'))) return undefined;
    return value;
  });
}
