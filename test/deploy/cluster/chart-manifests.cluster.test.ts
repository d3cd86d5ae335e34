import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadEnvironment } from '../../../config/environment.ts';
import { CHART, helm, type Manifest, renderChart, renderKustomize } from '../../support/kubernetes/helm.ts';
import { plainManifests, readManifest } from '../../support/kubernetes/plain-manifests.ts';
import {
  environmentOf,
  permissionMistakes,
  podTemplates,
  rightsMistakes,
} from '../../support/kubernetes/pod-templates.ts';

const NEEDED = [
  'database.existingSecret=muster-database',
  'temporal.address=temporal:7233',
  'access.adminToken.existingSecret=muster-admin',
];
const set = (...values: string[]) => [...NEEDED, ...values].flatMap((value) => ['--set', value]);
const SECRETS = {
  'muster-database/url': 'postgres://muster:secret@db:5432/muster',
  'temporal-key/api-key': 'secret',
  'image-service/token': 'secret',
};
/** Every value that adds a setting, a file or an object. */
const EVERYTHING = [
  'database.ca.secret=database-ca',
  'temporal.tls.enabled=true',
  'temporal.tls.ca.configMap=temporal-ca',
  'temporal.tls.clientSecret=temporal-client',
  'temporal.apiKey.existingSecret=temporal-key',
  'temporal.uiUrl=https://temporal.example.com',
  'platformCa.configMap=platform-ca',
  'tls.existingSecret=api-tls',
  'access.oidc.issuer=https://issuer.example.com',
  'access.oidc.audience=muster',
  'access.oidc.rolesClaim=realm_access.roles',
  'access.oidc.roleMap=ops=operator',
  'api.allowedHosts={muster.example.com}',
  'ingress.enabled=true',
  'ingress.host=muster.example.com',
  'worker.metricsPort=8103',
  'imageService.enabled=true',
  'runner.namespace=muster-jobs',
  'runner.profile=compatible',
  'runner.apiUrl=https://gateway.example.com/cfs',
  'runner.sidecarWait=true',
  'runner.workspace.medium=Memory',
  'settings.MUSTER_INVENTORY=hsm',
  'settings.MUSTER_MAX_REQUESTS=32',
  'settings.MUSTER_IMS_URL=https://ims.example.com',
  'secretSettings.MUSTER_IMS_TOKEN.secret=image-service',
  'secretSettings.MUSTER_IMS_TOKEN.key=token',
];
const settingsOf = (objects: Manifest[], part: string) => {
  const container = podTemplates(objects).find((one) => one.part === part)?.containers[0] ?? {};
  return loadEnvironment(environmentOf(container, SECRETS));
};

test('the chart is well made', async () => {
  await helm(['lint', '--strict', CHART, '--kube-version', '1.36.0', ...set()]);
});

test('the plain manifests are what the chart makes ("npm run manifests" writes them)', async () => {
  for (const [path, text] of await plainManifests()) expect([path, await readManifest(path)]).toEqual([path, text]);
});

