/** The Temporal worker: composition root of everything that a session does. */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Runtime, Worker } from '@temporalio/worker';
import { createBatcherActivities } from '../activities/batches/activities.ts';
import { createHardwareSyncActivities } from '../activities/components/hardware-sync-activities.ts';
import { createRunActivities } from '../activities/runs/activities.ts';
import { createScheduleActivities } from '../activities/schedules/activities.ts';
import { createHostActivities, createSessionRecords } from '../activities/sessions/activities.ts';
import { createClusterActivities } from '../activities/sessions/cluster/cluster-activities.ts';
import { createImageActivities } from '../activities/sessions/images/image-activities.ts';
import { createSweepActivities } from '../activities/sessions/sweep-activities.ts';
import { createTrustActivities } from '../activities/trust/activities.ts';
import { createWebhookActivities, sweepWebhooks } from '../activities/webhooks/activities.ts';
import { dataPaths, privatePaths } from '../config/data-paths.ts';
import { databaseSettings } from '../config/database-settings.ts';
import { type Environment, EnvironmentError, loadEnvironment } from '../config/environment.ts';
import { startFiles } from '../config/start-files.ts';
import { temporalSettings } from '../config/temporal-settings.ts';
import { followChanges } from '../control/batches/follow-changes.ts';
import { ensureBatcher } from '../control/batches/wake-batcher.ts';
import { ensureHardwareSync } from '../control/components/ensure-hardware-sync.ts';
import { followLoggingLevel } from '../control/configurations/logging-level.ts';
import { createSiteValues, DEFAULT_NAMESPACE, ensureSiteValues } from '../control/configurations/site-values.ts';
import { announceRunMachine } from '../control/runs/announce-machine.ts';
import { keepUserSchedules } from '../control/schedules/keep-user-schedules.ts';
import { createScheduleEngine } from '../control/schedules/schedule-engine.ts';
import { recordedSecrets } from '../control/secrets/recorded-secrets.ts';
import { ensureSecretKey } from '../control/secrets/secret-key.ts';
import { createDispatcher } from '../control/sessions/dispatcher.ts';
import { sessionOwner } from '../control/sessions/session-owner.ts';
import { connectTemporal } from '../control/temporal/connect.ts';
import { openSigning } from '../control/temporal/open-signing.ts';
import { registerSearchAttributes } from '../control/temporal/register-search-attributes.ts';
import { openAddressSeal } from '../control/webhooks/address-seal.ts';
import { followNotifications } from '../control/webhooks/follow-notifications.ts';
import { wakeWebhooks } from '../control/webhooks/wake-webhooks.ts';
import { CLUSTER_HOST, hostQueueOf, MAIN_QUEUE } from '../domain/engine/task-queues.ts';
import { isMusterError } from '../domain/errors.ts';
import { rememberPemFiles } from '../drivers/certificates/follow-renewal.ts';
import { createGit } from '../drivers/git/create-git.ts';
import { createAnsibleHosts } from '../drivers/inventory/ansible-hosts.ts';
import { createInventories, type InventoryProvider } from '../drivers/inventory/create-inventories.ts';
import { createHsmClient } from '../drivers/inventory/hsm-client.ts';
import { createHardwareList, type ListHardware } from '../drivers/inventory/list-hardware.ts';
import { findAnsible, pythonOf } from '../drivers/local-runner/ansible-programs.ts';
import { createLocalRunner } from '../drivers/local-runner/local-runner.ts';
import { createMissingRequirements } from '../drivers/local-runner/missing-requirements.ts';
import { createWorkspaces } from '../drivers/local-runner/workspaces.ts';
import { collectAfterStart } from '../drivers/machine/collect-after-start.ts';
import { collectNowAndThen } from '../drivers/machine/collect-now-and-then.ts';
import { readHostId } from '../drivers/machine/machine-id.ts';
import { makePrivate } from '../drivers/machine/private-files.ts';
import { openConfigMaps } from '../drivers/secrets/config-maps.ts';
import { kubernetesConfigMaps, kubernetesSecrets } from '../drivers/secrets/kubernetes.ts';
import { findMacKey } from '../drivers/secrets/mac-key.ts';
import { openSecretCipher } from '../drivers/secrets/secret-cipher.ts';
import { openSshFiles } from '../drivers/secrets/ssh-files.ts';
import { makeSshPrivateKey } from '../drivers/secrets/ssh-key-pair.ts';
import { withoutRegistry } from '../drivers/tenants/no-registry.ts';
import { openTenantVault } from '../drivers/tenants/tenant-vault.ts';
import { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { openSshKeygen } from '../drivers/trust/ssh-keygen.ts';
import { createWebhookSender } from '../drivers/webhooks/send-webhook.ts';
import { anyGroupOfTags, inventoryComponents } from '../store/components/inventory-components.ts';
import { readOptions } from '../store/configurations/options.ts';
import { type Db, openDatabase } from '../store/connection/database.ts';
import { connectionName } from '../store/connection/process-names.ts';
import { migrate } from '../store/migrations/index.ts';
import { SESSION_MACHINES } from '../store/runs/run-machines.ts';
import { createSecretStore } from '../store/secrets/secrets.ts';
import { again } from './again.ts';
import { baseEnvironment } from './base-environment.ts';
import { openCluster } from './cluster.ts';
import { connectWorkers, workerOptions } from './engine.ts';
import { openBuiltInImages, openImageMachine } from './image-builder.ts';
import { openImages } from './image-service.ts';
import { runImageWorker } from './image-worker.ts';
import { keepRunning } from './keep-running.ts';
import { tellLiveness, watchPolls } from './liveness.ts';
import { listenForProbes } from './probe-listener.ts';
import { keepSchedules, reconcileSchedules, renewTrustNow } from './schedules.ts';
import { openTrust } from './trust.ts';
import { engineLogger, openWorkerLog } from './worker-log.ts';
import { workflowBundle } from './workflow-bundle.ts';

/** How often the worker looks for sessions to start that nobody told it of, ms: that is the API's work. */
const OUTBOX_POLL_MS = 60_000;
/**
 * Activities at once where runs and Jobs are watched, for as long as they last, two for each session: that costs next to nothing, and the
 * short ones, by which sessions start, end and are cancelled, share these places. So there are more than any installation has sessions.
 */
const WATCHING_PLACES = 20_000;

const ROOT = join(import.meta.dirname, '..');

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  const log = openWorkerLog(env.MUSTER_LOG_LEVEL);
  Runtime.install({
    logger: engineLogger(log),
    shutdownSignals: [],
    ...(env.MUSTER_TEMPORAL_METRICS
      ? { telemetryOptions: { metrics: { prometheus: { bindAddress: env.MUSTER_TEMPORAL_METRICS } } } }
      : {}),
  });
  // The first process of a container gets no signal that it does not ask for.
  let stop: () => void = () => process.exit(0);
  process.on('SIGTERM', () => stop());
  process.on('SIGINT', () => stop());
  const role = env.MUSTER_WORKER_ROLE === 'images' ? 'images' : 'worker';
  const pemFiles = await rememberPemFiles(startFiles(env, role));
  // Whoever works in an image is in this container, and goes with it.
  let isIdle = async () => true;
  pemFiles.stopWhenRenewed({ stop: () => stop(), log, ...(role === 'images' ? { isIdle: () => isIdle() } : {}) });
  const liveness = tellLiveness();
  const probes = env.MUSTER_WORKER_PROBES === undefined ? undefined : await listenForProbes(env.MUSTER_WORKER_PROBES);
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const tracing = env.MUSTER_TRACES_URL && (await loadTracing(env.MUSTER_TRACES_URL, 'muster-worker', version));
  if (env.MUSTER_WORKER_ROLE === 'images') {
    await runImageWorker(env, {
      ...{ log, probes, tracing: tracing || undefined },
      onStart: (process) => {
        stop = process.stop;
        isIdle = process.isIdle;
      },
    });
    if (tracing) await tracing.close();
    await probes?.close();
    return;
  }
  const paths = dataPaths(env.MUSTER_DATA_DIR);
  const temporary = paths.temporary.worker;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true, mode: 0o700 });

  const database = databaseSettings(env);
  const signs = env.MUSTER_MAC_KEY_FILE !== undefined || env.MUSTER_SECRETS === 'database';
  const db = openDatabase({ ...database, name: connectionName('muster-worker', { signs }) });
  await again('database', log, () => migrate(db));
  const cipher = env.MUSTER_SECRETS === 'kubernetes' ? null : openSecretCipher(paths.secretKey, { make: false });
  if (cipher !== null) await again('database', log, () => ensureSecretKey(db, cipher, paths.secretKey));
  const secrets =
    cipher === null
      ? recordedSecrets(db, await kubernetesSecrets(env.MUSTER_SECRETS_NAMESPACE))
      : createSecretStore(db, cipher);
  const shippedConfigMaps = openConfigMaps(paths.configMaps);
  const configMaps =
    env.MUSTER_CONFIGMAPS === 'kubernetes'
      ? await kubernetesConfigMaps(env.MUSTER_SECRETS_NAMESPACE, DEFAULT_NAMESPACE, shippedConfigMaps)
      : shippedConfigMaps;
  const shippedAnsibleConfig = await readFile(join(ROOT, 'ansible', 'ansible.cfg'), 'utf8');
  const makeSshKey = makeSshPrivateKey;
  await again('store of secrets', log, () =>
    ensureSiteValues({ db, secrets, configMaps, makeSshKey, shippedAnsibleConfig }),
  );
  const platformCa = env.MUSTER_CA_FILE && (await readFile(env.MUSTER_CA_FILE, 'utf8'));
  const site = createSiteValues({
    db,
    secrets,
    configMaps,
    sshFiles: openSshFiles(paths.ssh),
    platformCa: platformCa || undefined,
  });

  const trust = openTrust(env, {
    db,
    secrets,
    site,
    ca: platformCa || undefined,
    tempDir: temporary,
    searchPath: process.env.PATH ?? '',
  });

  const ansible = await findAnsible({
    binDir: env.MUSTER_ANSIBLE_BIN_DIR,
    cacheDir: env.MUSTER_CACHE_DIR,
    searchPath: process.env.PATH ?? '',
  });
  if (ansible === null) throw new EnvironmentError('ansible-playbook was not found: set MUSTER_ANSIBLE_BIN_DIR');
  const hostId = await readHostId(env.MUSTER_DATA_DIR);
  const python = await pythonOf(ansible);
  const launchers = join(ROOT, 'ansible', 'launcher');
  const runner = await createLocalRunner({
    runsDir: paths.runs,
    slots: env.MUSTER_LOCAL_RUNS,
    python,
    launcher: join(launchers, 'launch.py'),
  });
  const workspaces = createWorkspaces({ dir: paths.workspaces, shortDir: tmpdir() });
  const git = createGit({
    mirrorsDir: paths.mirrors,
    allowedSchemes: env.MUSTER_REPOSITORY_SCHEMES,
    tempDir: temporary,
    environment: process.env,
    log: (message) => log.info(message),
  });

  void makePrivate(privatePaths(env.MUSTER_DATA_DIR)).then((failed) => {
    if (failed.length > 0) log.warn({ failed: failed.slice(0, 10) }, 'others may read files of the data directory');
  });

  const cluster = await openCluster(env);
  const settings = temporalSettings(env, 'worker');
  const keyFiles = { given: env.MUSTER_MAC_KEY_FILE, own: paths.macKey, secretKey: paths.secretKey };
  const { signing, ...requirement } = openSigning(db, signs ? () => findMacKey(keyFiles) : null, log);
  await again('the requirement of MACs', log, requirement.follow);
  const temporal = connectTemporal(settings, tracing ? tracing.clientInterceptors : {}, signing && { ...signing, log });
  const builtIn = openBuiltInImages(env, { db, client: temporal.client, log });
  const queue = hostQueueOf(hostId);
  const imageMachine = await openImageMachine(env, { db, imagesDir: paths.images, queue, log });
  const images = openImages(env, {
    secrets,
    ca: platformCa || undefined,
    tempDir: temporary,
    searchPath: process.env.PATH ?? '',
    builtIn: builtIn.service,
  });
  const deps = {
    ...images,
    db,
    client: temporal.client,
    readOptions: () => readOptions(db),
    clock: () => new Date(),
    freeDisk: workspaces.free,
    minFreeDisk: env.MUSTER_MIN_FREE,
    clones: git,
    mirrors: git,
    runner,
    requirements: createMissingRequirements({
      python,
      script: join(ROOT, 'ansible', 'muster_run', 'requirements_check.py'),
    }),
    workspaces,
    site,
    trust,
    publicKeyOf: openSshKeygen({ tempDir: temporary, searchPath: process.env.PATH ?? '' }).publicKeyOf,
    tenantVault: tenantVault(env, platformCa || undefined),
    inventories: createInventories(inventoryProvider(env, db)),
    hostId,
    owners: [sessionOwner(db)],
    playbookCommand: env.MUSTER_PLAYBOOK_COMMAND ?? join(ansible, 'ansible-playbook'),
    debugPlaybooks: join(ROOT, 'ansible', 'debug'),
    ansibleHosts: createAnsibleHosts({
      binDir: ansible,
      python,
      readInventory: join(launchers, 'read_inventory.py'),
      tempDir: temporary,
    }),
    baseEnvironment: baseEnvironment(process.env, ansible),
    auditKept: { days: env.MUSTER_AUDIT_DAYS, rows: env.MUSTER_AUDIT_ROWS },
    logMaxBytes: env.MUSTER_LOG_MAX,
    ara: env.MUSTER_ARA_SERVER_URL
      ? { server: env.MUSTER_ARA_SERVER_URL, credentialsFile: env.MUSTER_ARA_CREDENTIALS_FILE }
      : undefined,
    defaultRunner: env.MUSTER_RUNNER,
    hasCluster: cluster !== null,
    heads: git,
    profile: env.MUSTER_RUNNER_PROFILE,
    patience: { waiting: env.MUSTER_RUNNER_WAIT * 1000, impossible: env.MUSTER_RUNNER_IMPOSSIBLE * 1000 },
    ingestUrl: env.MUSTER_RUNNER_INGEST_URL,
    log,
  };
  const parts = { hardwareSync: env.MUSTER_HARDWARE_SYNC_URL !== undefined };
  const host = createHostActivities(deps);
  const webhooks = {
    ...deps,
    secrets,
    addressSeal: openAddressSeal(db, secrets, cipher),
    webhooks: createWebhookSender({ ca: platformCa || undefined }),
  };
  const sweep = createSweepActivities({
    ...deps,
    laneSweeps: [{ lane: 'webhooks', sweep: () => sweepWebhooks(webhooks) }],
  });
  // The batcher's own sessions are started from here, whether or not an API runs.
  const dispatcher = createDispatcher({
    db,
    client: temporal.client,
    log,
    pollMs: OUTBOX_POLL_MS,
    ...(tracing ? { within: tracing.within } : {}),
  });

  const connection = await connectWorkers(settings, log);
  await again('Temporal', log, () => registerSearchAttributes(temporal.connection, settings.namespace));
  await again('Temporal', log, () => reconcileSchedules(temporal.client, parts));
  await again('Temporal', log, () => renewTrustNow(temporal.client));
  const stopSchedules = keepSchedules(temporal.client, log, parts);
  const stopFollowing = followLoggingLevel({ db, database, log });
  await again('Temporal', log, () => ensureBatcher(temporal.client));
  if (parts.hardwareSync) await again('Temporal', log, () => ensureHardwareSync(temporal.client, MAIN_QUEUE));
  const stopKeeping = keepRunning(
    {
      batcher: () => ensureBatcher(temporal.client),
      webhooks: () => wakeWebhooks(deps),
      ...(parts.hardwareSync ? { 'hardware sync': () => ensureHardwareSync(temporal.client, MAIN_QUEUE) } : {}),
    },
    log,
  );
  const stopUserSchedules = keepUserSchedules({ ...deps, schedules: createScheduleEngine(temporal.client) });
  const stopChanges = followChanges({ client: temporal.client, database, log });
  const stopNotifications = followNotifications({ ...deps, database });

  const shared = workerOptions(connection, settings, { tracing: tracing || undefined, signing, log });
  const main = await Worker.create({
    ...shared,
    taskQueue: MAIN_QUEUE,
    workflowBundle: {
      codePath: await workflowBundle(paths.bundles, tracing ? tracing.workflowInterceptors : undefined),
    },
    activities: {
      ...createSessionRecords(deps),
      ...createImageActivities(deps),
      ...builtIn.activities,
      ...createBatcherActivities({ ...deps, dispatcher }),
      ...createScheduleActivities({
        ...deps,
        dispatcher,
        git,
        repositoryAccess: site.repositoryAccess,
        // A schedule acts for no tenant.
        tenants: withoutRegistry(),
      }),
      ...createTrustActivities(deps),
      ...createHardwareSyncActivities({ ...deps, listHardware: hardwareList(env), taskQueue: MAIN_QUEUE }),
      ...createWebhookActivities(webhooks),
      cloneLayers: host.cloneLayers,
      sweepSessions: sweep.sweepSessions,
      noteMachineAway: sweep.noteMachineAway,
      expireSessions: sweep.expireSessions,
    },
    // A clone waits for the network, not for a core.
    maxConcurrentActivityTaskExecutions: 50,
    // Queued sessions sleep in the engine; holding more of them here would only cost memory.
    maxCachedWorkflows: 200,
  });
  const machine = await Worker.create({
    ...shared,
    taskQueue: queue,
    activities: { ...host, ...imageMachine?.activities, cleanHost: sweep.cleanHost, ...createRunActivities(deps) },
    // The runner itself limits how many playbooks there are.
    maxConcurrentActivityTaskExecutions: WATCHING_PLACES,
  });
  const workers = [main, machine];
  if (cluster !== null) {
    workers.push(
      await Worker.create({
        ...shared,
        taskQueue: hostQueueOf(CLUSTER_HOST),
        activities: createClusterActivities({ ...deps, cluster }),
        maxConcurrentActivityTaskExecutions: WATCHING_PLACES,
      }),
    );
  }
  stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const stopAnnouncing = imageMachine?.announce();
  const stopAnnouncingRuns = announceRunMachine(deps, { machine: hostId, queue, kind: SESSION_MACHINES });
  log.info({ queue: MAIN_QUEUE, host: hostId, localRuns: env.MUSTER_LOCAL_RUNS }, 'working');
  // The supervisor of the embedded stack waits for this word.
  process.send?.('ready');
  const identity = settings.identity;
  const polls = watchPolls(temporal.connection, { namespace: settings.namespace, queue: MAIN_QUEUE, identity });
  liveness.ready(() => {
    const idle = workers.find((worker) => worker.getState() !== 'RUNNING');
    return idle === undefined ? polls.problem() : `one of its workers is ${idle.getState()}`;
  });
  collectAfterStart();
  collectNowAndThen();
  probes?.ready(() => workers.every((worker) => worker.getState() === 'RUNNING'));
  await Promise.all(workers.map((worker) => worker.run()));
  polls.stop();
  stopAnnouncing?.();
  stopAnnouncingRuns();
  stopSchedules();
  await stopKeeping();
  await stopUserSchedules();
  await stopChanges();
  await stopNotifications();
  await dispatcher.stop();
  await stopFollowing();
  await requirement.stop();
  await connection.close();
  await temporal.close();
  await db.destroy();
  if (tracing) await tracing.close();
  await probes?.close();
}

