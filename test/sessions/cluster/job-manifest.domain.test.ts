import { describe, expect, test } from '@jest/globals';
import type { JobSpec } from '../../../domain/sessions/cluster/cluster-job.ts';
import { jobManifest, labelValue } from '../../../drivers/kubernetes-runner/job-manifest.ts';
import { podContainers } from '../../../drivers/kubernetes-runner/pod-containers.ts';
import { podVolumes } from '../../../drivers/kubernetes-runner/pod-volumes.ts';
import type { RunnerSettings } from '../../../drivers/kubernetes-runner/runner-settings.ts';

const SETTINGS: RunnerSettings = {
  namespace: 'runners',
  kubeconfig: null,
  ansibleImage: 'aee:1',
  utilImage: 'util:1',
  pullPolicy: 'IfNotPresent',
  requests: { memory: '4Gi', cpu: '500m' },
  limits: { memory: '6Gi', cpu: '8' },
  nodeSelector: {},
  tolerations: [],
  serviceAccount: null,
  ingestUrl: 'http://ingest:8101',
  apiUrl: null,
  sidecarWait: false,
  workspace: { size: '4Gi', medium: '' },
};

const SPEC: JobSpec = {
  name: 'cfs-0a34c4a2-95a1-4d7c-9bd0-6d3b4e1c9b11',
  sessionId: '4f5b0f3a-11f0-4b5e-8f0e-3a1f2b6f7a10',
  sessionName: 'night-run',
  configurationName: 'base',
  profile: 'restricted',
  image: false,
  ansibleArgs: '-v --limit x1',
  inventoryType: 'dynamic',
  stateRecordingDisabled: true,
  configurationLimit: 'web,db',
  debugWaitSeconds: 3600,
  layersArgument: '[{"layer":"0"}]',
  logLevel: 'INFO',
  vaultAddress: '',
  ttlSeconds: null,
  deadlineSeconds: null,
  extraVarsFiles: 0,
  secret: { token: 'not-to-be-seen' },
};

interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  resources?: object;
  env: { name: string; value?: string; valueFrom?: unknown }[];
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  securityContext?: Record<string, unknown>;
}

