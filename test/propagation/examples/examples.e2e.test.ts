/** The example of the load balancer as it is told: haproxy before two services on hosts of their own, over ssh. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runPlan } from '../../../control/propagation/command-plan.ts';
import { processChanges } from '../../../control/propagation/process-changes.ts';
import { updateInputs } from '../../../control/propagation/update-inputs.ts';
import { pokedPlan } from '../../../control/propagation/wake-plans.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import { readYaml } from '../../../drivers/propagation-content/read-yaml.ts';
import { type Db, openDatabase } from '../../../store/connection/database.ts';
import { sshMissing } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { findProgram } from '../../support/find-program.ts';
import { freePort } from '../../support/free-port.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const FLEET = join(ROOT, 'examples', 'ssh-fleet');
const EXAMPLE = join(ROOT, 'examples', 'propagation', 'load-balancer');

const haproxyMissing = () => (findProgram('haproxy') === null ? 'haproxy is not installed (Debian: haproxy)' : null);

interface Node {
  id: string;
  status: string;
  outcome: string | null;
  message: string | null;
  start_time: Date | null;
  end_time: Date | null;
}

describeNeeding(stackMissing() ?? sshMissing() ?? haproxyMissing(), 'a load balancer before two services', () => {
  let stack: MusterStack;
  let db: Db;
  let fleet: string;
  let port: number;

  beforeAll(async () => {
    stack = await startMusterStack();
    db = openDatabase({ url: await stack.databaseUrl(), name: 'test' });
    fleet = join(stack.dataDir, 'fleet');
    port = await freePort();
    execFileSync(join(FLEET, 'start.sh'), ['-p', String(await freePort()), fleet]);
    execFileSync(join(EXAMPLE, 'create.sh'), [fleet, String(port)], { env: { ...stack.env, MUSTER_URL: stack.url } });
  }, 240_000);
  afterAll(async () => {
    for (const place of ['node1/root/k', 'node2/root/g', 'node3/root/ha']) {
      const pid = Number(await readFile(join(fleet, place, 'pid'), 'utf8').catch(() => ''));
      if (pid > 1) process.kill(pid, 'SIGTERM');
    }
    execFileSync(join(FLEET, 'stop.sh'), [fleet]);
    await db?.destroy();
    await stack?.remove();
  }, 120_000);

  const deps = () => ({
    ...{ db, clock: () => new Date(), actor: null, readYaml, runner: 'local' as const, allowsLocal: false },
    tell: async () => undefined,
  });
  /** Processes what is staged, runs it to its end, and returns the nodes that execute something, in the order of their starts. */
  const execute = async (): Promise<Node[]> => {
    const { id } = await processChanges(deps(), {});
    await runPlan(deps(), id);
    await stack.temporal((client) => tellOrThrow(client, pokedPlan(id)));
    const state = async () =>
      (await stack.sql<{ state: string }>('select state from propagation_plans where id = $1', [id]))[0]?.state;
    await eventually('the plan is over', async () => (await state()) !== 'running', 420_000);
    return stack.sql<Node>(
      `select id, status, outcome, message, start_time, end_time from propagation_plan_nodes
        where plan = $1 and not is_idle order by start_time, number`,
      [id],
    );
  };
  const page = async (service: string) => (await fetch(`http://127.0.1.3:${port + 1}/${service}/index.html`)).text();
  const shown = (nodes: readonly Node[]) =>
    nodes.map(({ id, status, outcome, message }) => ({ id, status, outcome, message }));

  test('the second service is configured through it, then it takes in both; later only what a change concerns runs', async () => {
    const nodes = await execute();
    const done = { status: 'success', message: null };
    expect(shown(nodes).sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: 'g.run', outcome: 'created', ...done },
      { id: 'gc.run', outcome: 'created', ...done },
      { id: 'ha.run#0', outcome: 'created', ...done },
      { id: 'ha.run#1', outcome: 'changed', ...done },
      { id: 'k.run', outcome: 'created', ...done },
      { id: 'kc.run', outcome: 'created', ...done },
    ]);
    const at = (id: string) => nodes.find((node) => node.id === id);
    expect(at('gc.run')?.start_time?.getTime()).toBeGreaterThanOrEqual(at('ha.run#0')?.end_time?.getTime() ?? Infinity);
    expect(await page('k')).toBe('k: first\n');
    expect(await page('g')).toBe('g: second (k: first)\n');

    await expect(processChanges(deps(), {})).rejects.toMatchObject({ code: 'nothing_staged' });

    await updateInputs(deps(), 'kc', { text: 'third' });
    expect(shown(await execute())).toEqual([
      { id: 'kc.update', outcome: 'changed', ...done },
      { id: 'ha.update', outcome: 'ok', ...done },
    ]);
    expect(await page('k')).toBe('k: third\n');
    await expect(processChanges(deps(), {})).rejects.toMatchObject({ code: 'nothing_staged' });
  }, 900_000);
});
