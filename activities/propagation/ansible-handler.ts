/** Actions that are playbooks: the file as it is, for one host, by the programs and with the identity of sessions. */
import { dirname, join } from 'node:path/posix';
import type { StepDependencies } from '../../control/propagation/dependencies.ts';
import { type ActionTarget, findTarget } from '../../control/propagation/find-target.ts';
import { noteRunWarning } from '../../control/propagation/note-run-warning.ts';
import { type FrozenAction, type ReadActionDependencies, readAction } from '../../control/propagation/read-action.ts';
import type { InventoryTree } from '../../domain/components/inventory/inventory-tree.ts';
import { ERRORS, isMusterError } from '../../domain/errors.ts';
import { componentTree, localTree, nodeTree } from '../../domain/propagation/action-login.ts';
import { actionVariables, ansibleResult } from '../../domain/propagation/ansible-action.ts';
import { unsupportedTarget } from '../../domain/propagation/handler-support.ts';
import { refuse } from '../../domain/propagation/plan-actions.ts';
import type { ActionFile, ActionWorkspaces } from '../../domain/propagation/ports.ts';
import { LOCALHOST } from '../../domain/propagation/target.ts';
import { ansibleEnvironment, plainKeyEnvironment, setsCommonArguments } from '../../domain/runs/run-environment.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import { variablesText } from '../../domain/runs/unsafe-values.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { commonFailure } from '../../store/runs/host-result-reads.ts';
import { sumHostResults } from '../../store/runs/host-results.ts';
import { findRun } from '../../store/runs/runs.ts';
import { keepIdentity } from '../sessions/machine/host-identity.ts';
import { placeVaultPassword } from '../sessions/machine/vault-password.ts';
import type { ActionHandler } from './action-handler.ts';
import { identityOf, type LoginDependencies, usesIdentity, writeLogin } from './write-login.ts';

export interface AnsibleDependencies extends ReadActionDependencies, StepDependencies, LoginDependencies {
  site: Pick<SiteValues, 'ssh' | 'ansibleConfig' | 'vaultPassword' | 'masks'>;
  workspaces: ActionWorkspaces;
  /** Text of the file of an inventory, and its name. */
  inventoryText(tree: InventoryTree): string;
  inventoryFile: string;
  playbookCommand: string;
  /** PATH, HOME and the like for playbooks. */
  baseEnvironment: Record<string, string>;
  logMaxBytes: number;
  /** Whether tasks may run on Muster's own machine. */
  allowsLocal: boolean;
}

/** Handler `ansible_playbook`. */
export function createAnsibleHandler(deps: AnsibleDependencies): ActionHandler {
  const clear = async (runId: string) => {
    await deps.logins.remove(runId);
    await deps.workspaces.remove(runId);
  };
  return {
    prepare: async (attempt, node, runId) => {
      try {
        return await prepare(deps, attempt, node, runId);
      } catch (error) {
        // What a refused action has written, keys among it, must not lie about. Another watcher may be at what is tried again.
        if (isMusterError(error) && !ERRORS[error.code].retryable) await clear(runId).catch(() => undefined);
        throw error;
      }
    },
    whileRunning: ({ number }, { target }, runId) => {
      if (target === LOCALHOST) return async () => undefined;
      const tell = (warning: string) => noteRunWarning(deps, { runId, number }, warning);
      // The key of a transport lasts as long as it likes.
      const kept = deps.logins
        .exists(deps.logins.paths(runId).ownKey)
        .then((hasOwn) => (hasOwn ? undefined : keepIdentity(identityOf(deps), runId, tell)));
      return async () => (await kept)?.();
    },
    result: async (_attempt, _node, run) => {
      const sums = await sumHostResults(deps.db, run.id);
      const isBad = run.exitCode !== 0 || sums.failures > 0 || sums.unreachable > 0;
      const why = isBad ? ((await commonFailure(deps.db, run.id)) ?? (await findRun(deps.db, run.id))?.error) : null;
      return { ...ansibleResult(run.exitCode, sums, why ?? null), verified: true };
    },
    clear: (_attempt, runId) => clear(runId),
  };
}

