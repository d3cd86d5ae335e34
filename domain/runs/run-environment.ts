/** Environment of a layer's playbook: what Ansible must know, and CFS's own names for playbooks that read them (cfs-flows 4.1). */
export interface RunEnvironment {
  /** PATH, HOME, language and the like of the machine; nothing of Muster's own settings. */
  base: Record<string, string>;
  sessionName: string;
  layer: number;
  cloneUrl: string;
  playbook: string;
  commit: string;
  targetDefinition: string;
  recordsState: boolean;
  /** ARA server that the run reports to as well; unset: none. */
  ara?: { server: string; credentials: string | undefined } | undefined;
  /**
   * The hosts are images: root logs in with the key of the inventory, whatever host key is shown. `freeArguments`: ansible.cfg has
   * no options for ssh that ours would replace.
   */
  image?: { freeArguments: boolean } | undefined;
  paths: {
    /** Workspace of the session, private to it. */
    workspace: string;
    ansibleConfig: string;
    inventory: string;
    roles: string;
    sshKey: string;
    /** Another key to offer to hosts; unset: none, or ansible.cfg has options for ssh that this would replace. */
    plainKey?: string | undefined;
    /** Short, since ssh refuses long socket names. */
    controlPath: string;
    vaultPassword: string | null;
  };
}

/** The host key of an image is new each time and must not be remembered. */
const IMAGE_ARGUMENTS = '-o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o LogLevel=ERROR';

/** Where every playbook of Muster finds its files, and what none of them does. */
export function ansibleEnvironment({
  base,
  paths,
}: Pick<RunEnvironment, 'base'> & {
  paths: Omit<RunEnvironment['paths'], 'plainKey'>;
}): Record<string, string> {
  return {
    ...base,
    ANSIBLE_CONFIG: paths.ansibleConfig,
    ANSIBLE_INVENTORY: paths.inventory,
    ANSIBLE_ROLES_PATH: paths.roles,
    ANSIBLE_HOME: `${paths.workspace}/ansible-home`,
    ANSIBLE_LOCAL_TEMP: `${paths.workspace}/tmp`,
    ANSIBLE_PRIVATE_KEY_FILE: paths.sshKey,
    ANSIBLE_SSH_CONTROL_PATH_DIR: paths.controlPath,
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_RETRY_FILES_ENABLED: 'False',
    ...(paths.vaultPassword === null ? {} : { ANSIBLE_VAULT_PASSWORD_FILE: paths.vaultPassword }),
  };
}

/** Options by which another key is offered to hosts besides that of the environment. */
export function plainKeyEnvironment(plainKey: string): Record<string, string> {
  return { ANSIBLE_SSH_COMMON_ARGS: offersKey(plainKey) };
}

export function runEnvironment(input: RunEnvironment): Record<string, string> {
  const { base, paths } = input;
  return {
    ...ansibleEnvironment({ base, paths }),
    SESSION_NAME: input.sessionName,
    SESSION_CLONE_URL: input.cloneUrl,
    SESSION_PLAYBOOK: input.playbook,
    SESSION_COMMIT: input.commit,
    LAYER_CURRENT: String(input.layer),
    INVENTORY_TYPE: input.targetDefinition,
    DISABLE_STATE_RECORDING: input.recordsState ? 'False' : 'True',
    ARA_DEFAULT_LABELS: input.sessionName,
    ARA_RECORD_CONTROLLER: 'false',
    ARA_RECORD_USER: 'false',
    ...(input.ara === undefined ? {} : { ARA_API_SERVER: input.ara.server }),
    ...(input.ara?.credentials === undefined ? {} : { MUSTER_ARA_CREDENTIALS: input.ara.credentials }),
    // Ports of images are used again, so that a connection must not outlive its layer.
    ...(input.image ? { ANSIBLE_SSH_CONTROL_PATH_DIR: `${paths.controlPath}/${input.layer}` } : {}),
    ...(input.image ? { ANSIBLE_REMOTE_USER: 'root', ANSIBLE_HOST_KEY_CHECKING: 'False' } : {}),
    ...(input.image?.freeArguments ? { ANSIBLE_SSH_COMMON_ARGS: IMAGE_ARGUMENTS } : {}),
    ...(paths.plainKey === undefined ? {} : plainKeyEnvironment(paths.plainKey)),
  };
}

/** Whether an ansible.cfg sets options for all of ssh's programs, which the environment would replace. */
export function setsCommonArguments(ansibleConfig: string): boolean {
  return /^[ \t]*ssh_common_args[ \t]*[=:]/im.test(ansibleConfig);
}

/** Options by which ssh offers a key; Ansible splits them as a shell does, and ssh expands `%`. */
function offersKey(path: string): string {
  return `-o 'IdentityFile="${path.replaceAll('%', '%%').replaceAll("'", "'\\''")}"'`;
}
