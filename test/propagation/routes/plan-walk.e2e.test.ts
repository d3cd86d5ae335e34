/** The way of a user from a folder of definitions to what is committed, on a whole stack, by the command line alone. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeNeeding } from '../../support/requirement.ts';
import { cli } from '../../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

/** Members and the data that they share; nothing of them executes anything. */
const DEFINITIONS = {
  cluster: 'handler: none\ninput: { members: { schema: [str] } }\n',
  member:
    'handler: none\nactions: { cluster_create: {} }\ninput: { name: { schema: str! }, members: { schema: [str] } }\n',
};

let stack: MusterStack;
const run = (...args: string[]) => cli(args, { url: stack.url });

/** Runs a command that is to succeed. Returns its data. */
async function done(...args: string[]): Promise<string> {
  const { exit, out, err } = await run(...args);
  expect([args, exit, err]).toEqual([args, 0, err]);
  return out;
}

describeNeeding(stackMissing(), 'the way of a user', () => {
  beforeAll(async () => {
    stack = await startMusterStack();
  });
  afterAll(() => stack?.remove());

  test('leads to a plan that runs, to its report, and to nothing that differs', async () => {
    const folder = join(stack.dataDir, 'definitions');
    for (const [name, text] of Object.entries(DEFINITIONS)) {
      await mkdir(join(folder, name), { recursive: true });
      await writeFile(join(folder, name, 'meta.yaml'), text);
    }
    await done('repository', 'add', 'queue', folder);
    await done('resource', 'create', 'rmq.cluster', 'queue/cluster');
    for (const number of [1, 2]) {
      await done('resource', 'create', `rmq.${number}`, 'queue/member', `name=rmq${number}`);
      await done('connection', 'add', `rmq.${number}`, 'rmq.cluster', 'name->members');
      await done('connection', 'add', 'rmq.cluster', `rmq.${number}`, 'members');
    }
    await done('event', 'add', 'on rmq.cluster.* changed rmq.1.cluster_create');

    const id = (await done('change', 'process', '--name', 'first')).trim();
    const report = await done('plan', 'run', 'last', '--wait', '--timeout', '300');
    expect(report.split('\n').slice(0, 5)).toEqual([
      ...['rmq.cluster.run#0', 'rmq.1.run', 'rmq.2.run', 'rmq.cluster.run#1'].map((node) => `${node} -> SUCCESS`),
      'rmq.1.cluster_create -> SUCCESS',
    ]);
    expect(await done('plan', 'get', id)).toMatch(/State +succeeded\nNodes +SUCCESS: 5 \(100 %\)\nRuns +1\n/);
    expect(await done('plan', 'explain', id, 'rmq.1.cluster_create')).toContain('Decision: success\n');
    expect((await done('plan', 'events', id, '-o', 'name')).trim().split('\n')).toHaveLength(5);
    expect(await done('change', 'list')).toBe('No changes\n');
    expect((await done('change', 'history', '--limit', '9')).match(/task=\S+/g)?.sort()).toEqual([
      ...['task=rmq.1.run', 'task=rmq.2.run', 'task=rmq.cluster.run'],
    ]);
    expect((await run('change', 'process')).exit).toBe(5);

    await done('resource', 'update', 'rmq.2', 'name=rabbit');
    await done('change', 'process');
    expect(await done('plan', 'nodes', 'last', '-o', 'name')).toContain('rmq.cluster.update#1\n');
    await done('plan', 'run', 'last', '--wait', '--timeout', '300');
    const again = await done('plan', 'list', '--state', 'succeeded', '-o', 'name');
    expect(again.trim().split('\n')).toHaveLength(2);
    await done('plan', 'delete', id);
    expect((await run('plan', 'get', id)).exit).toBe(3);
  });
});
