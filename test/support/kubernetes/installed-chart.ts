import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SMALL } from './cluster-stack.ts';
import { imageName, kubeconfigPath, type TestNamespace } from './dev-cluster.ts';
import { CHART, helm } from './helm.ts';
import { type InstalledMuster, makeSiteSecrets, openInstalled } from './installed-muster.ts';
import type { ServersForPods } from './servers-for-pods.ts';

const TIMEOUT = '8m';

/** What is installed: a chart, and the images of the same release by short name. */
export interface Release {
  chart: string;
  images: Record<string, string>;
}

/** Muster as the chart installs it. */
export interface InstalledChart extends InstalledMuster {
  /** Goes to another release; everything is ready when this returns. */
  upgrade(release: Release): Promise<void>;
  /** What it says after it was installed. */
  notes(): Promise<string>;
  /** Goes back to the release before. */
  rollBack(): Promise<void>;
  uninstall(): Promise<void>;
}

export interface InstallOptions {
  namespace: TestNamespace;
  servers: ServersForPods;
  /** Folder for the file with the values. */
  dir: string;
  values?: object;
  /** Default: this checkout's. */
  release?: Release;
  /** Authority of the API's certificate (PEM), where the values give it one. */
  ca?: string | undefined;
}

/** This checkout's chart and images. */
export function ownRelease(): Release {
  const images = ['muster', 'aee', 'util'].map((short) => [short, imageName(short)]);
  return { chart: CHART, images: Object.fromEntries(images) };
}

/** Installs a release; everything is ready when this returns. */
export async function installChart({
  namespace,
  servers,
  dir,
  values = {},
  release = ownRelease(),
  ca,
}: InstallOptions): Promise<InstalledChart> {
  const token = await makeSiteSecrets(namespace, servers);
  const where = ['--namespace', namespace.name, '--kubeconfig', kubeconfigPath(), '--wait', '--timeout', TIMEOUT];
  const bring = async (command: string, wanted: Release) => {
    const file = await writeValues(dir, { ...valuesFor(servers, wanted), ...values });
    await helm([command, 'muster', wanted.chart, '--values', file, ...where]);
  };
  await bring('install', release);
  return {
    ...(await openInstalled(namespace, token, ca)),
    upgrade: (wanted) => bring('upgrade', wanted),
    notes: () => helm(['get', 'notes', 'muster', ...where.slice(0, 4)]),
    rollBack: async () => void (await helm(['rollback', 'muster', ...where])),
    uninstall: async () => void (await helm(['uninstall', 'muster', ...where])),
  };
}

/** A file for `--values`. */
export async function writeValues(dir: string, values: object): Promise<string> {
  const file = join(dir, `values-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(values));
  return file;
}

/** What a site would say, with small pods. */
export function valuesFor({ temporalAddress: address }: Pick<ServersForPods, 'temporalAddress'>, { images }: Release) {
  const resources = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '1Gi' } };
  return {
    database: { existingSecret: 'muster-database' },
    temporal: { address, namespace: 'muster-site' },
    access: { adminToken: { existingSecret: 'muster-admin' } },
    images: {
      ...Object.fromEntries(Object.entries(images).map(([short, name]) => [short, imageParts(name)])),
      pullPolicy: 'Never',
    },
    api: { resources },
    worker: { resources },
    runner: SMALL,
    uninstall: { patience: 30, resources },
    migrate: { resources },
  };
}

function imageParts(name: string): { repository: string; tag: string } {
  const colon = name.lastIndexOf(':');
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1) };
}
