/**
 * Measures Muster against its bars, side by side with the bare tool in the same run, and prints a table; the figures go to
 * `bench/results/`. Nothing here is a test: machines are noisy, ratios count. `npm run bench -- first one` runs some. What
 * needs a cluster is left out where none can be had. `npm run bench -- --against COMMIT first one` compares with another commit.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ansibleBin } from '../test/support/ansible/ansible.ts';
import { freePort } from '../test/support/free-port.ts';
import { type MusterStack, startMusterStack } from '../test/support/stack/muster-stack.ts';
import { compareAgainst, printCompared } from './against.ts';
import { ACCESS, measureOnApi } from './api-bench.ts';
import { plainAnsibleConfig } from './bare-run.ts';
import { JOBS, measureOnCluster } from './cluster-bench.ts';
import { type DeploymentsWork, MOST_CLUSTERS, measureOnMembers } from './deployments-place.ts';
import { commitEndlessPlays, ENDLESS } from './endless-plays.ts';
import { commitPlaybooks, hostNames, inventoryOf, layersOf, playOf } from './fleet.ts';
import type { Measurement } from './measurement.ts';
import { measureBackup } from './measurements/backup.ts';
import { measureDrain, measurePass, measureWindow } from './measurements/batcher.ts';
import { measureBurst } from './measurements/burst.ts';
import { measureCancel } from './measurements/cancel.ts';
import { measureDryRun, measureSelection, measureSessionList } from './measurements/command-line.ts';
import { measureGet, measurePages, measureStatusList } from './measurements/components-read.ts';
import { measureAppend, measureBulk, measureFilterPatch, measureListPatch } from './measurements/components-write.ts';
import { measureFrozen } from './measurements/database-frozen.ts';
import { measureDeploymentsDead } from './measurements/deployments-dead.ts';
import { measureDeploymentsEvent } from './measurements/deployments-event.ts';
import { measureDeploymentsMany } from './measurements/deployments-many.ts';
import { measureDeploymentsOne } from './measurements/deployments-one.ts';
import { measureDeploymentsRecovery } from './measurements/deployments-recovery.ts';
import { measureDeploymentsSummary } from './measurements/deployments-summary.ts';
import { measureFirstProcess } from './measurements/first-process.ts';
import { measureFirstTask } from './measurements/first-task.ts';
import { measureFlaky } from './measurements/flaky.ts';
import { GREATEST_FLEET, measureGrowth } from './measurements/grow.ts';
import { measureHung } from './measurements/hung.ts';
import { measureIdle } from './measurements/idle.ts';
import { measureIdleWorkflows } from './measurements/idle-workflows.ts';
import { measureIngest, measureIngestOperators } from './measurements/ingest.ts';
import { measureLive } from './measurements/live-events.ts';
import { measureMac } from './measurements/mac.ts';
import { measureOperatorFirst } from './measurements/operator-first.ts';
import { measureOperatorMany } from './measurements/operator-many.ts';
import { measureOperatorProxy } from './measurements/operator-proxy.ts';
import { measureOperatorReplicas } from './measurements/operator-replicas.ts';
import { measureOperatorRestart } from './measurements/operator-restart.ts';
import { measureOperatorOne, measureOperatorTwenty } from './measurements/operator-share.ts';
import { measureOperatorUrgent } from './measurements/operator-urgent.ts';
import {
  AT_A_TIME,
  measurePlaybookAction,
  measurePlaybookActions,
  measureShellAction,
} from './measurements/plan-actions.ts';
import { measurePlanBuild } from './measurements/plan-build.ts';
import { measurePlanKills } from './measurements/plan-kills.ts';
import { measurePlanActions, measurePlanNone } from './measurements/plan-run.ts';
import { measurePlanShells } from './measurements/plan-shells.ts';
import { measurePlanStaging } from './measurements/plan-staging.ts';
import { measureQueue } from './measurements/queue.ts';
import { heldByRatio, heldBySeconds, heldByWall, measureRounds } from './measurements/session-share.ts';
import { measureSoak, SOAK_MINUTES } from './measurements/soak.ts';
import { measureWarm } from './measurements/warm.ts';
import { measureWebDraw } from './measurements/web-draw.ts';
import { measureWebFollow, measureWebLogJump, measureWebLogPage, measureWebLogSearch } from './measurements/web-log.ts';
import {
  measureWebCounts,
  measureWebFilter,
  measureWebGrid,
  measureWebLoad,
  measureWebNews,
  measureWebRoutes,
  measureWebSelection,
} from './measurements/web-pages.ts';
import { measureWebViewers } from './measurements/web-viewers.ts';
import { measureFleetLayers, measureWholeFleet } from './measurements/whole-fleet.ts';
import { measureOnOperators, type OperatorWork } from './operator-place.ts';
import { printMeasured, saveMeasured } from './report.ts';

const ROUNDS = 5;
const FLEET = 100_000;
const root = join(import.meta.dirname, '..');

interface Bench {
  stack: MusterStack;
  repository: string;
  ansibleConfig: string;
}

type Work = (bench: Bench) => Promise<Measurement>;

const bare = (bench: Bench, playbook: string, hosts: string[]) => ({
  repository: bench.repository,
  playbook,
  inventory: inventoryOf(hosts),
  ansibleBin: ansibleBin(),
  ansibleConfig: bench.ansibleConfig,
});

const layered =
  (count: number, ratio: number): Work =>
  async (bench) => {
    const works = layersOf(count).map((playbook) => bare(bench, playbook, ['n0']));
    const options = { rounds: ROUNDS, configuration: `layers-${count}`, limit: 'n0', bare: works };
    return heldByWall(`session of one host and ${count} layers`, await measureRounds(bench.stack, options), ratio);
  };

const REAL: Record<string, Work> = {
  idle: ({ stack }) => measureIdle(stack),
  first: ({ stack }) => measureFirstProcess(stack, 'one', 'n0'),
  'first-task': ({ stack }) => measureFirstTask(stack, 'one', 'n0'),
  one: async (bench) => {
    const options = { rounds: ROUNDS, configuration: 'one', limit: 'n0', bare: bare(bench, 'one.yml', ['n0']) };
    return heldByWall('session of one host and one task', await measureRounds(bench.stack, options), 0.75);
  },
  many: async (bench) => {
    const hosts = hostNames(25);
    const options = {
      rounds: ROUNDS,
      configuration: 'three',
      limit: hosts.join(','),
      bare: bare(bench, 'three.yml', hosts),
    };
    return heldByRatio('25 hosts x 3 tasks', await measureRounds(bench.stack, options), 0.95);
  },
  layers2: layered(2, 0.65),
  layers10: layered(10, 0.5),
  cancel: (bench) => measureCancel(bench.stack, 'n0', (playbook) => bare(bench, playbook, ['n0'])),
  live: ({ stack }) => measureLive(stack, 'sixty', 'n0', 'task event to a client that follows, one host'),
  livemany: ({ stack }) =>
    measureLive(stack, 'three', hostNames(25).join(','), 'task event to a client that follows, 25 hosts'),
  fleet: async (bench) => {
    await addComponents(bench.stack, FLEET);
    // What a whole fleet costs a playbook is measured by `fleet100k`.
    await bench.stack.call('PATCH', '/v3/options', { inventory_scope: 'limit' });
    const options = { rounds: ROUNDS, configuration: 'one', limit: 'n0', bare: bare(bench, 'one.yml', ['n0']) };
    return heldBySeconds('one host of a fleet of 100,000', await measureRounds(bench.stack, options), 1.5);
  },
  frozen: ({ stack }) => measureFrozen(stack),
};

const wholeFleet =
  (count: number, seconds: number): Work =>
  ({ stack, repository, ansibleConfig }) => {
    const given = { repository, playbook: 'one.yml', ansibleBin: ansibleBin(), ansibleConfig };
    return measureWholeFleet(stack, { count, seconds, rounds: ROUNDS, bare: given });
  };

const fleetLayers =
  (layers: number, ratio: number): Work =>
  ({ stack, repository, ansibleConfig }) => {
    const given = { repository, playbook: '', ansibleBin: ansibleBin(), ansibleConfig };
    return measureFleetLayers(stack, { count: FLEET, layers: layersOf(layers), ratio, rounds: ROUNDS, bare: given });
  };

/** On a stack of their own; the smaller fleet comes first. */
const WHOLE_FLEETS: Record<string, Work> = {
  fleet10k: wholeFleet(10_000, 0.5),
  fleet100k: wholeFleet(FLEET, 4),
  fleetlayer1: fleetLayers(1, 0.9),
  fleetlayers3: fleetLayers(3, 0.6),
};

