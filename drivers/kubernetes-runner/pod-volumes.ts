import type { JobSpec } from '../../domain/sessions/cluster/cluster-job.ts';
import { EXTRA_VARS_KEY } from '../../domain/sessions/cluster/pod-paths.ts';
import { isRestricted, type RunnerSettings } from './runner-settings.ts';

/** Files of the session's Secret as a container sees them: key of the Secret, name of the file. */
type SecretFiles = readonly (readonly [key: string, path: string])[];

/** What `ansible` needs of the Secret besides its token. */
const ANSIBLE_FILES: SecretFiles = [
  'masks.json',
  'vault_password',
  'ara_credentials',
  'private',
  'certificate',
  'certificate_until',
  'public',
  'plain_key',
  'known_hosts',
  'id_image',
].map((name) => [name, name]);

/** Keys for repositories that are cloned over ssh. */
const CLONE_FILES: SecretFiles = ['private', 'plain_key', 'known_hosts'].map((name) => [name, name]);

const TOKEN: SecretFiles = [['token', 'token']];
const KEYS_SIZE = '4Mi';
/** For its group and, in profile `compatible`, for root. */
const SECRET_MODE = 0o440;

/** The name of a container's own temporary folder. */
export function temporaryOf(container: string): string {
  return `tmp-${container}`;
}

/** Whether step `inventory` has to put the key for images into place: a runner image that is not ours sees nothing of the Secret. */
export function placesImageKey({ profile, image }: Pick<JobSpec, 'profile' | 'image'>): boolean {
  return image && !isRestricted(profile);
}

/**
 * Volumes of a session's pod (cfs-flows 1.3): repositories and inventory, keys, credentials and each container's share of the
 * session's Secret are apart, so that a container sees only its own. Files of the Secret follow when that changes.
 */
export function podVolumes(spec: JobSpec, settings: RunnerSettings, containers: readonly string[]): object[] {
  const { medium, size } = settings.workspace;
  const room = { ...(medium === '' ? {} : { medium }), sizeLimit: size };
  const secret = (name: string, required: SecretFiles, optional: SecretFiles = []) => ({
    name,
    projected: {
      defaultMode: SECRET_MODE,
      sources: [...files(spec.name, required, false), ...files(spec.name, optional, true)],
    },
  });
  return [
    { name: 'config-vol', emptyDir: room },
    { name: 'ssh-vol', emptyDir: { medium: 'Memory', sizeLimit: KEYS_SIZE } },
    secret('session', TOKEN),
    secret('session-clone', TOKEN, CLONE_FILES),
    secret(
      'credentials',
      [],
      [
        ['credentials.json', 'credentials.json'],
        ['vcs.json', 'vcs.json'],
      ],
    ),
    secret('ansible-config', [], [['ansible.cfg', 'ansible.cfg']]),
    secret(
      'cfs-trust-keys',
      [],
      [
        ['private', 'id_ecdsa'],
        ['public', 'id_ecdsa.pub'],
      ],
    ),
    secret('cfs-trust-certificate', [], [['certificate', 'id_ecdsa-cert.pub']]),
    // The certificate authorities that the site trusts (MUSTER_CA_FILE), where it has said so: CFS keeps them in a ConfigMap. Whoever
    // an image runs as may read them.
    { name: 'ca-pubkey', projected: { sources: files(spec.name, [['ca.crt', 'certificate_authority.crt']], true) } },
    ...(isRestricted(spec.profile)
      ? [
          secret('session-ansible', TOKEN, ANSIBLE_FILES),
          { name: 'work-vol', emptyDir: room },
          ...containers.map((container) => ({ name: temporaryOf(container), emptyDir: { sizeLimit: size } })),
        ]
      : []),
    // As the certificate authorities: whoever the image runs as reads them, and nothing else is in that volume.
    ...(spec.extraVarsFiles > 0
      ? [{ name: 'extra-vars', projected: { sources: files(spec.name, extraVarsOf(spec), false) } }]
      : []),
    ...(placesImageKey(spec) ? [secret('session-inventory', TOKEN, [['id_image', 'id_image']])] : []),
  ];
}

function extraVarsOf({ extraVarsFiles }: JobSpec): SecretFiles {
  return Array.from({ length: extraVarsFiles }, (_, number) => [`${EXTRA_VARS_KEY}${number}`, String(number)]);
}

function files(secretName: string, wanted: SecretFiles, optional: boolean): object[] {
  if (wanted.length === 0) return [];
  const items = wanted.map(([key, path]) => ({ key, path }));
  // One source for each file that may be missing: a missing key of a source leaves out none of the others.
  const groups = optional ? items.map((item) => [item]) : [items];
  return groups.map((group) => ({ secret: { name: secretName, items: group, ...(optional ? { optional } : {}) } }));
}
