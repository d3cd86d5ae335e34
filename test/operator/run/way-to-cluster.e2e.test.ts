/** Playbooks of an operator, as Ansible plays them: what they make through the proxy, and what is told of it. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cancelReconcile } from '../../../control/operator/request-of-resource.ts';
import { readWrites } from '../../../store/operator/writes.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesMissing } from '../../support/kubernetes/kubernetes-api.ts';
import {
  type OperatorBench,
  openOperatorBench,
  type RunningOperator,
} from '../../support/operator/operator-process.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';
import { processesOfSession } from '../../support/stack/processes-of-session.ts';

/** Ansible needs seconds for each run, and ten times as long on a busy machine. */
const SOON_MS = 180_000;
/** What is cancelled is gone so soon (ms), which is long before its tasks would have ended by themselves. */
const CANCELLED_MS = process.env.CI === 'true' ? 60_000 : 12_000;

const PLAYBOOK = [
  {
    hosts: 'localhost',
    gather_facts: false,
    tasks: [
      { 'ansible.builtin.command': { argv: ['sleep', '600'] }, async: 600, poll: 0, when: 'hang is defined' },
      {
        'ansible.builtin.shell': {
          cmd: `trap "" TERM; touch {{ playbook_dir }}/hangs-{{ ansible_operator_meta.name }}; sleep 600; true`,
        },
        when: 'hang is defined',
      },
      {
        'ansible.builtin.shell': {
          cmd: `touch {{ playbook_dir }}/waits-{{ ansible_operator_meta.name }}; until [ -e {{ playbook_dir }}/go-{{ ansible_operator_meta.name }} ]; do sleep 0.2; done`,
        },
        when: 'wait is defined',
      },
      {
        'kubernetes.core.k8s': {
          definition: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: '{{ ansible_operator_meta.name }}', namespace: '{{ ansible_operator_meta.namespace }}' },
            data: { size: '{{ size | string }}' },
          },
        },
      },
      {
        'operator_sdk.util.k8s_status': {
          api_version: 'demo.io/v1',
          kind: 'Widget',
          name: '{{ ansible_operator_meta.name }}',
          namespace: '{{ ansible_operator_meta.namespace }}',
          status: { url: 'http://{{ ansible_operator_meta.name }}' },
        },
      },
    ],
  },
];

