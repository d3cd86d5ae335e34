import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { loadEnvironment } from '../../../config/environment.ts';
import { type Manifest, renderChart, renderKustomize } from '../../support/kubernetes/helm.ts';
import { environmentOf, podTemplates } from '../../support/kubernetes/pod-templates.ts';
import { ROOT } from '../../support/source-tree.ts';

const SECRETS = { 'muster-database/url': 'postgres://muster:secret@db:5432/muster' };
const ELSEWHERE = 'elsewhere';
const VALUES = ['--values', join(ROOT, 'deploy', 'kustomize', 'values.yaml'), '--set', 'imageService.enabled=true'];
let dir: string;
let plain: Manifest[];
let chart: Manifest[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-elsewhere-'));
  const part = (name: string) => relative(dir, join(ROOT, 'deploy', 'kustomize', name));
  const file = {
    namespace: ELSEWHERE,
    resources: ['base', 'migrate', 'uninstall', 'claims'].map(part),
    components: [part('images')],
  };
  await writeFile(join(dir, 'kustomization.yaml'), stringify(file));
  plain = await renderKustomize(dir);
  chart = await renderChart(VALUES, ELSEWHERE);
});

afterAll(() => rm(dir, { recursive: true, force: true }));

describe('the plain manifests in another namespace, which only "namespace" names, are what the chart makes there', () => {
  test('settings, with every name and address in them', () => {
    const settings = (objects: Manifest[]) =>
      Object.fromEntries(
        podTemplates(objects).map(({ part, containers: [container] }) => [
          part,
          loadEnvironment(environmentOf(container ?? {}, SECRETS, ELSEWHERE)),
        ]),
      );
    expect(settings(plain)).toEqual(settings(chart));
    expect(settings(plain).api).toMatchObject({
      MUSTER_RUNNER_NAMESPACE: ELSEWHERE,
      MUSTER_SECRETS_NAMESPACE: ELSEWHERE,
      MUSTER_RUNNER_INGEST_URL: `http://muster-ingest.${ELSEWHERE}.svc:8101`,
      MUSTER_PUBLIC_URL: `http://muster.${ELSEWHERE}.svc:8100`,
      MUSTER_ALLOWED_HOSTS: expect.arrayContaining([`muster.${ELSEWHERE}.svc`]),
    });
    expect(settings(plain).images).toMatchObject({ MUSTER_IMAGE_PUBLIC_HOST: `muster-images.${ELSEWHERE}.svc` });
  });

  test('network policies', () => {
    const policies = (objects: Manifest[]) =>
      new Map(
        objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ metadata, spec }) => [metadata.name, spec]),
      );
    expect(policies(plain)).toEqual(policies(chart));
    expect(JSON.stringify([...policies(plain)])).not.toContain('namespaceSelector');
  });
});

test('where Jobs have a namespace of their own, policies name the other end by its namespace', async () => {
  const objects = await renderChart([...VALUES, '--set', 'runner.namespace=jobs'], ELSEWHERE);
  const spaces = objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ metadata, spec }) => [
      metadata.name,
      [...spec.ingress, ...spec.egress]
        .flatMap(({ from = [], to = [] }: Manifest) => [...from, ...to])
        .flatMap(({ namespaceSelector }: Manifest) => Object.values(namespaceSelector?.matchLabels ?? {})),
    ]);
  expect(Object.fromEntries(spaces)).toEqual({
    'muster-api': ['jobs'],
    'muster-images': ['jobs'],
    'muster-migrate-hook': [],
    'muster-runner': [ELSEWHERE, ELSEWHERE],
    'muster-uninstall-hook': [],
    'muster-worker': [],
  });
});
