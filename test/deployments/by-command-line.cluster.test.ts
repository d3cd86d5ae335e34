/** One application through its whole life by `./muster`, on three real API servers of which one is away for a while in each phase. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { DEPLOYMENTS_QUEUE } from '../../domain/engine/task-queues.ts';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/source-tree.ts';
import { toPlain } from '../support/temporal/history-files.ts';
import { AGENT, MEMBERS, type MemberSite, openMemberSite, STORE } from './member-site.ts';

let site: MemberSite;
beforeAll(async () => {
  site = await openMemberSite();
}, 600_000);
afterAll(() => site?.remove(), 360_000);

interface Said {
  exit: number | null;
  out: string;
  err: string;
}

/** Runs `./muster` as a process of its own. */
async function muster(args: string[], stdin = ''): Promise<Said> {
  const env = { ...process.env, MUSTER_URL: site.stack.url };
  const command = spawn(join(ROOT, 'muster'), args, { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(command, 'exit');
  command.stdin.end(stdin);
  const [[exit], out, err] = await Promise.all([ended, text(command.stdout), text(command.stderr)]);
  return { exit, out, err };
}

/** JSON that a command answers which succeeds. */
async function json(...args: string[]) {
  const said = await muster(args);
  if (said.exit !== 0) throw new Error(`${args.join(' ')}: ${said.exit} ${said.err}`);
  return JSON.parse(said.out);
}

/** Rows of a command that succeeds, by the heads of their columns. */
async function rows(...args: string[]): Promise<Record<string, string>[]> {
  const said = await muster([...args, '-o', 'tsv']);
  if (said.exit !== 0) throw new Error(`${args.join(' ')}: ${said.exit} ${said.err}`);
  const [heads = [], ...lines] = said.out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
  return lines.map((cells) => Object.fromEntries(heads.map((head, at) => [head, cells[at] ?? ''])));
}

/** How many resources of the application each cluster has, by app and status. */
async function placed(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { app, cluster, status } of await rows('deployment', 'status', 'life', '--type', 'rsync')) {
    const place = `${app} ${cluster} ${status}`;
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

/** Queues on which the work on groups was done, as Temporal has it on record. */
async function queuesOfGroups(phase: 'apply' | 'delete', cluster: string): Promise<Set<string>> {
  const [found] = await site.stack.sql<{ id: string }>('select id from deployment_contexts where owner like $1', [
    '%/life',
  ]);
  const id = `${contextWorkflowId(found?.id ?? '')}/${phase}/${cluster}`;
  const history = await site.stack.temporal((client) => client.workflow.getHandle(id).fetchHistory());
  const queues = toPlain(history).events.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes as { taskQueue: { name: string } } | undefined;
    return scheduled === undefined ? [] : [scheduled.taskQueue.name];
  });
  return new Set(queues);
}

test('an application is placed, shown from its counts down to an object, waits for a dead cluster twice, and leaves nothing', async () => {
  const { north, west } = site.members;
  expect(await rows('cluster', 'list')).toHaveLength(MEMBERS.length);
  const document = JSON.stringify(
    await site.document('life', [
      AGENT,
      {
        ...STORE,
        placement: {
          all_of: [{ provider: 'lab', cluster: 'west' }],
          any_of: [
            { provider: 'lab', cluster: 'south' },
            { provider: 'lab', cluster: 'north' },
          ],
        },
      },
    ]),
  );

  await west.cut();
  expect((await muster(['deployment', 'apply', '-f', '-'], document)).exit).toBe(0);
  await site.untilCounts('life', { status: 'Instantiating', Applied: 8, Retrying: 2 });
  expect(await placed()).toEqual({
    ...{ 'agent lab+north Applied': 3, 'agent lab+south Applied': 3 },
    ...{ 'store lab+north Applied': 2, 'store lab+west Retrying': 2 },
  });
  const waits = await rows('deployment', 'explain', 'life', '--cluster', 'lab+west');
  expect(waits).toMatchObject(
    ['Service', 'StatefulSet'].map((kind) => ({
      ...{ where: 'store lab+west', resource: `${kind} store`, waits_for: 'an answer of lab+west' },
    })),
  );

  await west.mend();
  // The same document changes nothing, and waits for the end.
  const again = await muster(['deployment', 'apply', '-f', '-', '--wait'], document);
  expect([again.exit, again.err]).toEqual([0, expect.stringContaining('deployment life: Instantiated, 10 Applied')]);

  // From the counts down to one object.
  expect(await json('deployment', 'get', 'life', '-o', 'json')).toMatchObject([
    { name: 'life', state: 'Instantiated', status: 'Instantiated', counts: { Applied: 10 }, apps: ['agent', 'store'] },
  ]);
  const status = '/api/v1/deployments/life/status';
  const one = await json('api', 'GET', `${status}?output=clusters&type=rsync&app=store`);
  expect(one['rsync-status']).toEqual({ Applied: 4 });
  expect(one.apps[0].clusters.map(({ cluster }: { cluster: string }) => cluster)).toEqual(['north', 'west']);
  const narrow = ['--app', 'store', '--cluster', 'lab+west', '--resource', 'store'];
  const isPresent = async () => {
    const shown = await rows('deployment', 'status', 'life', ...narrow);
    return shown.filter((row) => row.status === 'Applied' && row.cluster_status === 'Present').length === 2;
  };
  await eventually('both objects are seen', isPresent, 180_000, () => rows('deployment', 'status', 'life', ...narrow));
  const query = 'type=all&output=detail&app=store&cluster=lab%2Bwest&resource=store';
  const detail = (await json('api', 'GET', `${status}?${query}`)).apps[0].clusters[0].resources;
  const { body: live } = await west.ask('GET', '/apis/apps/v1/namespaces/life/statefulsets/store');
  const set = detail.find(({ GVK }: { GVK: { Kind: string } }) => GVK.Kind === 'StatefulSet');
  expect(set.detail.metadata.uid).toBe(live.metadata.uid);
  expect(set.detail.spec.serviceName).toBe('store');
  expect((await site.labelled('south')).filter((object) => object.includes('store'))).toEqual([]);
  expect(await queuesOfGroups('apply', 'lab+north')).toEqual(new Set([DEPLOYMENTS_QUEUE]));

  await north.cut();
  expect((await muster(['deployment', 'terminate', 'life'])).exit).toBe(0);
  await site.untilCounts('life', { status: 'Terminating', Deleted: 5, Retrying: 5 });
  expect(await placed()).toEqual({
    ...{ 'agent lab+north Retrying': 3, 'agent lab+south Deleted': 3 },
    ...{ 'store lab+north Retrying': 2, 'store lab+west Deleted': 2 },
  });
  expect(await muster(['deployment', 'approve', 'life'])).toMatchObject({
    ...{ exit: 5, err: expect.stringContaining('context_busy') },
  });
  await north.mend();
  const removed = await muster(['deployment', 'delete', 'life', '--wait']);
  expect([removed.exit, removed.err]).toEqual([0, expect.stringContaining('deployment life removed')]);
  for (const member of MEMBERS) expect(await site.labelled(member)).toEqual([]);
  expect((await muster(['deployment', 'get', 'life'])).exit).toBe(3);
}, 900_000);