/** What one name stands for besides the measurement of that name. */
const TOGETHER: Record<string, readonly string[]> = {
  deployments: [
    'deployments-summary',
    'deployments-one',
    'deployments-event',
    'deployments-recovery',
    'deployments-dead',
    'deployments-many',
  ],
  operator: [
    'operator-first',
    'operator-one',
    'operator-twenty',
    'operator-proxy',
    'operator-restart',
    'operator-many',
    'operator-urgent',
    'ingest-operators',
  ],
  warm: ['one', 'layers2', 'layers10', 'many', 'fleetlayer1', 'fleetlayers3'],
  web: [
    ...['web-routes', 'web-news', 'web-counts', 'web-grid', 'web-filter', 'web-select'],
    ...['web-draw', 'web-log', 'web-jump', 'web-search', 'web-follow', 'web-viewers'],
  ],
};

const NO_OP: Record<string, Work> = {
  queue: ({ stack }) => measureQueue(stack, 'one'),
  burst: ({ stack }) => measureBurst(stack, 'one'),
};

/** Automatic configuration, with a runner that does nothing; the backlog is made last. */
const AUTOMATION: Record<string, Work> = {
  window: ({ stack }) => measureWindow(stack, 'one'),
  fleet1000: ({ stack }) => measureDrain(stack, 'one'),
  batcher: ({ stack }) => measurePass(stack, 'one'),
};

