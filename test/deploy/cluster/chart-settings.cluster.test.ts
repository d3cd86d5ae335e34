import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadEnvironment } from '../../../config/environment.ts';
import { type Manifest, renderChart } from '../../support/kubernetes/helm.ts';
import { writeValues } from '../../support/kubernetes/installed-chart.ts';
import { environmentOf, podTemplates } from '../../support/kubernetes/pod-templates.ts';

const NEEDED = {
  database: { existingSecret: 'muster-database' },
  temporal: { address: 'temporal:7233' },
  access: { adminToken: { existingSecret: 'muster-admin' } },
};
const SECRETS = { 'muster-database/url': 'postgres://muster:secret@db:5432/muster', 'image-service/token': 'secret' };
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-values-'));
});

afterAll(() => rm(dir, { recursive: true, force: true }));

/** Values come from a file, as a site has them: numbers in it are read as floating ones, those of --set are not. */
const render = async (values: object) => renderChart(['--values', await writeValues(dir, { ...NEEDED, ...values })]);

const settingsOf = (objects: Manifest[], part: string) =>
  loadEnvironment(environmentOf(containerOf(objects, part), SECRETS));
const containerOf = (objects: Manifest[], part: string): Manifest =>
  podTemplates(objects).find((one) => one.part === part)?.containers[0] ?? {};

describe('numbers in a file of values', () => {
  test('are in settings what they are, however large', async () => {
    const objects = await render({
      settings: {
        MUSTER_LOG_MAX: 134_217_728,
        MUSTER_AUDIT_ROWS: 20_000_000,
        MUSTER_HSM_URL: 'https://hsm',
        MUSTER_IMAGE_DKMS: false,
      },
      runner: { wait: 2_592_000, impossible: 1_000_000 },
      imageService: { enabled: true },
    });
    for (const part of ['api', 'worker', 'images']) {
      expect(settingsOf(objects, part)).toMatchObject({
        MUSTER_LOG_MAX: 134_217_728,
        MUSTER_AUDIT_ROWS: 20_000_000,
        MUSTER_IMAGE_DKMS: false,
      });
      expect(
        Object.entries(environmentOf(containerOf(objects, part), SECRETS)).filter(([, value]) =>
          /^\d.*e\+/.test(value),
        ),
      ).toEqual([]);
    }
    expect(settingsOf(objects, 'worker')).toMatchObject({ MUSTER_RUNNER_WAIT: 2_592_000 });
  });

  test('are quantities of Jobs as well as texts are', async () => {
    const objects = await render({
      runner: { requests: { cpu: 0.5, memory: 4_294_967_296 }, limits: { cpu: 8, memory: '6Gi' } },
    });
    expect(settingsOf(objects, 'worker')).toMatchObject({
      MUSTER_RUNNER_REQUESTS: { cpu: '0.5', memory: '4294967296' },
      MUSTER_RUNNER_LIMITS: { cpu: '8', memory: '6Gi' },
    });
  });
});

describe('names in settings are refused, with the name,', () => {
  test.each([
    ['when there is none', { settings: { MUSTER_LOG_MX: '64MiB' } }, 'MUSTER_LOG_MX'],
    ['when the chart says it by another value', { settings: { MUSTER_RUNNER: 'local' } }, "'MUSTER_RUNNER'"],
    ['when the setting is secret', { settings: { MUSTER_IMS_TOKEN: 'word' } }, 'MUSTER_IMS_TOKEN'],
    ['among the secret ones', { secretSettings: { MUSTER_IMS_TOKN: { secret: 'a', key: 'b' } } }, 'MUSTER_IMS_TOKN'],
    [
      'when they are given twice',
      { settings: { MUSTER_HSM_URL: 'https://hsm' }, secretSettings: { MUSTER_HSM_URL: { secret: 'a', key: 'b' } } },
      'MUSTER_HSM_URL',
    ],
  ])('%s', async (_when, values, named) => {
    await expect(render(values)).rejects.toThrow(named);
  });

  test.each([
    ['runner.tolerations', { runner: { tolerations: [{ keey: 'a' }] } }, 'keey'],
    ['runner.limits', { runner: { limits: { memory: 'much' } } }, '/runner/limits/memory'],
  ])('as is what Muster would not take in %s', async (_value, values, named) => {
    await expect(render(values)).rejects.toThrow(named);
  });
});

test('user and password for ARA are a file of the worker alone', async () => {
  const secret = 'ara-login';
  const objects = await render({
    settings: { MUSTER_ARA_SERVER_URL: 'https://ara.example.com' },
    ara: { credentials: { existingSecret: secret, key: 'login.json' } },
    imageService: { enabled: true },
  });
  const file = '/etc/muster/ara-credentials/credentials.json';
  expect(settingsOf(objects, 'worker').MUSTER_ARA_CREDENTIALS_FILE).toBe(file);
  const holders = podTemplates(objects).flatMap(({ part, pod }) =>
    pod.volumes
      .filter((volume: Manifest) => volume.secret?.secretName === secret)
      .map((volume: Manifest) => [part, volume]),
  );
  expect(holders).toEqual([
    [
      'worker',
      {
        name: 'ara-credentials',
        secret: { secretName: secret, defaultMode: 0o440, items: [{ key: 'login.json', path: 'credentials.json' }] },
      },
    ],
  ]);
  const { volumeMounts } = containerOf(objects, 'worker');
  expect(volumeMounts).toContainEqual({
    name: 'ara-credentials',
    mountPath: '/etc/muster/ara-credentials',
    readOnly: true,
  });
});
