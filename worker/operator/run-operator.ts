/** The life of an operator's process: what it opens, its workers, and their stops in order. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createOperatorActivities, createOperatorMachineActivities } from '../../activities/operator/activities.ts';
import { databaseSettings } from '../../config/database-settings.ts';
import { type Environment, SECRET_SETTINGS } from '../../config/environment.ts';
import { temporalSettings } from '../../config/temporal-settings.ts';
import { followRequests, serveRequests } from '../../control/operator/follow-requests.ts';
import type { HashedEntry, OperatorSite } from '../../control/operator/operator-site.ts';
import { reconcileRuns } from '../../control/operator/reconcile-runs.ts';
import { registerOperator } from '../../control/operator/register-operator.ts';
import { retainReconciles } from '../../control/operator/retain-reconciles.ts';
import { wantedDispatcher } from '../../control/operator/wanted-workflows.ts';
import { announceRunMachine } from '../../control/runs/announce-machine.ts';
import { cleanMachine } from '../../control/runs/clean-machine.ts';
import { connectTemporal } from '../../control/temporal/connect.ts';
import { createTell } from '../../control/temporal/tell.ts';
import { operatorMachineQueueOf, operatorQueueOf } from '../../domain/engine/task-queues.ts';
import { secondsOf } from '../../domain/operator/duration.ts';
import { logLevelOf } from '../../domain/operator/log-lines.ts';
import { OPERATOR_MACHINES } from '../../domain/operator/resource-words.ts';
import { keepSigns } from '../../domain/operator/watch-signs.ts';
import type { Runner } from '../../domain/runs/runner.ts';
import { openClusterAccess } from '../../drivers/kubernetes/cluster-access.ts';
import { createClusterClient } from '../../drivers/kubernetes/cluster-client.ts';
import { createLocalRunner } from '../../drivers/local-runner/local-runner.ts';
import { readHostId } from '../../drivers/machine/machine-id.ts';
import { openNotices } from '../../drivers/operator-cluster/events.ts';
import { createResourceClient } from '../../drivers/operator-cluster/resource-client.ts';
import { entryHash } from '../../drivers/operator-home/entry-hash.ts';
import { rolesConfig } from '../../drivers/operator-home/roles-config.ts';
import { findRunner } from '../../drivers/operator-runner/find-runner.ts';
import { createRunDirectories } from '../../drivers/operator-runner/private-directory.ts';
import { createDiscovery } from '../../drivers/operator-watch/discovery.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { olderShape } from '../../store/migrations/index.ts';
import { countWorkOf, forgetTold } from '../../store/operator/due.ts';
import { databaseTime, forgetProcess, noteProcess, type WatchRow } from '../../store/operator/operators.ts';
import { again } from '../again.ts';
import { connectWorkers, workerOptions } from '../engine.ts';
import { keepRunning } from '../keep-running.ts';
import { ROOT } from '../shared/open-shared.ts';
import type { openWorkerLog } from '../worker-log.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { openDependents } from './follow-dependents.ts';
import { followObjects } from './follow-objects.ts';
import { keepLease } from './keep-lease.ts';
import { awaitNamespace, keepNamespace } from './keep-namespace.ts';
import { keepWorkers } from './keep-workers.ts';
import { openMetrics } from './open-metrics.ts';
import { openWays } from './open-ways.ts';
import { listenAddress, listenForOperatorProbes } from './probes.ts';
import { type OperatorStart, StartRefused } from './read-start.ts';

export interface OperatorProcess {
  start: OperatorStart;
  env: Environment;
  /** Of MUSTER_TEMPORAL_NAMESPACE; unset: a namespace of the operator's own. */
  namedNamespace: string | undefined;
  isPod: boolean;
  version: string;
  /** From which the program was made; empty where that is not known. */
  commit: string;
  log: ReturnType<typeof openWorkerLog>;
  /** Told how to stop once there is something to stop. */
  onStart(stop: () => void): void;
}

const LOOK_MS = 30_000;
const RETAIN_MS = 10 * 60_000;
const GRACE_MS = 5_000;
const FORCE_MS = 14_000;
const WATCHING_PLACES = 2_000;
const PYTHON = 'python3';

