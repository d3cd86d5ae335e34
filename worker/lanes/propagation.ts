import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ActionHandlers } from '../../activities/propagation/action-handler.ts';
import {
  createAttemptActivities,
  createPlanActivities,
  createRepositoryActivities,
} from '../../activities/propagation/activities.ts';
import { createAnsibleHandler } from '../../activities/propagation/ansible-handler.ts';
import { createAttemptRuns } from '../../activities/propagation/attempt-runs.ts';
import { createShellHandler } from '../../activities/propagation/shell-handler.ts';
import { attemptOwner } from '../../control/propagation/attempt-owner.ts';
import { sweepSyncs } from '../../control/propagation/sync-repository.ts';
import { followLeases, sweepPlans } from '../../control/propagation/wake-plans.ts';
import type { Evaluator } from '../../domain/propagation/ports.ts';
import { createActionLogins } from '../../drivers/actions/action-logins.ts';
import { createActionWorkspaces } from '../../drivers/actions/action-workspaces.ts';
import { createEvaluator } from '../../drivers/actions/evaluator.ts';
import { createTargetShells } from '../../drivers/actions/remote-shell.ts';
import { GENERATED_INVENTORY, inventoryData } from '../../drivers/inventory/write-inventory.ts';
import { createDefinitionCheckouts } from '../../drivers/propagation-content/definition-checkouts.ts';
import { readYaml } from '../../drivers/propagation-content/read-yaml.ts';
import { baseEnvironment } from '../base-environment.ts';
import { ROOT, type WorkerLane, type WorkerShared } from '../shared/open-shared.ts';

/**
 * Plans: their steps, their attempts on this machine, the sweep that finds plans without a driver, the word that a lease is free.
 * Repositories of definitions that are read from git.
 */
export const propagation: WorkerLane = (shared) => {
  const evaluator = createEvaluator({
    python: shared.python,
    script: join(ROOT, 'ansible', 'evaluator', 'evaluate.py'),
    tempDir: shared.temporary,
  });
  const handlers = shared.env.MUSTER_RUNNER === 'kubernetes' ? {} : handlersOf(shared, evaluator);
  const attempts = createAttemptActivities({
    ...shared,
    attempts: createAttemptRuns({
      ...shared,
      handlers,
    }),
  });
  const repositories = createRepositoryActivities({
    ...shared,
    readYaml,
    checkouts: createDefinitionCheckouts({ tempDir: shared.temporary }),
    site: shared.site.values,
  });
  return {
    main: { ...createPlanActivities(shared), ...attempts, ...repositories },
    machine: attempts,
    owners: [attemptOwner(shared.db)],
    sweep: async () => {
      await sweepPlans(shared);
      await sweepSyncs(shared);
    },
    background: [() => followLeases(shared), () => () => evaluator.stop()],
  };
};

/** What executes actions on the machine of this worker. Workers in a cluster execute no code of users. */
function handlersOf(shared: WorkerShared, evaluator: Evaluator): ActionHandlers {
  const { db, env, site, paths, environment, ansible } = shared;
  const all = {
    db,
    secrets: site.secrets,
    workspaces: createActionWorkspaces({ runsDir: paths.runs }),
    baseEnvironment: baseEnvironment(environment, ansible),
    logMaxBytes: env.MUSTER_LOG_MAX,
    allowsLocal: env.MUSTER_ALLOW_LOCAL_CONNECTION,
    site: site.values,
    trust: shared.trust,
    logins: createActionLogins({ runsDir: paths.runs, shortDir: tmpdir() }),
  };
  const shells = createTargetShells({
    python: shared.python,
    program: join(ROOT, 'ansible', 'actions', 'over_ssh.py'),
    environment: all.baseEnvironment,
  });
  return {
    shell: createShellHandler({ ...all, evaluator, shells }),
    ansible_playbook: createAnsibleHandler({
      ...all,
      clock: shared.clock,
      inventoryText: (tree) => [...inventoryData(tree)].join(''),
      inventoryFile: GENERATED_INVENTORY,
      playbookCommand: env.MUSTER_PLAYBOOK_COMMAND ?? join(ansible, 'ansible-playbook'),
    }),
  };
}