/** What comes in by the port for runs that are executed elsewhere. */
const REMOTE: Record<string, Work> = {
  ingest: ({ stack }) => measureIngest(stack),
  'ingest-operators': ({ stack }) => measureIngestOperators(stack),
};

const barePlaybook = ({ ansibleConfig }: Bench) => ({
  playbook: playOf(1),
  ansibleBin: ansibleBin(),
  ansibleConfig,
});

const PLAN_ACTIONS: Record<string, Work> = {
  'plan-shell': ({ stack }) => measureShellAction(stack),
  'plan-ansible': (bench) => measurePlaybookAction(bench.stack, barePlaybook(bench)),
  'plan-ansible25': (bench) => measurePlaybookActions(bench.stack, barePlaybook(bench)),
};

/** On a stack of their own: they make a fleet of 100,000. */
const COMPONENTS: Record<string, Work> = {
  status: ({ stack }) => measureStatusList(stack),
  pages: ({ stack }) => measurePages(stack),
  get: ({ stack }) => measureGet(stack),
  list: ({ stack }) => measureListPatch(stack),
  filter: ({ stack }) => measureFilterPatch(stack),
  append: ({ stack }) => measureAppend(stack),
  bulk: ({ stack }) => measureBulk(stack),
  'dry-run': ({ stack }) => measureDryRun(stack),
  selection: ({ stack }) => measureSelection(stack),
  'session-list': ({ stack }) => measureSessionList(stack),
};

/** On a stack of their own, which has the web UI and the same fleet. */
const WEB: Record<string, Work> = {
  web: ({ stack }) => measureWebLoad(stack),
  'web-routes': ({ stack }) => measureWebRoutes(stack),
  'web-news': ({ stack }) => measureWebNews(stack),
  'web-counts': ({ stack }) => measureWebCounts(stack),
  'web-grid': ({ stack }) => measureWebGrid(stack),
  'web-filter': ({ stack }) => measureWebFilter(stack),
  'web-select': ({ stack }) => measureWebSelection(stack),
  'web-draw': measureWebDraw,
  'web-log': ({ stack }) => measureWebLogPage(stack),
  'web-jump': ({ stack }) => measureWebLogJump(stack),
  'web-search': ({ stack }) => measureWebLogSearch(stack),
  'web-follow': ({ stack }) => measureWebFollow(stack),
  'web-viewers': ({ stack }) => measureWebViewers(stack),
};

/** Rows of one measurement, which makes fleets of three sizes; only when asked for by name. */
const GROWTH = 'grow';

