import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { breakingRefused, killPart, kubectl, startParts } from '../../support/kubernetes/dev-cluster.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';
import { untilSystemIsReady } from '../../support/kubernetes/system-pods.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** A playbook that takes so many seconds. */
const taking = (seconds: number) => `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.command: sleep ${seconds}
      changed_when: true
`;
/** Until a cluster calls a node that says nothing any more not ready; it is looked at each 10 s. */
const NOT_READY_MS = 240_000;
/** A taint that drives away every pod which does not tolerate it. */
const TAINT = 'muster-test/away';
const GOOD = { succeeded: 'true', message: '1 layer done on 1 host', reason: null };

describeNeeding(breakingRefused(), 'sessions whose cluster breaks', () => {
  let cluster: ClusterStack;
  let sessions: JobSessions;

  beforeAll(async () => {
    cluster = await startClusterStack();
    sessions = openJobSessions(cluster);
    const { stack } = cluster;
    const repository = await stack.repository('config');
    await repository.commit({ 'long.yml': taking(600), 'short.yml': taking(8) });
    for (const name of ['long', 'short']) {
      await stack.configure(name, cluster.repositoryUrl('config'), [`${name}.yml`], ['a', 'b', 'c', 'd']);
    }
  }, 600_000);

  afterAll(async () => {
    await startParts();
    await untaint();
    await cluster?.remove();
  }, 480_000);

  /** Harmless where there is no such taint. */
  const untaint = () => kubectl(['taint', 'nodes', '--all', `${TAINT}-`]).catch(() => '');
  const on = (host: string) => ({ ansible_limit: host });
  const cancel = async (name: string) => {
    expect((await cluster.stack.call('POST', `/api/v1/sessions/${name}/cancel`)).status).toBeLessThan(300);
  };
  const layerEnded = (name: string) =>
    eventually(
      `the layer of ${name} has ended`,
      async () => {
        const { attempts } = await cluster.stack.session(name);
        return attempts.some(({ state }: { state: string }) => state === 'ended');
      },
      180_000,
    );
  const said = (name: string, expected: { code: string; message: RegExp }, withinMs: number) =>
    eventually(
      `${name} says ${expected.code}`,
      async () => {
        const { reason } = await cluster.stack.session(name);
        return reason?.code === expected.code && expected.message.test(reason.message);
      },
      withinMs,
    );

  test('the API server is killed: what runs goes on, what begins or is cancelled meanwhile is done when it is back', async () => {
    const { stack } = cluster;
    const [through, cancelled] = await Promise.all([
      sessions.running('api-through', 'short', on('a')),
      sessions.running('api-cancelled', 'long', on('b')),
    ]);
    await killPart('apiserver');
    await eventually('the API server is away', async () => !(await clusterStatus()).up);
    await stack.create('api-created', 'short', on('c'));
    await cancel('api-cancelled');
    await layerEnded('api-through');
    await said(
      'api-created',
      { code: 'cluster_unavailable', message: /starting the Job failed, trying again/ },
      180_000,
    );
    await startParts();
    expect(await sessions.ended('api-through')).toEqual(GOOD);
    expect(await sessions.ended('api-created')).toEqual(GOOD);
    expect(await sessions.ended('api-cancelled')).toEqual({
      succeeded: 'false',
      // The node comes back after the API server does: then the end of the session says that, and the clean-up verifies it.
      message: expect.stringMatching(/^cancelled(; not verified: .+)?$/),
      reason: 'cancelled',
    });
    await eventually(
      'nothing of it is left',
      async () => {
        await sessions.sweep();
        return sessions.untilGone(cancelled, 5_000).then(
          () => true,
          () => false,
        );
      },
      180_000,
    );
    await sessions.untilReleased(through);
    await sessions.untilReleased(await sessions.jobOf('api-created'));
  }, 600_000);

  test('the node is away: a cancel and a deleted pod are not verified and say so, what runs goes on; nothing is left when it is back', async () => {
    const { stack, namespace } = cluster;
    const [through, cancelled, deleted, atOnce] = await Promise.all([
      sessions.running('node-through', 'short', on('a')),
      sessions.running('node-cancelled', 'long', on('b')),
      sessions.running('node-deleted', 'long', on('c')),
      sessions.running('node-at-once', 'long', on('d')),
    ]);
    await killPart('kubelet');
    // The cluster calls it ready for half a minute more.
    await cancel('node-at-once');
    const unverified = /^cancelled.*; not verified: node not ready$/;
    expect(await sessions.ended('node-at-once')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(unverified),
      reason: 'cancelled',
    });
    const lost = { code: 'node_lost', message: /^node \S+ is not ready$/ };
    await said('node-cancelled', lost, NOT_READY_MS);
    await cancel('node-cancelled');
    const its = `batch.kubernetes.io/job-name=${deleted}`;
    await namespace.kubectl(['delete', 'pod', '-l', its, '--wait=false']);
    expect(await sessions.ended('node-cancelled')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(unverified),
      reason: 'cancelled',
    });
    expect(await sessions.ended('node-deleted')).toEqual({
      succeeded: 'false',
      message: expect.stringMatching(/^pod \S+ was deleted, its node is not ready; not verified: node not ready$/),
      reason: 'pod_deleted',
    });
    // Its layer is over, and its Job is not: only the node can say how its containers ended.
    await layerEnded('node-through');
    expect((await stack.session('node-through')).status.session.status).toBe('running');
    await startParts();
    expect(await sessions.ended('node-through')).toEqual(GOOD);
    await sessions.untilReleased(through);
    await eventually(
      'the containers that went on have ended',
      async () => {
        const pods = await Promise.all([cancelled, deleted, atOnce].map(sessions.pods));
        return pods.flat().every(({ status }) => /Succeeded|Failed/.test(status?.phase ?? ''));
      },
      180_000,
    );
    await sessions.sweep();
    for (const job of [cancelled, deleted, atOnce]) await sessions.untilGone(job, 180_000);
    for (const name of ['node-cancelled', 'node-deleted', 'node-at-once']) {
      const { job } = await stack.session(name);
      // Nobody could tell before the node was back.
      expect(job.exit_codes).toMatchObject({ 'git-clone': 0, ansible: expect.any(Number) });
      expect(job.unverified).toBeNull();
    }
  }, 800_000);

  test('the node is tainted NoExecute: what runs is driven away and says so, what begins waits for the taint to go; nothing is left', async () => {
    const { stack } = cluster;
    const driven = await sessions.running('taint-driven', 'long', on('a'));
    const [pod] = await sessions.pods(driven);
    const taint = (...effects: string[]) =>
      kubectl(['taint', 'nodes', pod?.spec?.nodeName ?? '', ...effects.map((effect) => `${TAINT}${effect}`)]);
    try {
      await taint('=yes:NoExecute', '=yes:NoSchedule');
      expect(await sessions.ended('taint-driven')).toEqual({
        succeeded: 'false',
        message: expect.stringMatching(/^DeletionByTaintManager: .*NoExecute taint/),
        reason: 'evicted',
      });
      await sessions.untilReleased(driven);
      expect((await stack.session('taint-driven')).job).toMatchObject({
        exit_codes: { 'git-clone': 0, ansible: expect.any(Number) },
        unverified: null,
      });
      // Else the scheduler may see that the taint is gone before the controller does that drives pods away.
      await taint(':NoExecute-');
      await stack.create('taint-waits', 'short', on('b'));
      await said('taint-waits', { code: 'unschedulable', message: /untolerated taint/ }, 180_000);
    } finally {
      await untaint();
    }
    expect(await sessions.ended('taint-waits')).toEqual(GOOD);
    const waited = await sessions.jobOf('taint-waits');
    for (const name of ['taint-driven', 'taint-waits']) {
      expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
    }
    await sessions.sweep();
    for (const job of [driven, waited]) await sessions.untilGone(job, 180_000);
    await untilSystemIsReady();
  }, 600_000);
});