describe('with every value set', () => {
  test('all settings are settings of Muster, and say what the values said', async () => {
    const objects = await renderChart(set(...EVERYTHING));
    for (const { containers } of podTemplates(objects)) {
      for (const container of containers) {
        expect(() => loadEnvironment(environmentOf(container, SECRETS))).not.toThrow();
      }
    }
    expect(settingsOf(objects, 'api')).toMatchObject({
      MUSTER_TLS_CERT: '/etc/muster/tls/tls.crt',
      MUSTER_DATABASE_CA_FILE: '/etc/muster/database-ca/ca.crt',
      MUSTER_TEMPORAL_TLS: true,
      MUSTER_TEMPORAL_TLS_CERT: '/etc/muster/temporal-client/tls.crt',
      MUSTER_OIDC_ROLE_MAP: { ops: 'operator' },
      MUSTER_RUNNER_INGEST_URL: 'https://muster-ingest.muster.svc:8101',
      MUSTER_RUNNER_API_URL: 'https://gateway.example.com/cfs',
      MUSTER_RUNNER_NAMESPACE: 'muster-jobs',
      MUSTER_SECRETS_NAMESPACE: 'muster-jobs',
      MUSTER_INVENTORY: 'hsm',
      MUSTER_MAX_REQUESTS: 32,
    });
    expect(settingsOf(objects, 'worker')).toMatchObject({ MUSTER_TEMPORAL_METRICS: '0.0.0.0:8103' });
    const ofImages = settingsOf(objects, 'images');
    expect([ofImages.MUSTER_INVENTORY, ofImages.MUSTER_IMS_TOKEN]).toEqual(['hsm', undefined]);
  });

  test('every pod may pull its image with the named secrets, those of Jobs by their service account', async () => {
    const objects = await renderChart(set('images.pullSecrets={registry}'));
    const registry = [{ name: 'registry' }];
    for (const { pod } of podTemplates(objects)) expect(pod.imagePullSecrets).toEqual(registry);
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
    const ofJobs = accounts.find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'runner');
    expect(ofJobs?.imagePullSecrets).toEqual(registry);
    expect(settingsOf(objects, 'worker').MUSTER_RUNNER_SERVICE_ACCOUNT).toBe(ofJobs?.metadata.name);
  });

  test('nothing may do more for it', async () => {
    const objects = await renderChart(set(...EVERYTHING));
    expect([permissionMistakes(objects), rightsMistakes(objects)]).toEqual([[], []]);
    const roles = objects.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace);
    expect(roles).toEqual(['muster-jobs', 'muster-jobs', 'muster']);
  });

  test('monitoring is what Prometheus and Grafana take', async () => {
    const kinds = ['ServiceMonitor', 'PrometheusRule'];
    const none = await renderChart(set());
    expect(none.filter(({ kind, metadata }) => kinds.includes(kind) || /monitoring/.test(metadata.name))).toEqual([]);
    const on = ['serviceMonitor', 'rules', 'dashboard'].map((one) => `monitoring.${one}.enabled=true`);
    const token = 'monitoring.serviceMonitor.token.existingSecret=reader';
    const objects = await renderChart(set(...on, token, 'monitoring.rules.labels.release=prometheus'));
    const found = (wanted: string) =>
      objects.find(({ kind, metadata }) => kind === wanted && /monitoring/.test(metadata.name));
    expect(found('ServiceMonitor')?.spec.endpoints).toEqual([
      {
        port: 'api',
        path: '/metrics',
        interval: '30s',
        scheme: 'http',
        authorization: { credentials: { name: 'reader', key: 'token' } },
      },
    ]);
    const file = (name: string) => readFile(join(CHART, 'monitoring', name), 'utf8');
    expect(found('PrometheusRule')?.spec).toEqual(parse(await file('alerts.yaml')));
    expect(found('PrometheusRule')?.metadata.labels.release).toBe('prometheus');
    expect(found('ConfigMap')?.metadata.labels.grafana_dashboard).toBe('1');
    expect(JSON.parse(found('ConfigMap')?.data['muster.json'])).toEqual(JSON.parse(await file('dashboard.json')));
  });

  test('what a value switches off is not there', async () => {
    const off = ['networkPolicy.enabled=false', 'podDisruptionBudget.enabled=false', 'uninstall.enabled=false'];
    const objects = await renderChart(set(...off));
    const kinds = new Set(objects.map(({ kind }) => kind));
    expect([kinds.has('NetworkPolicy'), kinds.has('PodDisruptionBudget'), kinds.has('Ingress')]).toEqual([
      false,
      false,
      false,
    ]);
    expect(podTemplates(objects).map(({ part }) => part)).not.toContain('uninstall');
  });
});

test('beyond its namespaces the worker reads nodes, where that is asked for, and nothing else reaches there', async () => {
  const beyond = async (...values: string[]) =>
    (await renderChart(set(...values))).filter(({ kind }) => kind.startsWith('Cluster'));
  expect(await beyond()).toEqual([]);
  const [role, binding, ...more] = await beyond('runner.readNodes=true');
  expect(more).toEqual([]);
  expect(role?.rules).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] }]);
  expect(binding).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: role?.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: 'muster-worker', namespace: 'muster' }],
  });
});

