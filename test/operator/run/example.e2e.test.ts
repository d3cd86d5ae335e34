/** The operator of `examples/operator`, as Ansible plays it beside a real API server. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import { conditionsOf, type OperatorBench, openOperatorBench } from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';

const EXAMPLE = join(ROOT, 'examples', 'operator');
const API = '/apis/demo.example.com/v1/namespaces/default';
/** Ansible needs seconds for each run, and ten times as long on a busy machine. */
const SOON_MS = 240_000;
const documents = (file: string) =>
  parseAllDocuments(readFileSync(join(EXAMPLE, file), 'utf8')).map((document) => document.toJS());

describeNeeding(kubernetesMissing(), 'the example', () => {
  let bench: OperatorBench;
  let said = () => '';
  beforeAll(async () => {
    const installing = promisify(execFile)(process.execPath, [join(ROOT, 'bootstrap', 'run.mjs'), 'operator-ansible'], {
      encoding: 'utf8',
    });
    const [{ stdout }, opened] = await Promise.all([installing, openOperatorBench()]);
    bench = opened;
    cpSync(EXAMPLE, bench.home, { recursive: true });
    for (const body of documents('kinds.yaml')) {
      await bench.client.ask({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body });
    }
    const env = { MUSTER_ANSIBLE_RUNNER: join(stdout.trim(), 'bin', 'ansible-runner') };
    ({ said } = await bench.start({ env }));
  }, 600_000);
  afterAll(() => bench?.close());

  const read = async <T = CustomResource>(path: string) => {
    const { status, body } = await bench.client.ask<T>({ method: 'GET', path, expected: [404] });
    return status === 404 ? null : body;
  };
  const successful = async (path: string) =>
    eventually(
      `${path} is successful`,
      async () => conditionsOf(await read(path)).find(({ type }) => type === 'Successful')?.status === 'True',
      SOON_MS,
      async () => ({ status: (await read(path))?.status, said: said().slice(-3_000) }),
    );

  test('its file of watches is valid, and warns of nothing', async () => {
    const command = [join(ROOT, 'muster'), 'operator', 'validate', '--home', EXAMPLE, '-o', 'json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, errors: [], warnings: [] });
  });

  test('a Site becomes a ConfigMap, whose text is no template', async () => {
    const [site] = documents('resources/site.yaml');
    await bench.client.ask({ method: 'POST', path: `${API}/sites`, body: site });
    await successful(`${API}/sites/shop`);
    const map = await read<{ data: object; metadata: { ownerReferences: object[] } }>(
      '/api/v1/namespaces/default/configmaps/shop-pages',
    );
    expect(map?.data).toEqual({
      'index.html': '<h1>Tea &amp; coffee</h1>',
      'about.html': '<p>Since {{ 1998 }}: nothing here is a template.</p>',
    });
    expect(map?.metadata.ownerReferences).toMatchObject([{ kind: 'Site', name: 'shop' }]);
    expect((await read(`${API}/sites/shop`))?.status).toMatchObject({ pages: 2 });
  }, 600_000);

  test('a Team gets a namespace, which its finalizer removes', async () => {
    const [team] = documents('resources/team.yaml');
    await bench.client.ask({ method: 'POST', path: `${API}/teams`, body: team });
    await successful(`${API}/teams/red`);
    const namespace = '/api/v1/namespaces/team-default-red';
    const quota = await read<{ spec: object }>(`${namespace}/resourcequotas/pods`);
    expect(quota?.spec).toEqual({ hard: { pods: '5' } });
    await bench.client.ask({ method: 'DELETE', path: `${API}/teams/red` });
    await eventually(
      'the Team is gone',
      async () => (await read(`${API}/teams/red`)) === null,
      SOON_MS,
      () => said().slice(-3_000),
    );
    // Nothing here ends a namespace for good but the controllers of a whole cluster.
    expect((await read(namespace))?.metadata.deletionTimestamp).toEqual(expect.any(String));
  }, 600_000);
});