/** Each on a stack that it makes itself, or on none. */
const ALONE: Record<string, () => Promise<Measurement>> = {
  backup: measureBackup,
  'deployments-summary': measureDeploymentsSummary,
  hung: measureHung,
  mac: measureMac,
  plans: measurePlanBuild,
  'plans-executed': measurePlanActions,
  'plans-none': measurePlanNone,
  'plans-staging': measurePlanStaging,
  warm: measureWarm,
};

/** Each with an API server of its own. */
const OPERATORS: Record<string, OperatorWork> = {
  'operator-first': measureOperatorFirst,
  'operator-one': measureOperatorOne,
  'operator-twenty': measureOperatorTwenty,
  'operator-proxy': measureOperatorProxy,
  'operator-restart': measureOperatorRestart,
  'operator-many': measureOperatorMany,
  'operator-urgent': measureOperatorUrgent,
};

/** With API servers that all of them share. */
const MEMBERS: Record<string, DeploymentsWork> = {
  'deployments-one': measureDeploymentsOne,
  'deployments-event': measureDeploymentsEvent,
  'deployments-recovery': measureDeploymentsRecovery,
  'deployments-dead': measureDeploymentsDead,
  'deployments-many': measureDeploymentsMany,
};

/** Only when asked for by name: they take a quarter of an hour, or hours. */
const LONG: Record<string, (sizes: Sizes) => Promise<Measurement>> = {
  flaky: measureFlaky,
  'idle-workflows': measureIdleWorkflows,
  'plan-kills': measurePlanKills,
  'plan-shells': measurePlanShells,
  soak: ({ minutes }) => measureSoak(minutes),
};

interface Sizes {
  /** Components of the largest fleet. */
  fleet: number;
  /** Member clusters. */
  clusters: number;
  /** Of `soak`. */
  minutes: number;
}

/** Of operators, and as long. */
const LONG_OPERATORS: Record<string, OperatorWork> = { 'operator-replicas': measureOperatorReplicas };

async function main(asks: string[], against: string | undefined, sizes: Sizes): Promise<void> {
  const names = [
    REAL,
    WHOLE_FLEETS,
    NO_OP,
    AUTOMATION,
    COMPONENTS,
    WEB,
    REMOTE,
    PLAN_ACTIONS,
    ALONE,
    OPERATORS,
    MEMBERS,
    LONG,
    LONG_OPERATORS,
    ACCESS,
    JOBS,
    { [GROWTH]: measureGrowth },
  ].flatMap((group) => Object.keys(group));
  const wanted = asks.flatMap((name) => [name, ...(TOGETHER[name] ?? [])]);
  const unknown = wanted.filter((name) => !names.includes(name) && !(name in TOGETHER));
  if (unknown.length > 0) throw new Error(`no such measurement: ${unknown.join(', ')}; there are ${names.join(', ')}`);
  if (against !== undefined) {
    const compared = await compareAgainst(
      root,
      against,
      wanted.length > 0
        ? wanted
        : names.filter((name) => !(name in LONG) && !(name in LONG_OPERATORS) && name !== GROWTH),
    );
    if (printCompared(compared)) process.exitCode = 1;
    return;
  }
  const asked = <T>(work: Record<string, T>) =>
    Object.entries(work).filter(([name]) => wanted.length === 0 || wanted.includes(name));
  const results = [
    ...(await measure(asked(REAL), {})),
    ...(await measure(asked(WHOLE_FLEETS), {}, { inventory_scope: 'all', batcher_disable: true })),
    ...(await measure(asked(NO_OP), { MUSTER_PLAYBOOK_COMMAND: '/bin/true' })),
    ...(await measure(asked(AUTOMATION), { MUSTER_PLAYBOOK_COMMAND: '/bin/true' })),
    ...(await measure(asked(COMPONENTS), {}, { batcher_disable: true })),
    ...(await measure(asked(WEB), {}, { batcher_disable: true }, 'built')),
    ...(await measure(asked(REMOTE), { MUSTER_INGEST_PORT: String(await freePort()) })),
    ...(await measure(asked(PLAN_ACTIONS), { MUSTER_LOCAL_RUNS: String(AT_A_TIME) })),
    ...(await measureAlone(asked(ALONE), sizes)),
    ...(await measureOnOperators(asked(OPERATORS))),
    ...(await measureOnMembers(asked(MEMBERS), sizes.clusters)),
    ...(await measureAlone(
      Object.entries(LONG).filter(([name]) => wanted.includes(name)),
      sizes,
    )),
    ...(await measureOnOperators(Object.entries(LONG_OPERATORS).filter(([name]) => wanted.includes(name)))),
    ...(await measureOnApi(asked(ACCESS))),
    ...(await measureOnCluster(asked(JOBS))),
    ...(wanted.includes(GROWTH) ? await measureGrowing(sizes.fleet) : []),
  ];
  if (results.length === 0) return;
  printMeasured(results);
  await saveMeasured(root, results);
}