/** Where dynamic inventories come from here. */
function inventoryProvider(env: Environment, db: Db): InventoryProvider {
  if (env.MUSTER_INVENTORY === 'hsm') {
    const caFile = env.MUSTER_CA_FILE;
    return { kind: 'hsm', read: createHsmClient({ baseUrl: env.MUSTER_HSM_URL, ...(caFile ? { caFile } : {}) }) };
  }
  return {
    kind: 'components',
    readComponents: (ids) => inventoryComponents(db, ids),
    anyGroup: (names) => anyGroupOfTags(db, names),
    allowLocalConnection: env.MUSTER_ALLOW_LOCAL_CONNECTION,
  };
}

/** Where playbooks read the secrets of tenants; undefined where they have none. */
function tenantVault(env: Environment, ca: string | undefined) {
  const { MUSTER_TENANT_VAULT_URL: url, MUSTER_TENANT_VAULT_ROLE: role, MUSTER_VAULT_JWT_FILE: jwtFile } = env;
  return url === undefined ? undefined : openTenantVault({ url, role, jwtFile, ca });
}

/** What lists the nodes that become components; undefined where nothing does. */
function hardwareList(env: Environment): ListHardware | undefined {
  const { MUSTER_HARDWARE_SYNC_URL: baseUrl, MUSTER_CA_FILE: caFile } = env;
  return baseUrl === undefined ? undefined : createHardwareList({ baseUrl, ...(caFile ? { caFile } : {}) });
}

main().catch((error) => {
  const isExpected = error instanceof EnvironmentError || isMusterError(error);
  process.stderr.write(`${isExpected ? error.message : (error?.stack ?? error)}\n`);
  process.exit(isExpected ? 2 : 1);
});