function made(spec: Partial<JobSpec> = {}, settings: Partial<RunnerSettings> = {}) {
  const job = jobManifest({ ...SPEC, ...spec }, { ...SETTINGS, ...settings });
  const pod = job.spec.template.spec as unknown as Record<string, unknown> & {
    initContainers: Container[];
    containers: Container[];
    volumes: { name: string; emptyDir?: object; projected?: { sources: Record<string, Source>[] } }[];
  };
  const all = [...pod.initContainers, ...pod.containers];
  const container = (name: string) => {
    const found = all.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no container ${name}`);
    const env = Object.fromEntries(found.env.map((one) => [one.name, one.value ?? one.valueFrom]));
    const mounts = Object.fromEntries(found.volumeMounts.map(({ name: volume, mountPath }) => [mountPath, volume]));
    return { ...found, values: env, mounts };
  };
  return { job, pod, all, container };
}

interface Source {
  name: string;
  optional?: boolean;
  items: { key: string; path: string }[];
}

describe('values of labels', () => {
  test.each([
    ['night-run', 'night-run'],
    ['batcher-0a34c4a2-95a1-4d7c-9bd0-6d3b4e1c9b11', 'batcher-0a34c4a2-95a1-4d7c-9bd0-6d3b4e1c9b11'],
    ['a'.repeat(70), 'a'.repeat(60)],
    [`${'a'.repeat(59)}.b`, 'a'.repeat(59)],
    [`${'a'.repeat(59)}-${'b'.repeat(9)}`, 'a'.repeat(59)],
    ['Team config (new)', 'Team_config__new'],
    ['ümlaut', 'mlaut'],
    ['---', ''],
    ['', ''],
  ])('%j is %j', (text, value) => {
    expect(labelValue(text)).toBe(value);
    expect(value).toMatch(/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/);
  });
});

describe('the Job of a session', () => {
  test('is named by its job, labelled on Job and pod, and kept until its result was read', () => {
    const { job } = made({ sessionName: 's'.repeat(45), configurationName: 'c'.repeat(60) });
    const labels = {
      cfsession: 's'.repeat(45),
      aee: 's'.repeat(45),
      configuration: 'c'.repeat(60),
      cfsversion: 'v3',
      'app.kubernetes.io/name': 'cray-cfs-aee',
      'app.kubernetes.io/managed-by': 'muster',
      'muster/session-id': SPEC.sessionId,
    };
    expect(job).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job' });
    expect(job.metadata).toEqual({ name: SPEC.name, namespace: 'runners', labels, finalizers: ['muster/result'] });
    expect(job.spec.template.metadata).toEqual({ labels, finalizers: ['muster/result'] });
  });

  test('begins suspended, is tried once and has no times unless they are asked for', () => {
    expect(made().job.spec).toMatchObject({ suspend: true, backoffLimit: 0 });
    expect(made().job.spec).not.toHaveProperty('ttlSecondsAfterFinished');
    expect(made().job.spec).not.toHaveProperty('activeDeadlineSeconds');
    expect(made({ ttlSeconds: 0, deadlineSeconds: 60 }).job.spec).toMatchObject({
      ttlSecondsAfterFinished: 0,
      activeDeadlineSeconds: 60,
    });
  });

  test.each([
    ['ttlSecondsAfterFinished', 'ttlSeconds', 2 ** 31 - 1],
    // In nanoseconds it has to fit into 64 bits, or the Job is over its time as it begins.
    ['activeDeadlineSeconds', 'deadlineSeconds', 9_223_372_036],
  ] as const)('has no larger %s than Kubernetes takes', (field, name, most) => {
    for (const [asked, given] of [
      [most - 1, most - 1],
      [most, most],
      [most + 1, most],
      [604_800 * 999_999_999, most],
      [Number.MAX_SAFE_INTEGER, most],
    ]) {
      expect(made({ [name]: asked }).job.spec).toHaveProperty(field, given);
    }
  });

  test('holds no secret value', () => {
    for (const profile of ['restricted', 'compatible'] as const) {
      expect(JSON.stringify(made({ profile, image: true }).job)).not.toContain('not-to-be-seen');
    }
  });

  test('goes where the site lets it go', () => {
    expect(made().pod).toMatchObject({ restartPolicy: 'Never' });
    for (const absent of ['nodeSelector', 'tolerations', 'affinity', 'priorityClassName', 'serviceAccountName']) {
      expect(made().pod).not.toHaveProperty(absent);
    }
    const tolerations = [{ key: 'team', operator: 'Exists' as const }];
    const { pod } = made({}, { nodeSelector: { disk: 'ssd' }, tolerations, serviceAccount: 'runner' });
    expect(pod).toMatchObject({ nodeSelector: { disk: 'ssd' }, tolerations, serviceAccountName: 'runner' });
  });

  test.each([
    ['restricted', null, false],
    ['restricted', 'runner', false],
    ['compatible', null, false],
    ['compatible', 'runner', true],
  ] as const)('in profile %s with service account %j mounts its token: %s', (profile, serviceAccount, mounted) => {
    expect(made({ profile }, { serviceAccount }).pod.automountServiceAccountToken).toBe(mounted);
  });
});

describe('the containers', () => {
  test.each([
    [false, ['inventory', 'ansible']],
    [true, ['inventory', 'ansible', 'teardown']],
  ])('for images: %s', (image, names) => {
    const { pod } = made({ image });
    expect(pod.initContainers.map(({ name }) => name)).toEqual(['git-clone']);
    expect(pod.containers.map(({ name }) => name)).toEqual(names);
  });

  test.each([
    ['git-clone', 'util:1', ['python3', '-m', 'muster_pod', 'clone']],
    ['inventory', 'util:1', ['python3', '-m', 'muster_pod', 'inventory']],
    ['ansible', 'aee:1', ['/opt/muster/venv/bin/python3', '-m', 'muster_pod', 'ansible']],
    ['teardown', 'util:1', ['python3', '-m', 'muster_pod', 'teardown']],
  ])('%s', (name, image, command) => {
    expect(made({ image: true }).container(name)).toMatchObject({ image, command, imagePullPolicy: 'IfNotPresent' });
  });

  test('of profile compatible: the runner image runs its own command, with the layers as its only argument', () => {
    const { container } = made({ profile: 'compatible', image: true });
    expect(container('ansible')).not.toHaveProperty('command');
    expect(container('ansible').args).toEqual([SPEC.layersArgument]);
    expect(container('teardown').command).toEqual(['python3', '-m', 'muster_pod', 'teardown']);
  });

  test('only ansible has resources, and the layers as its argument', () => {
    const { all, container } = made({ image: true });
    expect(all.filter(({ resources }) => resources !== undefined).map(({ name }) => name)).toEqual(['ansible']);
    expect(container('ansible')).toMatchObject({
      resources: { requests: { memory: '4Gi', cpu: '500m' }, limits: { memory: '6Gi', cpu: '8' } },
      args: [SPEC.layersArgument],
    });
    expect(all.filter(({ args }) => args !== undefined)).toHaveLength(1);
  });

  test('have the environment of the contract', () => {
    const { container } = made({ image: true });
    const ofSecret = (key: string) => ({ secretKeyRef: { name: SPEC.name, key, optional: true } });
    expect(container('git-clone').values).toMatchObject({
      GIT_SSL_CAINFO: '/etc/cray/ca/certificate_authority.crt',
      VCS_USERNAME: ofSecret('vcs_username'),
      VCS_PASSWORD: ofSecret('vcs_password'),
      SESSION_CONFIGURATION_NAME: 'base',
      SESSION_CONFIGURATION_LIMIT: 'web,db',
      GIT_RETRY_MAX: '60',
      GIT_RETRY_DELAY: '10',
      VAULT_ADDR: '',
    });
    for (const name of ['inventory', 'teardown']) {
      expect(container(name).values).toMatchObject({
        CFS_OPERATOR_LOG_LEVEL: 'INFO',
        SESSION_NAME: 'night-run',
        RESOURCE_NAMESPACE: 'runners',
      });
    }
    expect(container('ansible').values).toMatchObject({
      SESSION_NAME: 'night-run',
      SSL_CAINFO: '/etc/cray/ca/certificate_authority.crt',
      ANSIBLE_ARGS: '-v --limit x1',
      INVENTORY_TYPE: 'dynamic',
      DISABLE_STATE_RECORDING: 'True',
      DEBUG_WAIT_TIME: '3600',
      VAULT_TOKEN: ofSecret('vault_token'),
    });
    expect(container('ansible').values).not.toHaveProperty('VAULT_ADDR');
    const store = made({ vaultAddress: 'https://vault.test' });
    for (const name of ['git-clone', 'ansible']) {
      expect(store.container(name).values.VAULT_ADDR).toBe('https://vault.test');
    }
    expect(made({ stateRecordingDisabled: false }).container('ansible').values.DISABLE_STATE_RECORDING).toBe('False');
  });

  test.each(['INFO', 'DEBUG'] as const)('log as option logging_level says: %s', (logLevel) => {
    for (const name of ['inventory', 'teardown']) {
      expect(made({ image: true, logLevel }).container(name).values.CFS_OPERATOR_LOG_LEVEL).toBe(logLevel);
    }
  });

  test('get every text as it is: Kubernetes replaces $(NAME) and makes $ of $$', () => {
    /** What Kubernetes makes of a value or an argument. */
    const expanded = (text: string) =>
      text.replace(/\$(\$|\(([^)]*)\))/g, (_all, after: string, name: string) =>
        after === '$' ? '$' : `<value of ${name}>`,
      );
    const odd = 'pw=a$$b $$$(SESSION_NAME) $x $( $$(VAULT_TOKEN) $';
    const texts = { ansibleArgs: odd, configurationLimit: odd, layersArgument: odd, configurationName: odd };
    for (const profile of ['restricted', 'compatible'] as const) {
      const { container } = made({ ...texts, profile, vaultAddress: `https://${odd}` });
      const plain = (name: string, variable: string) => expanded(container(name).values[variable] as string);
      expect(plain('ansible', 'ANSIBLE_ARGS')).toBe(odd);
      expect(plain('git-clone', 'SESSION_CONFIGURATION_LIMIT')).toBe(odd);
      expect(plain('git-clone', 'SESSION_CONFIGURATION_NAME')).toBe(odd);
      expect(plain('git-clone', 'VAULT_ADDR')).toBe(`https://${odd}`);
      expect(container('ansible').args?.map(expanded)).toEqual([odd]);
    }
  });

  test("of ours know where to hand in; a foreign one gets the API's address instead", () => {
    const ours = {
      MUSTER_INGEST_URL: 'http://ingest:8101',
      MUSTER_SESSION_ID: SPEC.sessionId,
      MUSTER_TOKEN_FILE: '/muster/session/token',
    };
    for (const name of ['git-clone', 'inventory', 'ansible', 'teardown']) {
      expect(made({ image: true }).container(name).values).toMatchObject(ours);
    }
    const foreign = made({ profile: 'compatible' }, { apiUrl: 'http://api:8100' }).container('ansible').values;
    expect(foreign.MUSTER_API_URL).toBe('http://api:8100');
    for (const name of Object.keys(ours)) expect(foreign).not.toHaveProperty(name);
    expect(made({}, { apiUrl: 'http://api:8100' }).container('ansible').values).not.toHaveProperty('MUSTER_API_URL');
  });

  test('wait for a proxy only when they are told to', () => {
    expect(made().container('ansible').values).not.toHaveProperty('MUSTER_RUNNER_SIDECAR_WAIT');
    expect(made({}, { sidecarWait: true }).container('ansible').values.MUSTER_RUNNER_SIDECAR_WAIT).toBe('1');
  });

  test('keep Ansible warm unless they are told not to', () => {
    expect(made({}, { warm: true }).container('ansible').values).not.toHaveProperty('MUSTER_ANSIBLE_WARM');
    const { container } = made({}, { warm: false });
    expect(container('ansible').values.MUSTER_ANSIBLE_WARM).toBe('off');
    expect(container('inventory').values).not.toHaveProperty('MUSTER_ANSIBLE_WARM');
  });
});