/** Works until it is stopped. Throws `StartRefused` for what no waiting brings. */
export async function runOperator({
  start,
  env,
  namedNamespace,
  isPod,
  version,
  commit,
  log,
  onStart,
}: OperatorProcess): Promise<void> {
  const { name, home, flags } = start;
  for (const warning of start.warnings) log.warn({ entry: warning.entry, code: warning.code }, warning.message);
  const data = join(env.MUSTER_DATA_DIR, 'operator');
  const runsDir = join(data, 'runs');
  await mkdir(runsDir, { recursive: true, mode: 0o700 });
  const hostId = await readHostId(data);
  const address = listenAddress(flags['health-probe-bind-address'], isPod);
  let isReady = () => false;
  const signs = keepSigns(() => performance.now());
  const trouble = () => {
    const still = signs.still();
    return still === null ? null : `the watch ${still.watch} has given no sign for ${still.seconds} s`;
  };
  const probes = await listenForOperatorProbes(address, { isReady: () => isReady(), trouble }).catch((error: Error) => {
    throw new StartRefused([`error: port_taken: --health-probe-bind-address: ${error.message}`], 1);
  });

  const access = openClusterAccess(null);
  const cluster = createClusterClient(access);
  const metrics = await openMetrics({ start, version, commit, isPod, client: cluster, log });

  const db = openDatabase({ ...databaseSettings(env), name: `muster-operator-${name}`.slice(0, 60) });
  const older = await again('database', log, () => olderShape(db));
  if (older !== null) {
    const words = `the database has ${older.has ?? 'no tables'}, and Muster ${version} needs ${older.needs}`;
    throw new StartRefused([`error: database_older: ${words}; start the API of this release first`], 1);
  }
  const hashed = await Promise.all(start.entries.map(async (entry) => ({ entry, hash: await entryHash(entry, home) })));
  const settings = { ...temporalSettings(env, 'operator'), namespace: namedNamespace ?? `muster-operator-${name}` };
  const temporal = connectTemporal(settings);
  const { client } = temporal;
  const inTemporal = { connection: temporal.connection, namespace: settings.namespace, log };
  await awaitNamespace(inTemporal);

  const clock = () => new Date();
  const here = { operator: name, machine: hostId };
  const register = () => registerOperator({ db, clock, machine: hostId }, { name, home, version }, hashed.map(watchOf));
  const refusal = await again('database', log, register);
  if (refusal !== null) throw new StartRefused([refusal], 1);
  const dependents = openDependents({ db, operator: name, clock }, start.namespaces);
  const reach = await openWays({ start, data, runsDir, access, db, here, dependents, log });
  const discovery = createDiscovery(cluster);
  const site: OperatorSite = {
    db,
    log,
    client,
    home,
    hostId,
    operator: name,
    clock,
    entries: hashed,
    defaultPeriodSeconds: secondsOf(flags['reconcile-period']),
    keepReconciles: flags['keep-reconciles'],
    cluster: createResourceClient(cluster, discovery),
    directories: createRunDirectories(runsDir),
    ways: reach.ways,
    notices: openNotices({ client: cluster, clock, log, lost: metrics.meters.noticeLost }),
    meters: metrics.meters,
    tell: createTell({ client, log }),
    random: Math.random,
  };
  const runner = await createLocalRunner({
    runsDir,
    slots: start.slots,
    python: PYTHON,
    launcher: join(ROOT, 'ansible', 'launcher', 'launch.py'),
  });
  const findAnsibleRunner = () =>
    findRunner({
      named: env.MUSTER_ANSIBLE_RUNNER,
      cacheDir: env.MUSTER_CACHE_DIR,
      searchPath: start.environment.PATH ?? '',
    });
  const logLevel = logLevelOf(flags['ansible-log-events']);
  const runsHere = {
    environment: start.environment,
    ansibleArgs: flags['ansible-args'],
    findRunner: findAnsibleRunner,
    only: flags['runner-env']?.split(',').map((word) => word.trim()),
    secretSettings: SECRET_SETTINGS,
    ansibleConfig: await rolesConfig({ home, folder: data, environment: start.environment }),
    logMaxBytes: env.MUSTER_LOG_MAX,
    events: {
      level: logLevel ?? 'tasks',
      isWhole: start.logsOutput,
      print: (text: string) => void process.stdout.write(text),
    },
  };
  if (logLevel === null)
    log.error({ value: flags['ansible-log-events'] }, '--ansible-log-events: the word is not known; it means tasks');
  const owners = [reconcileRuns(db)];
  const queue = operatorMachineQueueOf(hostId);
  // With the container all processes of a pod end.
  const me = { ...here, queue, slots: start.slots, version, outlived: !isPod };
  const sign = async () => {
    const engineReason = await temporal.health();
    await noteProcess(db, { ...me, engineReason }, await databaseTime(db));
  };
  await again('database', log, sign);

  const connection = await connectWorkers(settings, log);
  const shared = workerOptions(connection, settings, { tracing: undefined, signing: null, log });
  const codePath = await workflowBundle(join(data, 'bundles'), undefined);
  const anywhere = {
    ...shared,
    taskQueue: operatorQueueOf(name),
    workflowBundle: { codePath },
    activities: createOperatorActivities(site),
    maxCachedWorkflows: 200,
    maxConcurrentActivityTaskExecutions: 50,
  };
  const onMachine = {
    ...shared,
    taskQueue: queue,
    ...shutdownTimes(flags['graceful-shutdown-timeout']),
    activities: createOperatorMachineActivities({ ...site, runner, here: runsHere }),
    maxConcurrentActivityTaskExecutions: WATCHING_PLACES,
  };
  const workers = await keepWorkers([anywhere, onMachine], () => awaitNamespace(inTemporal), log);
  const stops = [
    keepLease({
      sign,
      lost: async () => {
        await Promise.allSettled((await site.ways.cutAll()).map((runId) => runner.end(runId)));
      },
      log,
    }),
    keepRunning(
      {
        'the dispatcher and what people ask for': () => serveRequests(site),
        'the clean-up of runs': async () => {
          const { problems, stopped } = await cleanMachine({ db, clock: site.clock, runner, owners, hostId });
          // No reconcile sees to a run any more that was given up.
          for (const runId of stopped) await site.directories.tidy(runId);
          if (problems.length > 0) log.warn({ problems: problems.slice(0, 10) }, 'not all runs could be cleaned up');
        },
      },
      log,
      LOOK_MS,
    ),
    keepRunning({ 'old records': () => retainReconciles(site) }, log, RETAIN_MS),
    keepNamespace(inTemporal, async () => {
      await forgetTold(db, name);
      await serveRequests(site);
    }),
    followRequests(site, { database: databaseSettings(env), log }),
    announceRunMachine(site, { machine: hostId, queue, kind: OPERATOR_MACHINES }),
  ];
  await site.tell([wantedDispatcher(name)]);
  const objects = followObjects({ site, client: cluster, discovery, namespaces: start.namespaces, dependents, signs });
  metrics.read({
    work: () => countWorkOf(db, here, clock()),
    isEngineUp: async () => (await temporal.health()) === null,
    isWatching: objects.isWatching,
    watches: objects.states,
  });
  const hasRunner = (await findAnsibleRunner()) !== null;
  if (!hasRunner) log.warn({ named: env.MUSTER_ANSIBLE_RUNNER }, 'ansible-runner was not found: no resource can run');
  isReady = () => hasRunner && objects.isReady() && workers.isRunning();
  onStart(() => {
    isReady = () => false;
    workers.shutdown();
  });
  log.info({ operator: name, host: hostId, slots: start.slots, entries: hashed.length }, 'working');
  void sayReady(() => isReady());
  await workers.done;
  // They would be killed in a moment; what is asked to end may still say so.
  const ending = isPod ? endAll(runner) : null;
  await objects.stop();
  await dependents.stop();
  for (const stop of stops) await stop();
  await ending;
  await reach.stop();
  await site.notices.close();
  await forgetProcess(db, me).catch(() => undefined);
  await connection.close();
  await temporal.close();
  await db.destroy();
  await metrics.close();
  await probes.close();
}

async function endAll(runner: Runner): Promise<void> {
  const runs = await runner.live();
  await Promise.allSettled(runs.map((runId) => runner.end(runId)));
}

/** How long a stop waits for runs: they go on without the process, and the next one finds them. */
function shutdownTimes(timeout: string | undefined): { shutdownGraceTime: number; shutdownForceTime: number } {
  const graceMs = timeout === undefined ? GRACE_MS : Math.max(0, secondsOf(timeout) * 1_000);
  return { shutdownGraceTime: graceMs, shutdownForceTime: graceMs + FORCE_MS };
}

/** What is on record of an entry. */
const watchOf = ({ entry, hash }: HashedEntry): WatchRow => ({
  ...{ group: entry.group, version: entry.version, kind: entry.kind },
  entryHash: hash,
  slots: entry.max_concurrent_reconciles,
  finalizer: entry.finalizer?.name ?? null,
});

/** Scripts wait for this word. */
async function sayReady(isReady: () => boolean): Promise<void> {
  const timer = setInterval(() => {
    if (!isReady()) return;
    clearInterval(timer);
    process.stderr.write('ready\n');
    process.send?.('ready');
  }, 50);
  timer.unref();
}
