import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHostActivities, createSessionRecords } from '../../activities/sessions/activities.ts';
import { createClusterActivities } from '../../activities/sessions/cluster/cluster-activities.ts';
import { createImageActivities } from '../../activities/sessions/images/image-activities.ts';
import { createSweepActivities, sweepSessionRecords } from '../../activities/sessions/sweep-activities.ts';
import type { Environment } from '../../config/environment.ts';
import { sessionOwner } from '../../control/sessions/session-owner.ts';
import { wantedSweep } from '../../control/sessions/wanted-sweep.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { createAnsibleHosts } from '../../drivers/inventory/ansible-hosts.ts';
import { createInventories, type InventoryProvider } from '../../drivers/inventory/create-inventories.ts';
import { createHsmClient } from '../../drivers/inventory/hsm-client.ts';
import { createMissingRequirements } from '../../drivers/local-runner/missing-requirements.ts';
import { createWorkspaces } from '../../drivers/local-runner/workspaces.ts';
import { openTenantVault } from '../../drivers/tenants/tenant-vault.ts';
import { openSshKeygen } from '../../drivers/trust/ssh-keygen.ts';
import { anyGroupOfTags, eachInventoryPage, inventoryComponents } from '../../store/components/inventory-components.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { baseEnvironment } from '../base-environment.ts';
import { openCluster } from '../cluster.ts';
import { openImages } from '../image-service.ts';
import { keepRunning } from '../keep-running.ts';
import { every } from '../schedules.ts';
import { ROOT, type WorkerLane, type WorkerShared } from '../shared/open-shared.ts';

export const SESSION_SCHEDULES = [
  // Every worker keeps the sweep running, which makes a pass each minute. This is for workers that do not.
  every('muster-sweep', '10m', {
    workflowType: WORKFLOWS.sweep,
    workflowId: 'sweep',
    timeout: '15m',
    summary: 'compares records and workflows, ends what nobody owns',
  }),
  // CFS promises five minutes; so one that fails does not break the promise.
  every('muster-session-ttl', '2m', {
    workflowType: WORKFLOWS.expireSessions,
    workflowId: 'session-ttl',
    timeout: '40m',
    summary: 'deletes complete sessions older than option session_ttl',
  }),
];

/** Sessions, wherever their layers run, and the sweep of each minute. */
export const sessions: WorkerLane = async (shared) => {
  const { env, db, client, log } = shared;
  const cluster = await openCluster(env);
  const deps = { ...sessionDependencies(shared), hasCluster: cluster !== null };
  const host = createHostActivities(deps);
  const startSweep = () => tellOrThrow(client, wantedSweep());
  const sweep = createSweepActivities({ ...deps, owners: shared.owners, laneSweeps: shared.sweeps });
  return {
    main: {
      ...createSessionRecords(deps),
      ...createImageActivities(deps),
      cloneLayers: host.cloneLayers,
      sweepSessions: sweep.sweepSessions,
      noteMachineAway: sweep.noteMachineAway,
      expireSessions: sweep.expireSessions,
    },
    machine: { ...host, cleanHost: sweep.cleanHost },
    ...(cluster === null ? {} : { cluster: createClusterActivities({ ...deps, cluster }) }),
    schedules: SESSION_SCHEDULES,
    owners: [sessionOwner(db)],
    sweep: (signal) => sweepSessionRecords(deps, signal),
    begin: [['Temporal', startSweep]],
    background: [() => keepRunning({ sweep: startSweep }, log)],
  };
};

function sessionDependencies(shared: WorkerShared) {
  const { env, log, paths, temporary, searchPath, db, site, client, clock, git, ansible, python } = shared;
  const workspaces = createWorkspaces({ dir: paths.workspaces, shortDir: tmpdir() });
  return {
    ...openImages(env, {
      secrets: site.secrets,
      ca: site.platformCa,
      tempDir: temporary,
      searchPath,
      builtIn: shared.builtInImages.service,
    }),
    db,
    client,
    clock,
    log,
    readOptions: () => readOptions(db),
    freeDisk: workspaces.free,
    minFreeDisk: env.MUSTER_MIN_FREE,
    clones: git,
    mirrors: git,
    heads: git,
    runner: shared.runner,
    requirements: createMissingRequirements({
      python,
      script: join(ROOT, 'ansible', 'muster_run', 'requirements_check.py'),
    }),
    workspaces,
    site: site.values,
    trust: shared.trust,
    publicKeyOf: openSshKeygen({ tempDir: temporary, searchPath }).publicKeyOf,
    tenantVault: tenantVault(env, site.platformCa),
    inventories: createInventories(inventoryProvider(env, db)),
    hostId: shared.hostId,
    playbookCommand: env.MUSTER_PLAYBOOK_COMMAND ?? join(ansible, 'ansible-playbook'),
    debugPlaybooks: join(ROOT, 'ansible', 'debug'),
    ansibleHosts: createAnsibleHosts({
      binDir: ansible,
      python,
      readInventory: join(ROOT, 'ansible', 'launcher', 'read_inventory.py'),
      tempDir: temporary,
    }),
    baseEnvironment: baseEnvironment(shared.environment, ansible),
    auditKept: { days: env.MUSTER_AUDIT_DAYS, rows: env.MUSTER_AUDIT_ROWS },
    logMaxBytes: env.MUSTER_LOG_MAX,
    ara: env.MUSTER_ARA_SERVER_URL
      ? { server: env.MUSTER_ARA_SERVER_URL, credentialsFile: env.MUSTER_ARA_CREDENTIALS_FILE }
      : undefined,
    defaultRunner: env.MUSTER_RUNNER,
    profile: env.MUSTER_RUNNER_PROFILE,
    patience: { waiting: env.MUSTER_RUNNER_WAIT * 1000, impossible: env.MUSTER_RUNNER_IMPOSSIBLE * 1000 },
    ingestUrl: env.MUSTER_RUNNER_INGEST_URL,
  };
}

/** Components of the whole fleet that are in memory at a time, twice: others wait for the event loop meanwhile. */
const INVENTORY_PAGE = 5_000;

/** Does pieces of work one behind the other, whatever came of the former. */
function createOrder(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine;
    return mine;
  };
}

/** Where dynamic inventories come from here. */
function inventoryProvider(env: Environment, db: Db): InventoryProvider {
  if (env.MUSTER_INVENTORY === 'hsm') {
    const caFile = env.MUSTER_CA_FILE;
    return { kind: 'hsm', read: createHsmClient({ baseUrl: env.MUSTER_HSM_URL, ...(caFile ? { caFile } : {}) }) };
  }
  // Each reading of the fleet holds a connection for as long as its pages are worked on, and all of them share this process.
  const oneByOne = createOrder();
  return {
    kind: 'components',
    readComponents: (ids) => inventoryComponents(db, ids),
    eachPage: (take) => oneByOne(() => eachInventoryPage(db, INVENTORY_PAGE, take)),
    anyGroup: (names) => anyGroupOfTags(db, names),
    allowLocalConnection: env.MUSTER_ALLOW_LOCAL_CONNECTION,
  };
}

/** Where playbooks read the secrets of tenants; undefined where they have none. */
function tenantVault(env: Environment, ca: string | undefined) {
  const { MUSTER_TENANT_VAULT_URL: url, MUSTER_TENANT_VAULT_ROLE: role, MUSTER_VAULT_JWT_FILE: jwtFile } = env;
  return url === undefined ? undefined : openTenantVault({ url, role, jwtFile, ca });
}