test('behind a gateway nobody is asked for a token, and it says who asks', async () => {
  const objects = await renderChart(set('access.mode=gateway', 'access.actorHeader=X-User'));
  expect(settingsOf(objects, 'api')).toMatchObject({
    MUSTER_AUTH: 'none',
    MUSTER_TRUST_GATEWAY: true,
    MUSTER_ACTOR_HEADER: 'x-user',
  });
});

test('set-up and removal are hooks around the release, and what they need is there before them and gone after them', async () => {
  const objects = (await renderChart(set('runner.namespace=jobs'))).filter(({ metadata }) =>
    Object.hasOwn(metadata.annotations ?? {}, 'helm.sh/hook'),
  );
  const hooks = (hook: string) =>
    objects
      .filter(({ metadata }) => metadata.annotations['helm.sh/hook'] === hook)
      .map(({ kind, metadata: { namespace, name, annotations } }) => [
        `${namespace}/${kind}/${name}`,
        annotations['helm.sh/hook-weight'] ?? '0',
      ]);
  expect(Object.fromEntries(hooks('pre-install,pre-upgrade'))).toEqual({
    'muster/NetworkPolicy/muster-migrate-hook': '-1',
    'muster/Job/muster-migrate': '0',
  });
  expect(Object.fromEntries(hooks('pre-delete'))).toEqual({
    'muster/NetworkPolicy/muster-uninstall-hook': '-1',
    'muster/ServiceAccount/muster-uninstall': '-1',
    'jobs/Role/muster-uninstall': '-1',
    'jobs/RoleBinding/muster-uninstall': '-1',
    'muster/Role/muster-uninstall-scale': '-1',
    'muster/RoleBinding/muster-uninstall-scale': '-1',
    'muster/Job/muster-uninstall': '0',
  });
  const policies = objects.map(({ metadata }) => metadata.annotations['helm.sh/hook-delete-policy']);
  expect(new Set(policies)).toEqual(new Set(['before-hook-creation,hook-succeeded']));
});

test('nothing of the release that is not a hook is needed by one: it may never have come to be', async () => {
  const objects = await renderChart(set());
  const [removal] = objects.filter(({ kind, metadata }) => kind === 'Job' && metadata.name === 'muster-uninstall');
  const account = removal?.spec.template.spec.serviceAccountName;
  const of = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-delete');
  expect(of.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name).toBe(account);
  const bound = of.filter(({ kind }) => kind === 'RoleBinding');
  expect(bound.map(({ subjects }) => subjects[0].name)).toEqual([account, account]);
});

test('the time of the removal grows with its patience', async () => {
  const [removal] = (await renderChart(set('uninstall.patience=600'))).filter(
    ({ kind, metadata }) => kind === 'Job' && metadata.name === 'muster-uninstall',
  );
  expect(removal?.spec.activeDeadlineSeconds).toBe(2700);
  expect(removal?.spec.template.spec.containers[0].args[1]).toBe('600');
});

test('pods come to the ingest port through a gateway where there is one', async () => {
  const ingress = async (...values: string[]) => {
    const policies = (await renderChart(set(...values))).filter(({ kind }) => kind === 'NetworkPolicy');
    const rules = policies.find(({ metadata }) => metadata.name === 'muster-api')?.spec.ingress as Manifest[];
    return rules.filter(({ ports }) => ports[0].port === 8101).map(({ from }) => from?.[0]);
  };
  const runner = {
    podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/managed-by': 'muster' }) },
  };
  expect(await ingress()).toEqual([runner]);
  expect(await ingress('ingest.url=https://muster-ingest.example.com')).toEqual([undefined, runner]);
});