describe('the volumes', () => {
  /** Files of the Secret that a container finds, by path. */
  function secretFiles(name: string, spec: Partial<JobSpec> = {}): Record<string, boolean> {
    const { pod, container } = made({ image: true, ...spec });
    const found: Record<string, boolean> = {};
    for (const [path, volume] of Object.entries(container(name).mounts)) {
      for (const { secret } of pod.volumes.find((one) => one.name === volume)?.projected?.sources ?? []) {
        for (const { path: file } of secret?.items ?? []) found[`${path}/${file}`] = secret?.optional !== true;
      }
    }
    return found;
  }
  const CA = { '/etc/cray/ca/certificate_authority.crt': false };
  const TOKEN = { '/muster/session/token': true };

  test.each<[string, Record<string, boolean>]>([
    [
      'git-clone',
      {
        ...CA,
        ...TOKEN,
        '/muster/session/private': false,
        '/muster/session/plain_key': false,
        '/muster/session/known_hosts': false,
        '/muster/credentials/credentials.json': false,
        '/muster/credentials/vcs.json': false,
      },
    ],
    [
      'inventory',
      {
        ...CA,
        ...TOKEN,
        '/tmp/ansible/ansible.cfg': false,
        '/secret-keys/id_ecdsa': false,
        '/secret-keys/id_ecdsa.pub': false,
        '/secret-certs/id_ecdsa-cert.pub': false,
      },
    ],
    [
      'ansible',
      {
        ...CA,
        ...TOKEN,
        ...Object.fromEntries(
          [
            'masks.json',
            'vault_password',
            'private',
            'certificate',
            'certificate_until',
            'public',
            'plain_key',
            'known_hosts',
            'id_image',
            'ara_credentials',
          ].map((name) => [`/muster/session/${name}`, false]),
        ),
      },
    ],
    ['teardown', { ...CA, ...TOKEN }],
  ])('%s sees of the Secret only what it needs', (name, files) => {
    expect(secretFiles(name)).toEqual(files);
  });

  test('a foreign runner sees nothing of the Secret, but for the certificate authorities', () => {
    expect(secretFiles('ansible', { profile: 'compatible' })).toEqual(CA);
  });

  test('for a foreign runner the step before it puts the key for images into place, where there are images', () => {
    const before = secretFiles('inventory');
    expect(secretFiles('inventory', { profile: 'compatible' })).toEqual({
      ...before,
      '/muster/session/id_image': false,
    });
    expect(secretFiles('inventory', { profile: 'compatible', image: false })).toEqual(before);
    expect(secretFiles('teardown', { profile: 'compatible' })).toEqual({ ...CA, ...TOKEN });
  });

  test('inventory and keys are apart, and in every container that needs them', () => {
    const { pod, container } = made({ image: true }, { workspace: { size: '1Gi', medium: 'Memory' } });
    const volume = (name: string) => pod.volumes.find((one) => one.name === name);
    expect(volume('config-vol')).toEqual({ name: 'config-vol', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } });
    expect(volume('ssh-vol')).toEqual({ name: 'ssh-vol', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } });
    for (const name of ['git-clone', 'inventory', 'ansible', 'teardown']) {
      expect(container(name).mounts['/inventory']).toBe('config-vol');
    }
    expect(container('git-clone').mounts).not.toHaveProperty('/inventory/ssh');
    expect(made().pod.volumes.find(({ name }) => name === 'config-vol')?.emptyDir).toEqual({ sizeLimit: '4Gi' });
  });

  test('every mount names a volume, and every volume is mounted', () => {
    for (const profile of ['restricted', 'compatible'] as const) {
      const { pod, all } = made({ profile, image: true });
      const names = pod.volumes.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const mounted = new Set(all.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)));
      expect([...mounted].filter((name) => !names.includes(name))).toEqual([]);
      expect(names.filter((name) => !mounted.has(name))).toEqual([]);
    }
  });
});