async function prepare(
  deps: AnsibleDependencies,
  attempt: AttemptRow,
  node: PlanNodeRow,
  runId: string,
): Promise<RunSpec> {
  const { db, site, workspaces, logins } = deps;
  const mistake = unsupportedTarget(node, deps);
  refuse(mistake === null ? [] : [mistake]);
  const action = await readAction(deps, node);
  const target = await findTarget(deps, node, action.inputs);
  await logins.make(runId);
  const paths = logins.paths(runId);
  const tree = await openLogin(deps, target, runId);
  const config = await site.ansibleConfig((await readOptions(db)).default_ansible_config);
  const dir = await workspaces.make(runId);
  const variables = actionVariables(action.inputs, action.secrets, {
    ...{ resource: node.resource, action: node.action, plan: node.plan, node: node.id, occurrence: node.occurrence },
    ...{ attempt: attempt.number, triggered_by: node.triggered_by },
  });
  const file = node.rules.file ?? '';
  await workspaces.write(dir, [
    ...definitionFiles(action, file),
    { path: 'ansible.cfg', content: config },
    { path: `hosts/${deps.inventoryFile}`, content: deps.inventoryText(tree) },
    { path: 'variables.json', content: variablesText(variables) },
  ]);
  const offersPlainKey = usesIdentity(target) && deps.trust.hasOwnKey && !setsCommonArguments(config);
  return {
    runId,
    argv: [deps.playbookCommand, join(dir, CONTENT, file), '--extra-vars', `@${join(dir, 'variables.json')}`],
    cwd: join(dir, CONTENT),
    env: {
      ...ansibleEnvironment({
        base: deps.baseEnvironment,
        paths: {
          workspace: dir,
          ansibleConfig: join(dir, 'ansible.cfg'),
          inventory: join(dir, 'hosts'),
          roles: join(dir, CONTENT, 'roles'),
          sshKey: usesIdentity(target) ? paths.sshKey : paths.ownKey,
          controlPath: paths.controlPath,
          vaultPassword: await placeVaultPassword({ workspaces: logins, site }, runId),
        },
      }),
      ...(offersPlainKey ? plainKeyEnvironment(paths.plainKey) : {}),
    },
    secretEnv: {},
    masks: [...(await site.masks([])), ...action.secrets.values(), ...(target.kind === 'node' ? keysOf(target) : [])],
    logMaxBytes: deps.logMaxBytes,
  };
}

/** Folder of the definition's files. */
const CONTENT = 'definition';
/** Folder of modules in a definition, and the name under which Ansible finds one beside a playbook. */
const OWN_MODULES = 'ansible_library/';
const MODULES = 'library';

/** The files of the definition. Its modules stand beside the playbook as well, where they hide none that ansible.cfg names. */
function* definitionFiles({ files }: FrozenAction, playbook: string): Generator<ActionFile> {
  for (const [path, content] of files) {
    const executable = content.subarray(0, 2).toString('latin1') === '#!';
    yield { path: join(CONTENT, path), content, executable };
    if (!path.startsWith(OWN_MODULES)) continue;
    const beside = join(dirname(playbook), MODULES, path.slice(OWN_MODULES.length));
    if (!files.has(beside)) yield { path: join(CONTENT, beside), content, executable };
  }
}

const keysOf = ({ key }: { key: string | null }): string[] => (key === null ? [] : [key]);

/** Writes what ssh needs, and returns the inventory of the target. */
async function openLogin(deps: AnsibleDependencies, target: ActionTarget, runId: string): Promise<InventoryTree> {
  const rules = { allowLocalConnection: deps.allowsLocal };
  await writeLogin(deps, target, runId);
  if (target.kind === 'local') return localTree();
  if (target.kind === 'component') return componentTree(target.component, rules);
  return nodeTree(target.address, target.transport, deps.logins.paths(runId).knownHosts, rules);
}