test('every address that is listened on can be one of IPv6', async () => {
  const objects = await renderChart(set('listenAddress=::', 'worker.metricsPort=8103', 'imageService.enabled=true'));
  expect(settingsOf(objects, 'api')).toMatchObject({ MUSTER_API_HOST: '::', MUSTER_INGEST_HOST: '::' });
  const probes = { MUSTER_WORKER_PROBES: '[::]:8102' };
  expect(settingsOf(objects, 'worker')).toMatchObject({ ...probes, MUSTER_TEMPORAL_METRICS: '[::]:8103' });
  expect(settingsOf(objects, 'images')).toMatchObject(probes);
});

describe('the image service', () => {
  const ON = ['imageService.enabled=true'];
  const claimsOf = (objects: Manifest[], part: string) =>
    podTemplates(objects)
      .find((one) => one.part === part)
      ?.pod.volumes.flatMap(({ persistentVolumeClaim: claim }: Manifest) => (claim ? [claim.claimName] : []));

  test('is off by default, and nobody then takes images in', async () => {
    const objects = await renderChart(set());
    expect(podTemplates(objects).map(({ part }) => part)).not.toContain('images');
    expect(objects.map(({ metadata }) => metadata.name).join()).not.toContain('images');
    for (const part of ['api', 'worker']) expect(settingsOf(objects, part).MUSTER_IMAGE_SERVICE).toBe(false);
  });

  test('is one pod with the files and the work, the API has the files alone', async () => {
    const objects = await renderChart(set(...ON));
    const [pod] = objects.filter(({ kind }) => kind === 'StatefulSet');
    expect(pod?.spec.replicas).toBe(1);
    expect(claimsOf(objects, 'images')).toEqual(['muster-images', 'muster-images-jobs']);
    expect(claimsOf(objects, 'api')).toEqual(['muster-images']);
    expect(claimsOf(objects, 'worker')).toEqual([]);
    expect(settingsOf(objects, 'images')).toMatchObject({
      MUSTER_WORKER_ROLE: 'images',
      MUSTER_IMAGES_OWNER: { uid: 1000, gid: 1000 },
      MUSTER_IMAGE_HOST: '10.0.0.1',
      MUSTER_IMAGE_PUBLIC_HOST: 'muster-images.muster.svc',
      MUSTER_IMAGE_PORTS: [22200, 22399],
    });
    expect(settingsOf(objects, 'worker').MUSTER_WORKER_ROLE).toBe('sessions');
    expect(permissionMistakes(objects)).toEqual([]);
  });

  test('has claims that outlive the release, or those that are named', async () => {
    const claims = (objects: Manifest[]) => objects.filter(({ kind }) => kind === 'PersistentVolumeClaim');
    const own = claims(await renderChart(set(...ON, 'imageService.files.storageClass=shared')));
    expect(own.map(({ metadata, spec }) => [metadata.name, spec.accessModes, spec.storageClassName])).toEqual([
      ['muster-images', ['ReadWriteMany'], 'shared'],
      ['muster-images-jobs', ['ReadWriteOnce'], undefined],
    ]);
    expect(own.map(({ metadata }) => metadata.annotations)).toEqual(
      Array(2).fill({ 'helm.sh/resource-policy': 'keep' }),
    );
    const named = ['imageService.files.existingClaim=a', 'imageService.jobs.existingClaim=b'];
    const objects = await renderChart(set(...ON, ...named));
    expect([claims(objects), claimsOf(objects, 'images')]).toEqual([[], ['a', 'b']]);
  });

  test('is reached by Jobs and workers on the ports of its shells, and by nobody else', async () => {
    const policies = (await renderChart(set(...ON))).filter(({ kind }) => kind === 'NetworkPolicy');
    const of = (part: string) => policies.find(({ metadata }) => metadata.name === `muster-${part}`)?.spec;
    const shells = [{ protocol: 'TCP', port: 22_200, endPort: 22_399 }];
    const peers = of('images').ingress.map(({ from, ports }: Manifest) => {
      expect(ports).toEqual(shells);
      return from[0].podSelector.matchLabels['app.kubernetes.io/component'] ?? 'runner';
    });
    expect(peers).toEqual(['runner', 'worker']);
    for (const part of ['runner', 'worker']) {
      expect(of(part).egress.map(({ ports }: Manifest) => ports)).toContainEqual(shells);
    }
  });

  test('as a component adds to the plain manifests what it adds to the chart', async () => {
    const objects = await renderKustomize('deploy/kustomize/overlays/example-with-images');
    expect(
      podTemplates(objects)
        .map(({ part }) => part)
        .sort(),
    ).toEqual(['api', 'images', 'worker']);
    for (const { part, containers } of podTemplates(objects)) {
      const settings = loadEnvironment(environmentOf(containers[0] ?? {}, SECRETS));
      expect([part, settings.MUSTER_TEMPORAL_NAMESPACE, settings.MUSTER_IMAGE_SERVICE]).toEqual([part, 'muster', true]);
    }
    expect([permissionMistakes(objects), rightsMistakes(objects)]).toEqual([[], []]);
    const chart = await renderChart(['--values', 'deploy/kustomize/values.yaml', '--set', ...ON]);
    // Those of set-up and removal are beside their Jobs.
    const policies = (from: Manifest[]) =>
      from
        .filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.annotations === undefined)
        .map(({ metadata, spec }) => [metadata.name, spec]);
    expect(new Map(policies(objects) as never)).toEqual(new Map(policies(chart) as never));
    for (const part of ['api', 'images']) expect(claimsOf(objects, part)).toEqual(claimsOf(chart, part));
  });
});