describe('what containers may do', () => {
  test('restricted: nothing but run as a user of their own', () => {
    const { pod, all, container } = made({ image: true });
    expect(pod.securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const { securityContext } of all) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(container('ansible').values.HOME).toBe('/muster/work/home');
    expect(container('ansible').mounts).toMatchObject({ '/muster/work': 'work-vol', '/tmp': 'tmp-ansible' });
    expect(container('git-clone').mounts['/tmp']).toBe('tmp-git-clone');
  });

  test('compatible: the image is left alone, the steps around it are root', () => {
    const { pod, container } = made({ profile: 'compatible', image: true });
    expect(pod).not.toHaveProperty('securityContext');
    expect(container('ansible')).not.toHaveProperty('securityContext');
    for (const name of ['git-clone', 'inventory', 'teardown']) {
      expect(container(name).securityContext).toEqual({ runAsUser: 0 });
    }
    expect(container('ansible').values).not.toHaveProperty('HOME');
    expect(container('ansible').mounts).not.toHaveProperty('/tmp');
  });
});

test('a runner image that is not ours gets its extra variables as files of the Secret, and sees nothing else of it', () => {
  const spec = { ...SPEC, profile: 'compatible' as const, extraVarsFiles: 2 };
  const { containers } = podContainers(spec, SETTINGS) as unknown as { containers: Container[] };
  const mounts = (name: string) =>
    containers.find((one) => one.name === name)?.volumeMounts.map((one) => one.mountPath);
  expect(mounts('ansible')).toContain('/muster/extra-vars');
  expect(mounts('inventory')).not.toContain('/muster/extra-vars');
  expect(podVolumes(spec, SETTINGS, ['ansible'])).toContainEqual({
    name: 'extra-vars',
    projected: {
      sources: [
        {
          secret: {
            name: SPEC.name,
            items: [
              { key: 'extra-vars-0', path: '0' },
              { key: 'extra-vars-1', path: '1' },
            ],
          },
        },
      ],
    },
  });
  expect(JSON.stringify(podVolumes(SPEC, SETTINGS, ['ansible']))).not.toContain('extra-vars');
});