async function measureAlone(
  work: [string, (sizes: Sizes) => Promise<Measurement>][],
  sizes: Sizes,
): Promise<Measurement[]> {
  const results: Measurement[] = [];
  for (const [name, run] of work) {
    process.stderr.write(`measuring ${name}\n`);
    results.push(await run(sizes));
  }
  return results;
}

async function measure(
  work: [string, Work][],
  settings: Record<string, string>,
  options: object = {},
  web: 'built' | 'none' = 'none',
): Promise<Measurement[]> {
  if (work.length === 0) return [];
  const all = async (bench: Bench) => {
    const results: Measurement[] = [];
    for (const [name, run] of work) {
      process.stderr.write(`measuring ${name}\n`);
      results.push(await run(bench));
    }
    return results;
  };
  return onStack(settings, options, all, web);
}

function measureGrowing(greatest: number): Promise<Measurement[]> {
  process.stderr.write(`measuring ${GROWTH}\n`);
  const options = { inventory_scope: 'all', batcher_disable: true };
  return onStack({}, options, ({ stack }) => measureGrowth(stack, greatest));
}

/** Does the work on a stack of its own, which has the playbooks and configurations of the measurements. */
async function onStack<T>(
  settings: Record<string, string>,
  options: object,
  work: (bench: Bench) => Promise<T>,
  web: 'built' | 'none' = 'none',
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bench-'));
  const stack = await startMusterStack(settings, 'shared', web);
  try {
    const repository = await stack.repository('bench');
    await commitPlaybooks(repository);
    await commitEndlessPlays(repository);
    await stack.call('PATCH', '/v3/options', options);
    for (const name of ['one', 'three', 'sixty', ...Object.keys(ENDLESS)]) {
      await stack.configure(name, repository.url, [`${name}.yml`], hostNames(25));
    }
    for (const count of [1, 2, 3, 10]) {
      await stack.configure(`layers-${count}`, repository.url, layersOf(count), hostNames(25));
    }
    const ansibleConfig = await plainAnsibleConfig(join(root, 'ansible', 'ansible.cfg'), dir);
    return await work({ stack, repository: repository.url, ansibleConfig });
  } finally {
    await stack.remove();
    await rm(dir, { recursive: true, force: true });
  }
}

function greatestFleet(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 10_000 && count % 10_000 === 0) return count;
  throw new Error(`--fleet ${text}: a multiple of 10,000 is needed`);
}

function soakMinutes(text: string): number {
  const count = Number(text);
  if (Number.isFinite(count) && count > 0) return count;
  throw new Error(`--minutes ${text}: a number of minutes is needed`);
}

function memberClusters(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`--clusters ${text}: a number of clusters is needed`);
}

async function addComponents(stack: MusterStack, count: number): Promise<void> {
  const size = 10_000;
  const hosts = hostNames(count);
  for (let start = 0; start < count; start += size) {
    const body = hosts.slice(start, start + size).map((id) => ({ id, tags: { ansible_connection: 'local' } }));
    const { status } = await stack.call('PUT', '/v3/components', body);
    if (status !== 200) throw new Error(`PUT components: ${status}`);
  }
}

const { values, positionals } = parseArgs({
  options: {
    against: { type: 'string' },
    fleet: { type: 'string', default: String(GREATEST_FLEET) },
    clusters: { type: 'string', default: String(MOST_CLUSTERS) },
    minutes: { type: 'string', default: process.env.MUSTER_BENCH_MINUTES ?? String(SOAK_MINUTES) },
  },
  allowPositionals: true,
});
await main(positionals, values.against, {
  fleet: greatestFleet(values.fleet),
  clusters: memberClusters(values.clusters),
  minutes: soakMinutes(values.minutes),
});