describe('names of objects', () => {
  test.each([
    ['muster', 'muster'],
    ['site', 'site-muster'],
    ['my.muster', 'my-muster'],
    ['a'.repeat(53), 'a'.repeat(40)],
    // Cut where no name may end.
    [`${'a'.repeat(38)}--b`, 'a'.repeat(38)],
    [`${'a'.repeat(39)}.b`, 'a'.repeat(39)],
  ])('of release %s can be names of Services', async (release, begins) => {
    const services = (await renderChart(set(), 'muster', release)).filter(({ kind }) => kind === 'Service');
    const names = services.map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual([begins, `${begins}-ingest`]);
  });

  test('of a release that begins with a digit cannot: another name is asked for', async () => {
    await expect(renderChart(set(), 'muster', '2muster')).rejects.toThrow('fullnameOverride');
    const objects = await renderChart(set('fullnameOverride=two'), 'muster', '2muster');
    expect(objects.find(({ kind }) => kind === 'Service')?.metadata.name).toBe('two');
  });

  test('that YAML takes for numbers or truths stay texts', async () => {
    const texts = [
      ...['fullnameOverride=on', 'nameOverride=2024', 'database.existingSecret=123', 'database.urlKey=1'],
      ...['images.pullSecrets={1e3}', 'platformCa.secret=0x10', 'runner.namespace=1234', 'runner.serviceAccount=null'],
    ];
    const words = ['--values', 'deploy/kustomize/values.yaml', ...texts.flatMap((text) => ['--set-string', text])];
    const objects = await renderChart(words, '2024', '2025');
    const strange: unknown[] = [];
    JSON.parse(JSON.stringify(objects), (key, value) => {
      if (/^(name|namespace|key|secretName|app\.kubernetes\.io\/.*)$/.test(key) && typeof value !== 'string') {
        strange.push([key, value]);
      }
      return value;
    });
    expect(strange).toEqual([]);
  });
});

