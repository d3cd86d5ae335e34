import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../source-tree.ts';
import { bootstrapCommand } from './cluster-command.ts';

const run = promisify(execFile);
const OUTPUT_MAX = 16 * 2 ** 20;

export const CHART = join(ROOT, 'deploy', 'chart', 'muster');

/** A Kubernetes object as it stands in a manifest. */
// biome-ignore lint/suspicious/noExplicitAny: manifests have every shape
export type Manifest = Record<string, any>;

/** Path of a program of the development cluster: named by its suite, else from the cache, into which it is built. */
async function clusterProgram(name: 'helm' | 'kubectl'): Promise<string> {
  const named = process.env[`MUSTER_TEST_${name.toUpperCase()}`];
  return named ?? join(await bootstrapCommand('cluster-programs', name), name);
}

/** Runs helm; answers what it writes to stdout. */
export async function helm(args: string[]): Promise<string> {
  const { stdout } = await run(await clusterProgram('helm'), args, { maxBuffer: OUTPUT_MAX });
  return stdout;
}

/** The objects that a release of the chart makes, hooks among them; `words` are further arguments such as `--set a=b`. */
export async function renderChart(words: string[], namespace = 'muster', release = 'muster'): Promise<Manifest[]> {
  const args = ['template', release, CHART, '--namespace', namespace, '--kube-version', '1.36.0', ...words];
  return manifestsOf(await helm(args));
}

/** The objects that a folder of Kustomize makes; a path that is not absolute begins at this checkout. */
export async function renderKustomize(folder: string): Promise<Manifest[]> {
  const { stdout } = await run(await clusterProgram('kubectl'), ['kustomize', resolve(ROOT, folder)], {
    maxBuffer: OUTPUT_MAX,
  });
  return manifestsOf(stdout);
}

/** The objects in a text with YAML documents. */
export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document): Manifest[] => {
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}
