/** The examples as they are told, by the command line alone: haproxy before two services, and three nodes of RabbitMQ that make a cluster. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PlanNodeView } from '../../../domain/propagation/plan-view-schema.ts';
import { sshMissing } from '../../support/ansible/ssh-server.ts';
import { findProgram } from '../../support/find-program.ts';
import { freePort } from '../../support/free-port.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { cli } from '../../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FLEET = join(ROOT, 'examples', 'ssh-fleet');
const BALANCER = join(ROOT, 'examples', 'propagation', 'load-balancer');
const QUEUE = join(ROOT, 'examples', 'propagation', 'queue-cluster');

const haproxyMissing = () => (findProgram('haproxy') === null ? 'haproxy is not installed (Debian: haproxy)' : null);
const rabbitMissing = () =>
  findProgram('rabbitmqctl') === null ? 'RabbitMQ is not installed (Debian: rabbitmq-server)' : null;
const run = promisify(execFile);

describeNeeding(stackMissing(), 'the examples of propagation', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    stack = await startMusterStack();
  }, 600_000);
  /** Folder of the members of the queue. */
  let folder: string | undefined;
  afterAll(async () => {
    // First the runs of the stack: none of them starts a member again.
    await stack?.remove();
    if (folder === undefined) return;
    execFileSync(join(QUEUE, 'stop.sh'), [folder]);
    await rm(folder, { recursive: true, force: true });
  }, 600_000);

  /** Runs a command that is to succeed. Returns its data. */
  const done = async (...args: string[]): Promise<string> => {
    const { exit, out, err } = await cli(args, { url: stack.url });
    expect([args, exit, err]).toEqual([args, 0, err]);
    return out;
  };
  const create = (example: string, ...args: string[]) =>
    run(join(example, 'create.sh'), args, { env: { ...stack.env, MUSTER_URL: stack.url } });
  /** Makes a plan of what is staged, runs it to its end, and returns the nodes of these actions in canonical order. */
  const execute = async (ofThese: RegExp): Promise<PlanNodeView[]> => {
    await done('change', 'process');
    await done('plan', 'run', 'last', '--wait', '--timeout', '900');
    const nodes: PlanNodeView[] = JSON.parse(await done('plan', 'nodes', 'last', '-o', 'json'));
    return nodes.filter(({ base }) => ofThese.test(base));
  };
  /** What became of nodes: its outcome, or the status of a node that has none. */
  const told = (nodes: readonly PlanNodeView[]) =>
    Object.fromEntries(nodes.map(({ id, status, outcome }) => [id, outcome ?? status]));
  const nothingIsStaged = async () =>
    expect(await cli(['change', 'process'], { url: stack.url })).toMatchObject({
      exit: 5,
      err: expect.stringContaining('nothing_staged'),
    });

  describeNeeding(sshMissing() ?? haproxyMissing(), 'a load balancer before two services', () => {
    let fleet: string;
    let port: number;
    beforeAll(async () => {
      fleet = join(stack.dataDir, 'fleet');
      port = await freePort();
      execFileSync(join(FLEET, 'start.sh'), ['-p', String(await freePort()), fleet]);
      await create(BALANCER, fleet, String(port));
    }, 600_000);
    afterAll(async () => {
      for (const place of ['node1/root/k', 'node2/root/g', 'node3/root/ha']) {
        const pid = Number(await readFile(join(fleet, place, 'pid'), 'utf8').catch(() => ''));
        if (pid > 1) process.kill(pid, 'SIGTERM');
      }
      execFileSync(join(FLEET, 'stop.sh'), [fleet]);
    }, 600_000);

    const SERVICES = /^(k|kc|g|gc|ha)\.run$/;
    const page = async (service: string) => (await fetch(`http://127.0.1.3:${port + 1}/${service}/index.html`)).text();

    test('the second service is configured through it, then it takes in both; later only what a change concerns runs', async () => {
      const nodes = await execute(SERVICES);
      const created = { 'k.run': 'created', 'kc.run': 'created', 'g.run': 'created', 'gc.run': 'created' };
      expect(told(nodes)).toEqual({ ...created, 'ha.run#0': 'created', 'ha.run#1': 'changed' });
      const at = (id: string) => nodes.find((node) => node.id === id);
      expect(Date.parse(at('gc.run')?.start_time ?? '')).toBeGreaterThanOrEqual(
        Date.parse(at('ha.run#0')?.end_time ?? ''),
      );
      expect(await page('k')).toBe('k: first\n');
      expect(await page('g')).toBe('g: second (k: first)\n');
      await nothingIsStaged();

      await done('resource', 'update', 'kc', 'text=third');
      expect(told(await execute(/./))).toEqual({ 'kc.update': 'changed', 'ha.update': 'ok' });
      expect(await page('k')).toBe('k: third\n');
      await nothingIsStaged();
    }, 900_000);
  });

  describeNeeding(rabbitMissing(), 'three members of a message queue', () => {
    let queue: string;
    let port: number;
    beforeAll(async () => {
      queue = await mkdtemp(join(tmpdir(), 'muster-queue-'));
      folder = queue;
      port = await freePort();
      await create(QUEUE, queue, String(port));
    }, 600_000);
    /** Asks a member with its own cookie, as an operator of RabbitMQ does. */
    const rabbit = async (member: number, ...args: string[]) => {
      const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: join(queue, `rmq${member}`) };
      const names = { ERL_EPMD_PORT: String(port), RABBITMQ_CONF_ENV_FILE: '/dev/null' };
      const words = ['--quiet', '--longnames', '--node', `rmq${member}@127.0.0.1`, ...args];
      return (await run('/usr/lib/rabbitmq/bin/rabbitmqctl', words, { env: { ...env, ...names } })).stdout;
    };
    const running = async (member: number): Promise<string[]> =>
      JSON.parse(await rabbit(member, 'cluster_status', '--formatter', 'json')).running_nodes.sort();
    const members = (...numbers: number[]) => numbers.map((number) => `rmq${number}@127.0.0.1`);

    test('start, make a cluster and join it', async () => {
      expect(told(await execute(/./))).toEqual({
        ...{ 'rmq.1.run': 'created', 'rmq.2.run': 'created', 'rmq.3.run': 'created' },
        ...{ 'rmq.cluster.run#0': 'created', 'rmq.cluster.run#1': 'ok', 'rmq.1.cluster_create': 'changed' },
        ...{ 'rmq.2.cluster_join#0': 'changed', 'rmq.3.cluster_join': 'changed' },
        ...{ 'rmq.2.cluster_leave': 'noop', 'rmq.2.cluster_join#1': 'noop' },
      });
      expect(await running(2)).toEqual(members(1, 2, 3));
      expect((await stat(join(queue, 'rmq1', '.erlang.cookie'))).mode & 0o777).toBe(0o600);
      await nothingIsStaged();
    }, 900_000);

    test('do nothing to the cluster where what they share is the same, and join again where joining fails', async () => {
      // The member loses what it knows of the cluster, which goes on counting on it.
      await rabbit(2, 'stop_app');
      await rabbit(2, 'force_reset');
      await rabbit(2, 'start_app');
      await done('resource', 'update', 'rmq.3', 'memory=210MB');
      await done('resource', 'stage', 'rmq.cluster');
      expect(told(await execute(/./))).toEqual({
        ...{ 'rmq.3.update#0': 'changed', 'rmq.cluster.update': 'ok', 'rmq.3.update#1': 'ok' },
        ...{ 'rmq.2.cluster_join#0': 'noop', 'rmq.2.cluster_leave': 'noop', 'rmq.2.cluster_join#1': 'noop' },
        ...{ 'rmq.1.cluster_create': 'noop', 'rmq.3.cluster_join': 'noop' },
      });
      expect(await running(2)).toEqual(members(2));

      await done('resource', 'update', 'rmq.cluster', 'title=mended');
      expect(told(await execute(/^rmq\.2\./))).toMatchObject({
        ...{ 'rmq.2.cluster_join#0': 'failed', 'rmq.2.cluster_leave': 'changed', 'rmq.2.cluster_join#1': 'changed' },
      });
      expect(await done('plan', 'get', 'last')).toMatch(/^Recovered +rmq\.2\.cluster_join$/m);
      expect(await running(2)).toEqual(members(1, 2, 3));
    }, 900_000);

    test('go on without a member that is removed, in the plan that removes it', async () => {
      const known = async (member: number) =>
        (await readFile(join(queue, `rmq${member}`, 'members'), 'utf8')).split('\n').filter((line) => line !== '');
      expect(await known(1)).toEqual(members(1, 2, 3));
      await done('resource', 'remove', 'rmq.3');
      expect(told(await execute(/./))).toEqual({
        ...{ 'rmq.3.remove': 'changed', 'rmq.cluster.run': 'changed', 'rmq.1.cluster_create': 'changed' },
        ...{ 'rmq.2.cluster_join#0': 'ok', 'rmq.2.cluster_leave': 'noop', 'rmq.2.cluster_join#1': 'noop' },
      });
      expect(existsSync(join(queue, 'rmq3'))).toBe(false);
      expect(await running(1)).toEqual(members(1, 2));
      expect(await known(1)).toEqual(members(1, 2));
      // What follows for those that are connected to a receiver is staged by the plan.
      expect(await done('plan', 'get', 'last')).toMatch(/^Follow up +rmq\.1, rmq\.2$/m);
      expect(told(await execute(/^rmq\.[12]\.update/))).toMatchObject({ 'rmq.2.update': 'changed' });
      expect(await known(2)).toEqual(members(1, 2));
      await nothingIsStaged();
    }, 900_000);
  });
});