describe('a wrong value is refused, with its name', () => {
  test.each([
    ['api.replicas=0', '/api/replicas'],
    ['nonsense=1', 'nonsense'],
    ['worker.replica=3', 'replica'],
    ['images.pullPolicy=Sometimes', '/images/pullPolicy'],
    ['images.muster.digest=sha256:12', '/images/muster/digest'],
    ['settings.LOG_LEVEL=debug', 'LOG_LEVEL'],
    ['temporal.address=http://temporal', '/temporal/address'],
    ['temporal.retentionDays=0', '/temporal/retentionDays'],
    ['access.mode=none', '/access/mode'],
    ['access.adminToken.existingSecret=', '/access/adminToken/existingSecret'],
    ['access.actorHeader=X-User', '/access/actorHeader'],
    ['database.existingSecret=', '/database/existingSecret'],
    ['database.existingSecret=Not_A_Name', '/database/existingSecret'],
    ['runner.profile=privileged', '/runner/profile'],
    // Its images show no token.
    ['runner.profile=compatible', '/runner/apiUrl'],
    ['runner.namespace=UPPER', '/runner/namespace'],
    ['runner.workspace.size=lots', '/runner/workspace/size'],
    ['worker.terminationGracePeriodSeconds=5', '/worker/terminationGracePeriodSeconds'],
    ['ingress.enabled=true', '/ingress/host'],
    ['imageService.replicas=2', 'replicas'],
    ['imageService.files.accessModes={ReadOnlyMany}', '/imageService/files/accessModes/0'],
    ['networkPolicy.ports.database={99999}', '/networkPolicy/ports/database'],
    ['networkPolicy.peers.friends={}', 'friends'],
    ['networkPolicy.enabled=yes', '/networkPolicy/enabled'],
    // Services have one label of 63 characters, and the names of parts are appended.
    ['fullnameOverride=my.muster', '/fullnameOverride'],
    ['fullnameOverride=1muster', '/fullnameOverride'],
    [`fullnameOverride=${'a'.repeat(63)}`, '/fullnameOverride'],
    [`nameOverride=${'a'.repeat(63)}`, '/nameOverride'],
    ['images.muster.repository=registry.example.com/Muster', '/images/muster/repository'],
    ['images.pullSecrets={Not_A_Name}', '/images/pullSecrets/0'],
    ['temporal.address=temporal:72330', '/temporal/address'],
    ['api.publicUrl=https://', '/api/publicUrl'],
    ['api.allowedHosts={https://muster.example.com}', '/api/allowedHosts/0'],
    ['api.allowedHosts={muster.example.com:8443}', '/api/allowedHosts/0'],
    ['access.oidc.issuer=https://issuer.example.com', '/access/oidc/audience'],
    ['access.oidc.audience=muster', '/access/oidc/issuer'],
    ['access.mode=gateway,access.oidc.issuer=https://issuer.example.com,access.oidc.audience=muster', 'access.oidc'],
    ['listenAddress=everywhere', '/listenAddress'],
    ['ingress.host=*.example.com', '/ingress/host'],
    ['ingress.host=https://muster.example.com', '/ingress/host'],
    ['ingest.port=8100', 'ingest.port'],
    ['worker.metricsPort=8102', 'worker.metricsPort'],
    ['api.nodeSelector.a=b c', '/api/nodeSelector/a'],
    ['worker.resources.limits.memory=much', '/worker/resources/limits/memory'],
    ['runner.limits.memory=1gi', '/runner/limits/memory'],
    ['runner.tolerations[0].value=a', '/runner/tolerations/0'],
    ['imageService.files.size=0Gi', '/imageService/files/size'],
    ['podDisruptionBudget.maxUnavailable=half', '/podDisruptionBudget/maxUnavailable'],
    ['secretSettings.MUSTER_IMS_TOKEN.secret=A', '/secretSettings/MUSTER_IMS_TOKEN'],
  ])('%s', async (value, named) => {
    await expect(renderChart(set(value))).rejects.toThrow(named);
  });
});

describe('the example overlay', () => {
  test.each([
    ['deploy/kustomize/overlays/example', ['api', 'worker']],
    ['deploy/kustomize/overlays/example/migrate', ['migrate']],
    ['deploy/kustomize/overlays/example/uninstall', ['uninstall']],
  ])('%s has its own images and settings everywhere', async (folder, parts) => {
    const objects = await renderKustomize(folder);
    expect(podTemplates(objects).map(({ part }) => part)).toEqual(parts);
    for (const { containers } of podTemplates(objects)) {
      for (const container of containers) {
        expect(container.image).toBe('registry.example.com/muster/muster:0.1.0');
        expect(loadEnvironment(environmentOf(container, SECRETS)).MUSTER_TEMPORAL_NAMESPACE).toBe('muster');
      }
    }
    expect([permissionMistakes(objects), rightsMistakes(objects)]).toEqual([[], []]);
  });
});