/** The words of a process's command. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

interface Made {
  data?: Record<string, string>;
  metadata: { ownerReferences?: { uid: string }[] };
}

describeNeeding(kubernetesMissing(), 'a playbook that makes something', () => {
  let bench: OperatorBench;
  let operator: RunningOperator;
  let env: Record<string, string>;

  beforeAll(async () => {
    const installing = promisify(execFile)(process.execPath, [join(ROOT, 'bootstrap', 'run.mjs'), 'operator-ansible'], {
      encoding: 'utf8',
    });
    const [{ stdout }, opened] = await Promise.all([installing, openOperatorBench({ markUnsafe: false })]);
    bench = opened;
    env = { MUSTER_ANSIBLE_RUNNER: join(stdout.trim(), 'bin', 'ansible-runner') };
    writeFileSync(join(bench.home, 'playbook.yml'), JSON.stringify(PLAYBOOK));
    operator = await bench.start({ env });
  }, 600_000);
  afterAll(() => bench?.close());

  const made = async (name: string) => {
    const path = `/api/v1/namespaces/default/configmaps/${name}`;
    const { status, body } = await bench.client.ask<Made>({ method: 'GET', path, expected: [404] });
    return status === 404 ? null : body;
  };
  const runsOf = (name: string) =>
    bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select(['c.run_id', 'c.outcome'])
      .where('r.name', '=', name)
      .execute();
  /** Outcomes of all its runs, as soon as each has one: the status of the resource is written before. */
  const outcomesOf = (name: string) =>
    eventually(
      'each run has an outcome',
      async () => {
        const outcomes = (await runsOf(name)).map(({ outcome }) => outcome);
        return !outcomes.includes(null) && outcomes;
      },
      SOON_MS,
    );

  test('owns it; its status stays; what it wrote is listed; no password is anywhere', async () => {
    const { metadata } = await bench.create('w1', { size: 3 });
    await bench.condition('w1', 'Successful', 'True');
    const object = await made('w1');
    expect(object?.data).toEqual({ size: '3' });
    expect(object?.metadata.ownerReferences).toEqual([
      { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w1', uid: metadata.uid },
    ]);
    expect((await bench.read('w1'))?.status).toMatchObject({ url: 'http://w1' });
    const [run] = await runsOf('w1');
    const { total, listed } = await readWrites(bench.db, run?.run_id ?? '');
    expect(listed.map(({ verb, kind, name, subresource }) => [verb, kind, name, subresource])).toEqual([
      ['create', 'ConfigMap', 'w1', ''],
      ['patch', 'Widget', 'w1', 'status'],
    ]);
    expect(total).toBe(2);
    const events = await bench.db.selectFrom('events').select('data').execute();
    const output = await bench.db.selectFrom('output').select('text').execute();
    expect(JSON.stringify([events, output, operator.said()])).not.toContain('musterproxy_');
    const folder = join(bench.home, '.data', 'operator', 'runs', run?.run_id ?? '');
    expect(await bench.db.selectFrom('operator_proxy_passwords').select('run_id').execute()).toEqual([]);
    expect(existsSync(join(folder, 'kubeconfig'))).toBe(false);
  }, 600_000);

  const remove = (name: string) =>
    bench.client.ask({ method: 'DELETE', path: `/api/v1/namespaces/default/configmaps/${name}` });
  const causes = async (name: string) => {
    const rows = await bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select('c.cause')
      .where('r.name', '=', name)
      .orderBy('c.started_at')
      .execute();
    return rows.map(({ cause }) => cause);
  };

  test('makes it again when it is deleted or changed by others, also after a restart', async () => {
    const [first] = await causes('w1');
    expect(first).toEqual({ type: 'created' });
    await remove('w1');
    await eventually('it is there again', async () => (await made('w1')) !== null, SOON_MS);
    expect(await causes('w1')).toContainEqual({ type: 'dependent', object: 'ConfigMap default/w1' });
    await eventually(
      'its run is over',
      async () => (await runsOf('w1')).every(({ outcome }) => outcome !== null),
      SOON_MS,
    );
    await operator.stop();
    operator = await bench.start({ env });
    const before = (await causes('w1')).length;
    await eventually(
      'dependents are watched again',
      async () => operator.said().includes('dependents are watched'),
      SOON_MS,
    );
    const path = '/api/v1/namespaces/default/configmaps/w1';
    const body = { data: { size: 'other' } };
    await bench.client.ask({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
    await eventually('it is as it was', async () => (await made('w1'))?.data?.size === '3', SOON_MS);
    expect((await causes('w1')).length).toBeGreaterThan(before);
  }, 600_000);

  /** Makes a widget whose playbook hangs, with a task beside it that has left its session; returns the id of its reconcile. */
  const hanging = async (name: string) => {
    await bench.create(name, { size: 1, hang: true });
    await eventually('its playbook hangs', () => existsSync(join(bench.home, `hangs-${name}`)), SOON_MS);
    const row = await bench.db
      .selectFrom('operator_resources')
      .select(['id', 'reconcile_id'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    const reconcile = `reconcile-${row.reconcile_id}`;
    const pids = await eventually(
      'both of its tasks are at work',
      async () => {
        const found = await processesOfSession(reconcile);
        return found.filter((pid) => commandOf(pid).startsWith('sleep 600')).length === 2 && found;
      },
      SOON_MS,
    );
    return { id: row.id, reconcile, runner: pids.filter((pid) => / \S*ansible-runner run /.test(commandOf(pid))) };
  };

  test('that is cancelled leaves nothing: no task that traps TERM, and none that is asynchronous', async () => {
    const { id, reconcile } = await hanging('w3');
    await cancelReconcile({ db: bench.db, clock: () => new Date(), actor: 'ann' }, id);
    await eventually(
      'nothing of it is left',
      async () => (await processesOfSession(reconcile)).length === 0,
      CANCELLED_MS,
    );
    const list = await bench.condition('w3', 'Failure', 'True');
    expect(list.find(({ type }) => type === 'Failure')?.message).toBe('Reconciliation cancelled by ann');
    expect(await outcomesOf('w3')).toEqual(['cancelled']);
  }, 600_000);

  test('whose ansible-runner is killed goes with it, before the next one begins', async () => {
    const { reconcile, runner } = await hanging('w4');
    expect(runner).toHaveLength(1);
    await bench.change('w4', { hang: null });
    for (const pid of runner) process.kill(pid, 'SIGKILL');
    await eventually(
      'its run is over',
      async () => (await runsOf('w4')).some(({ outcome }) => outcome === 'failed'),
      SOON_MS,
    );
    expect(await processesOfSession(reconcile)).toEqual([]);
    await bench.condition('w4', 'Successful', 'True');
    expect((await made('w4'))?.data).toEqual({ size: '1' });
  }, 600_000);

  test('goes on through the proxy of the next process when its own was killed', async () => {
    await bench.create('w2', { size: 1, wait: true });
    await eventually('the playbook waits', () => existsSync(join(bench.home, 'waits-w2')), SOON_MS);
    await operator.kill();
    operator = await bench.start({ env });
    writeFileSync(join(bench.home, 'go-w2'), '');
    await bench.condition('w2', 'Successful', 'True');
    expect((await made('w2'))?.data).toEqual({ size: '1' });
    expect(await outcomesOf('w2')).toEqual(['ok']);
  }, 600_000);
});
