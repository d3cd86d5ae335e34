import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPlaybookGate, type PlaybookGate } from '../ansible/playbook-gate.ts';
import { type GitHttpServer, makeCertificates, startGitHttpServer } from '../git/git-http-server.ts';
import { createRepository } from '../git/git-repository.ts';
import { SMALL } from './cluster-stack.ts';
import { hostAddress, makeNamespace, type TestNamespace } from './dev-cluster.ts';
import { type Manifest, renderChart } from './helm.ts';
import { type ImposedPolicies, imposePolicies } from './imposed-policies.ts';
import {
  type InstalledChart,
  installChart,
  ownRelease,
  type Release,
  valuesFor,
  writeValues,
} from './installed-chart.ts';
import type { InstalledMuster } from './installed-muster.ts';
import { installPlainly, type PlainMuster } from './installed-plainly.ts';
import { type ServersForPods, startServersForPods } from './servers-for-pods.ts';

const SETTINGS = { MUSTER_ALLOW_LOCAL_CONNECTION: '1', MUSTER_MIN_FREE: '1MiB' };
const TAGS = { ansible_connection: 'local', ansible_python_interpreter: '/usr/bin/python3' };
const SESSIONS = 'app.kubernetes.io/name=cray-cfs-aee';

/** A site that Muster is installed at: a namespace, servers beside it, and configurations to run. */
export interface ChartSite {
  namespace: TestNamespace;
  /** Where Jobs run and Muster keeps its Secrets: `namespace`, unless they have one of their own. */
  jobs: TestNamespace;
  servers: ServersForPods;
  git: GitHttpServer;
  /** Where sessions of the configuration `gate` wait. */
  gate: PlaybookGate;
  /** Settings and network policies that fit this site, as values of the chart. */
  values: Record<string, unknown>;
  /** Installs a release (default: this checkout's), and stores a configuration for each of the site's playbooks. */
  install(release?: Release): Promise<InstalledChart>;
  /** The same for the plain manifests of this checkout; with `policies` theirs are imposed from the first pod on. */
  installPlainly(policies: boolean): Promise<PlainMuster>;
  /** Gives API and ingest port a certificate of an authority of the site's own, from the next install on. */
  secure(): Promise<void>;
  /** Imposes the network policies of this checkout's chart, until the site goes. */
  imposePolicies(): Promise<void>;
  /** The pods of sessions that there are, by session: what must stay while releases change. */
  sessionPods(): Promise<Record<string, { uid: string; images: string[] }>>;
  remove(): Promise<void>;
}

interface ChartSiteOptions {
  /** Jobs get a namespace of their own (value `runner.namespace`). */
  jobsApart?: boolean;
}

/** Makes it; `files` are playbooks beside `gate.yml`. Every configuration has the name of its playbook. */
export async function makeChartSite(
  files: Record<string, string> = {},
  more: object = {},
  { jobsApart = false }: ChartSiteOptions = {},
): Promise<ChartSite> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-chart-'));
  const gate = await openPlaybookGate(hostAddress());
  const repository = await createRepository(join(dir, 'plays'));
  const sources: Record<string, string> = { 'gate.yml': gate.playbook, ...files };
  const commit = await repository.commit(sources);
  const git = await startGitHttpServer({ root: dir, host: hostAddress() });
  const namespace = await makeNamespace('muster-chart');
  const jobs = jobsApart ? await makeNamespace('muster-chart-jobs') : namespace;
  const servers = await startServersForPods();
  const values = {
    settings: SETTINGS,
    runner: { ...SMALL, ...(jobsApart && { namespace: jobs.name }) },
    networkPolicy: {
      ports: {
        database: [servers.databasePort],
        temporal: [servers.temporalPort],
        repository: [Number(new URL(git.origin).port)],
        service: [gate.port],
      },
    },
    ...more,
  };
  let imposed: ImposedPolicies | undefined;
  let ca: string | undefined;
  const impose = async (policies: Manifest[]) => {
    imposed = await imposePolicies(policies);
  };
  const put = async (muster: InstalledMuster, path: string, body: object) => {
    const answer = await muster.call('PUT', path, body);
    if (answer.status !== 200) throw new Error(`PUT ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  const configure = async (muster: InstalledMuster) => {
    for (const playbook of Object.keys(sources).filter((path) => path.endsWith('.yml'))) {
      const layers = [{ name: 'plays', clone_url: `${git.origin}/plays`, commit, playbook }];
      await put(muster, `/v3/configurations/${playbook.slice(0, -4)}`, { layers });
    }
    await put(muster, '/v3/components/node0', { tags: TAGS });
  };
  return {
    namespace,
    jobs,
    servers,
    git,
    gate,
    values,
    install: async (release) => {
      const muster = await installChart({ namespace, servers, dir, values, ca, ...(release && { release }) });
      await configure(muster);
      return muster;
    },
    installPlainly: async (policies) => {
      const muster = await installPlainly({
        namespace,
        servers,
        dir,
        settings: SETTINGS,
        ports: Object.values(values.networkPolicy.ports).flat(),
        ...(policies && { impose }),
      });
      await configure(muster);
      return muster;
    },
    secure: async () => {
      const names = ['muster', 'muster-ingest'].map((name) => `DNS:${name}.${namespace.name}.svc`).join();
      const { caFile, tls } = makeCertificates(join(dir, 'certificates'), names);
      ca = await readFile(caFile, 'utf8');
      await namespace.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          type: 'kubernetes.io/tls',
          metadata: { name: 'api-tls' },
          stringData: { 'tls.crt': tls.cert, 'tls.key': tls.key },
        },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'site-ca' }, data: { 'ca.crt': ca } },
      );
      Object.assign(values, { tls: { existingSecret: 'api-tls' }, platformCa: { configMap: 'site-ca' } });
    },
    imposePolicies: async () => {
      const file = await writeValues(dir, { ...valuesFor(servers, ownRelease()), ...values });
      const objects = await renderChart(['--values', file], namespace.name);
      await impose(objects.filter(({ kind }) => kind === 'NetworkPolicy'));
    },
    sessionPods: async () => {
      const listed = await jobs.read<{ items: Manifest[] }>(`pods?labelSelector=${SESSIONS}`);
      return Object.fromEntries(
        (listed?.items ?? []).map(({ metadata, spec }) => [
          metadata.labels.cfsession,
          { uid: metadata.uid, images: [...spec.initContainers, ...spec.containers].map(({ image }) => image) },
        ]),
      );
    },
    remove: async () => {
      // Playbooks that still wait end.
      gate.open();
      const ends = [
        () => imposed?.lift(),
        namespace.remove,
        ...(jobsApart ? [jobs.remove] : []),
        gate.stop,
        git.stop,
        servers.stop,
      ];
      const results = [];
      for (const end of ends) results.push(...(await Promise.allSettled([end()])));
      await rm(dir, { recursive: true, force: true });
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}
