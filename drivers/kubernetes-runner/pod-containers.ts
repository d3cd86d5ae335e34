import type { JobSpec } from '../../domain/sessions/cluster/cluster-job.ts';
import { COMPATIBLE_EXTRA_VARS } from '../../domain/sessions/cluster/pod-paths.ts';
import { placesImageKey, temporaryOf } from './pod-volumes.ts';
import { isRestricted, type RunnerSettings } from './runner-settings.ts';

const CA_FILE = '/etc/cray/ca/certificate_authority.crt';
const HOME = '/muster/work/home';
const PYTHON = { ansible: '/opt/muster/venv/bin/python3', util: 'python3' } as const;
/** As the reference's; our own step has a back-off of its own (cfs-flows 2.6). */
const GIT_RETRY = { GIT_RETRY_MAX: '60', GIT_RETRY_DELAY: '10' } as const;

type Container = 'git-clone' | 'inventory' | 'ansible' | 'teardown';
interface Mount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

const mount = (name: string, mountPath: string): Mount => ({ name, mountPath });
const reading = (name: string, mountPath: string): Mount => ({ name, mountPath, readOnly: true });

const INVENTORY = mount('config-vol', '/inventory');
const KEYS = mount('ssh-vol', '/inventory/ssh');
const CA = reading('ca-pubkey', '/etc/cray/ca');
const TOKEN = reading('session', '/muster/session');
const withImageKey = (one: Mount): Mount => (one === TOKEN ? { ...TOKEN, name: 'session-inventory' } : one);

/** What each container sees; the work folder and what `ansible` may know of the Secret depend on the profile. */
const MOUNTS: Record<Container, Mount[]> = {
  'git-clone': [
    INVENTORY,
    CA,
    reading('session-clone', '/muster/session'),
    reading('credentials', '/muster/credentials'),
  ],
  inventory: [
    INVENTORY,
    KEYS,
    CA,
    TOKEN,
    reading('ansible-config', '/tmp/ansible'),
    reading('cfs-trust-keys', '/secret-keys'),
    reading('cfs-trust-certificate', '/secret-certs'),
  ],
  ansible: [INVENTORY, KEYS, CA],
  teardown: [INVENTORY, KEYS, CA, TOKEN],
};

/** Names of a Job's containers, in the order in which they are shown. */
export function containerNames(image: boolean): Container[] {
  return ['git-clone', 'inventory', 'ansible', ...(image ? (['teardown'] as const) : [])];
}

/** The containers of a session's pod, by the step that each is (cfs-flows 1.3). */
export function podContainers(spec: JobSpec, settings: RunnerSettings) {
  const restricted = isRestricted(spec.profile);
  const container = (name: Container, step: string, env: object[], own: object = {}) => {
    const foreign = name === 'ansible' && !restricted;
    const python = name === 'ansible' ? PYTHON.ansible : PYTHON.util;
    return {
      name,
      image: name === 'ansible' ? settings.ansibleImage : settings.utilImage,
      imagePullPolicy: settings.pullPolicy,
      ...(foreign ? {} : { command: [python, '-m', 'muster_pod', step] }),
      ...own,
      env: [...env, ...(foreign ? [] : ourEnvironment(spec, settings, name))],
      volumeMounts: [
        ...(name === 'inventory' && placesImageKey(spec) ? MOUNTS[name].map(withImageKey) : MOUNTS[name]),
        ...(name === 'ansible' && restricted
          ? [reading('session-ansible', '/muster/session'), mount('work-vol', '/muster/work')]
          : []),
        ...(foreign && spec.extraVarsFiles > 0 ? [reading('extra-vars', COMPATIBLE_EXTRA_VARS)] : []),
        ...(restricted ? [mount(temporaryOf(name), '/tmp')] : []),
      ],
      ...securityOf(name, restricted),
    };
  };
  const named = { SESSION_NAME: spec.sessionName };
  const operator = { ...named, RESOURCE_NAMESPACE: settings.namespace, CFS_OPERATOR_LOG_LEVEL: spec.logLevel };
  const clone = container('git-clone', 'clone', [
    ...values({ ...named, GIT_SSL_CAINFO: CA_FILE }),
    ofSecret('VCS_USERNAME', spec.name, 'vcs_username'),
    ofSecret('VCS_PASSWORD', spec.name, 'vcs_password'),
    ...values({
      SESSION_CONFIGURATION_NAME: spec.configurationName,
      SESSION_CONFIGURATION_LIMIT: spec.configurationLimit,
      ...GIT_RETRY,
      VAULT_ADDR: spec.vaultAddress,
    }),
  ]);
  const ansible = container(
    'ansible',
    'ansible',
    [
      ...values({
        ...named,
        SSL_CAINFO: CA_FILE,
        ANSIBLE_ARGS: spec.ansibleArgs,
        INVENTORY_TYPE: spec.inventoryType,
        DISABLE_STATE_RECORDING: spec.stateRecordingDisabled ? 'True' : 'False',
        DEBUG_WAIT_TIME: String(spec.debugWaitSeconds),
      }),
      ofSecret('VAULT_TOKEN', spec.name, 'vault_token'),
      ...(spec.vaultAddress === '' ? [] : values({ VAULT_ADDR: spec.vaultAddress })),
      ...(restricted || settings.apiUrl === null ? [] : values({ MUSTER_API_URL: settings.apiUrl })),
    ],
    {
      args: [literal(spec.layersArgument)],
      resources: { requests: settings.requests, limits: settings.limits },
    },
  );
  return {
    initContainers: [clone],
    containers: [
      container(
        'inventory',
        'inventory',
        values({ ...operator, SSL_CAINFO: CA_FILE, INVENTORY_TYPE: spec.inventoryType }),
      ),
      ansible,
      ...(spec.image ? [container('teardown', 'teardown', values({ ...operator, SSL_CAINFO: CA_FILE }))] : []),
    ],
  };
}

/** What Muster's own programs need besides the contract. */
function ourEnvironment(spec: JobSpec, settings: RunnerSettings, container: Container): object[] {
  return values({
    MUSTER_INGEST_URL: settings.ingestUrl,
    MUSTER_SESSION_ID: spec.sessionId,
    MUSTER_TOKEN_FILE: '/muster/session/token',
    ...(settings.sidecarWait ? { MUSTER_RUNNER_SIDECAR_WAIT: '1' } : {}),
    ...(settings.warm === false && container === 'ansible' ? { MUSTER_ANSIBLE_WARM: 'off' } : {}),
    ...(isRestricted(spec.profile) ? { HOME: container === 'ansible' ? HOME : '/tmp' } : {}),
  });
}

/** `compatible` leaves its image alone; the steps around it are root's there, as the files are. */
function securityOf(container: Container, restricted: boolean): { securityContext?: object } {
  if (!restricted) return container === 'ansible' ? {} : { securityContext: { runAsUser: 0 } };
  return {
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
}

function values(variables: Record<string, string>): object[] {
  return Object.entries(variables).map(([name, value]) => ({ name, value: literal(value) }));
}

/** A text as Kubernetes passes it on unchanged: it replaces `$(NAME)` by that variable's value, and `$$` by `$`. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function ofSecret(name: string, secretName: string, key: string): object {
  return { name, valueFrom: { secretKeyRef: { name: secretName, key, optional: true } } };
}
