/** An operator with an account of its own: rights on one of its kinds go and come back, and nothing secret of its runs is told. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { reconcileWorkflowId } from '../../../control/operator/wanted-workflows.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import { type ClusterWay, openClusterWay } from '../../support/operator/cluster-way.ts';
import {
  conditionsOf,
  GROUP,
  makeKind,
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { isRunning, type RunReads, readRuns } from '../../support/operator/run-reads.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** A kind that is forbidden is tried again after 30 s (ms). */
const BACK_MS = 180_000;
const TEST_MS = 900_000;
const RIGHTS = '/apis/rbac.authorization.k8s.io/v1';
const RBAC = 'rbac.authorization.k8s.io';
const GADGETS = `/apis/${GROUP}/v1/namespaces/default/gadgets`;
const ACCOUNT = 'operator';
const WORD = 'much-of-a-secret';

describeNeeding(kubernetesMissing(), 'an operator with an account of its own', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let cluster: ClusterWay;
  let runs: RunReads;
  beforeAll(async () => {
    bench = await openOperatorBench();
    const watch = { version: 'v1', playbook: 'playbook.yml', markUnsafe: true };
    const often = { muster: { backoff: { initial: '1s', max: '2s' } } };
    const secrets = { manageStatus: false, selector: { matchLabels: { watched: 'yes' } } };
    const watches = [
      { ...watch, ...often, group: GROUP, kind: 'Widget' },
      { ...watch, ...often, group: GROUP, kind: 'Gadget' },
      { ...watch, ...secrets, group: '', kind: 'Secret', muster: { backoff: { initial: '1000s' } } },
    ];
    writeFileSync(join(bench.home, 'watches.yaml'), JSON.stringify(watches));
    await makeKind(bench.client, 'Gadget');
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT } };
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await bench.client.ask({ method: 'POST', path: accounts, body: account });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { body } = await bench.client.ask<{ status: { token: string } }>({
      ...{ method: 'POST', path: `${accounts}/${ACCOUNT}/token`, body: request },
    });
    await allow('widgets', GROUP);
    await allow('gadgets', GROUP);
    await allow('secrets', '');
    cluster = await openClusterWay(bench, 'of-the-account', body.status.token);
    operator = await bench.start({ env: { KUBECONFIG: cluster.kubeconfig } });
    runs = readRuns(bench, () => operator.said().slice(-4_000), BACK_MS);
  }, 600_000);
  afterAll(async () => {
    await bench?.close();
    await cluster?.cut();
  });

  const rulesOf = (resource: string, group: string, resources = [resource, `${resource}/status`]) => [
    { apiGroups: [group], resources, verbs: ['*'] },
  ];
  /** Gives the account all rights on a kind. */
  const allow = async (resource: string, group: string) => {
    const metadata = { name: `of-${resource}` };
    const role = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules: rulesOf(resource, group) };
    await bench.client.ask({ method: 'POST', path: `${RIGHTS}/clusterroles`, body: role });
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name };
    const subjects = [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: 'default' }];
    const binding = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata, roleRef, subjects };
    await bench.client.ask({ method: 'POST', path: `${RIGHTS}/clusterrolebindings`, body: binding });
  };
  /** Changes what the account may do with gadgets, and waits until the cluster answers so. */
  const setRights = async (rules: object[], status: number, asked = GADGETS) => {
    const path = `${RIGHTS}/clusterroles/of-gadgets`;
    await bench.client.ask({ method: 'PATCH', path, body: { rules }, contentType: 'application/merge-patch+json' });
    const client = createClusterClient(openClusterAccess(cluster.kubeconfig));
    await eventually(
      `${asked} is answered with ${status}`,
      async () => (await client.ask({ method: 'GET', path: asked, expected: [403] })).status === status,
    );
  };
  const stateOf = async (kind: string) =>
    (await bench.db.selectFrom('operator_watches').select('state').where('kind', '=', kind).executeTakeFirst())?.state;
  const isIn = (kind: string, state: string) =>
    eventually(
      `the kind ${kind} is ${state}`,
      async () => (await stateOf(kind)) === state,
      BACK_MS,
      () => operator.said().slice(-3_000),
    );
  const makeGadget = (name: string, spec: object) =>
    bench.client.ask({
      ...{ method: 'POST', path: GADGETS },
      body: { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name }, spec },
    });
  const gadget = async (name: string) =>
    (await bench.client.ask<Parameters<typeof isRunning>[0]>({ method: 'GET', path: `${GADGETS}/${name}` })).body;

  test(
    'without its rights on one kind goes on with the others, and takes up what it missed once it has them again',
    async () => {
      await makeGadget('known', { size: 1 });
      await runs.came('known', ['created ok']);
      await makeGadget('held', { gate: 'held' });
      await runs.hasBegun('held');
      await bench.create('beside', { gate: 'beside' });
      await runs.hasBegun('beside');
      await setRights([], 403);
      // A watch that is open goes on without the right, until its connection ends.
      await cluster.cut();
      await cluster.mend();
      await isIn('Gadget', 'forbidden');
      await isIn('Widget', 'watching');
      runs.openGate('held');
      runs.openGate('beside');
      await bench.client.ask({
        ...{ method: 'PATCH', path: `${GADGETS}/known`, body: { spec: { size: 2 } } },
        contentType: 'application/merge-patch+json',
      });
      await makeGadget('missed', { size: 1 });
      await runs.came('beside', ['created ok']);
      await bench.create('meanwhile', {});
      await runs.came('meanwhile', ['created ok']);
      await eventually(
        'the run without a right has failed',
        async () => (await runs.outcomes('held'))[0] === 'created failed',
        BACK_MS,
        () => operator.said().slice(-3_000),
      );
      expect(await runs.outcomes('known')).toEqual(['created ok']);
      await setRights(rulesOf('gadgets', GROUP), 200);
      await isIn('Gadget', 'watching');
      await runs.came('missed', ['created ok']);
      await runs.came('known', ['created ok', 'changed ok']);
      await eventually(
        'the run is made good',
        async () => (await runs.outcomes('held')).at(-1) === 'retry ok',
        BACK_MS,
      );
      await runs.isQuiet();
      for (const name of ['known', 'held', 'missed']) {
        const resource = await gadget(name);
        expect([name, isRunning(resource)]).toEqual([name, false]);
        expect(conditionsOf(resource).find(({ type }) => type === 'Successful')?.status).toBe('True');
      }
      expect(runs.begins('known').map(({ size }) => size)).toEqual(['1', '2']);
    },
    TEST_MS,
  );

  test(
    'that may no longer write the status when a run ends is not left in Running',
    async () => {
      await makeGadget('untold', { gate: 'untold' });
      await runs.hasBegun('untold');
      await setRights(rulesOf('gadgets', GROUP, ['gadgets']), 403, `${GADGETS}/untold/status`);
      runs.openGate('untold');
      await eventually(
        'the run whose end cannot be said has failed',
        async () => (await runs.outcomes('untold'))[0] === 'created failed',
        BACK_MS,
        () => operator.said().slice(-3_000),
      );
      await setRights(rulesOf('gadgets', GROUP), 200);
      await eventually(
        'the run is made good',
        async () => (await runs.outcomes('untold')).at(-1) === 'retry ok',
        BACK_MS,
        () => operator.said().slice(-3_000),
      );
      const resource = await gadget('untold');
      expect(isRunning(resource)).toBe(false);
      expect(conditionsOf(resource).find(({ type }) => type === 'Successful')?.status).toBe('True');
    },
    TEST_MS,
  );

  /** All that Temporal keeps of the reconcile of a resource. */
  const historyOf = async (name: string) => {
    const row = await bench.db
      .selectFrom('operator_resources')
      .select(['operator', 'uid', 'version'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    const connection = await Connection.connect({ address: process.env.MUSTER_TEST_TEMPORAL_ADDRESS ?? '' });
    try {
      const client = new Client({ connection, namespace: `muster-operator-${row.operator}` });
      const handle = client.workflow.getHandle(reconcileWorkflowId(row.operator, row));
      return textOf(await handle.fetchHistory());
    } finally {
      await connection.close();
    }
  };

  test(
    'tells nothing secret in log, records, events, output, history and status, when a run has printed it',
    async () => {
      const metadata = { name: 'kept', labels: { watched: 'yes' } };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { word: WORD } };
      await bench.client.ask({ method: 'POST', path: '/api/v1/namespaces/default/secrets', body: secret });
      await runs.came('kept', ['created failed']);
      await bench.create('loud', { reveals: true });
      const conditions = await bench.condition('loud', 'Failure', 'True');
      expect(conditions.find(({ type }) => type === 'Failure')?.message).toContain('what was read: ');
      await bench.change('loud', { reveals: null });
      await bench.condition('loud', 'Successful', 'True');
      await runs.isQuiet();
      const told = [
        ...(await Promise.all(['kept', 'loud'].map(historyOf))),
        ...[operator.said(), JSON.stringify([conditions, await bench.read('loud')])],
        JSON.stringify(await bench.db.selectFrom('operator_reconciles').selectAll().execute()),
        JSON.stringify(await bench.db.selectFrom('operator_resources').selectAll().execute()),
        JSON.stringify(await bench.db.selectFrom('events').selectAll().execute()),
        JSON.stringify(await bench.db.selectFrom('output').selectAll().execute()),
      ];
      expect(told[0]).toContain('operatorReconcileWorkflow');
      for (const part of ['musterproxy_', WORD, Buffer.from(WORD).toString('base64')])
        expect(told.filter((text) => text.includes(part))).toEqual([]);
    },
    TEST_MS,
  );
});

/** The words of a value, also those in payloads, which are bytes. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, member]) => `${key} ${textOf(member)}`)
    .join('\n');
}
