/** Another user of the machine, who has no right in Muster and no key, but reaches the embedded Temporal. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { ROOT } from '../support/source-tree.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const run = promisify(execFile);
/** The user `nobody`, where we may be somebody else; elsewhere whoever we are, who has no key either. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

describeNeeding(stackMissing(), 'another user of the machine', () => {
  let stack: MusterStack;
  let victim: string;

  beforeAll(async () => {
    stack = await startMusterStack({}, 'own');
    victim = await mkdtemp(join(tmpdir(), 'muster-victim-'));
    await mkdir(join(victim, 'folder'), { mode: 0o700 });
    await writeFile(join(victim, 'folder', 'file'), '');
    const repository = await stack.repository('another');
    const task = (command: string) =>
      `- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.raw: ${command}\n`;
    await repository.commit({ 'long.yml': task('sleep 600'), 'quick.yml': task('"true"') });
    for (const name of ['long', 'quick']) await stack.configure(name, repository.url, [`${name}.yml`], ['h1']);
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await rm(victim, { recursive: true, force: true });
  });

  async function tries(workflowId: string, given: object): Promise<string[]> {
    const address = `127.0.0.1:${stack.env.MUSTER_TEMPORAL_PORT}`;
    const script = join(ROOT, 'test', 'support', 'stranger.mjs');
    const environment = { ...NOBODY, cwd: '/', env: { PATH: process.env.PATH } };
    const { stdout } = await run(process.execPath, [script, address, workflowId, JSON.stringify(given)], environment);
    return stdout.trim().split('\n');
  }

  test('removes nothing, ends nothing and stops nothing; sessions go on', async () => {
    const name = await stack.create('s-long', 'long');
    const { id } = await stack.session(name);
    await eventually('its run', async () => (await stack.processes(id)).length > 0, 240_000);
    const path = relative(join(stack.dataDir, 'workspaces'), join(victim, 'folder'));
    const said = await tries(sessionWorkflowId({ id, name }), {
      calls: [
        ['removeWorkspace', { sessionId: path }],
        ['removeWorkspace', { sessionId: id }],
        ['endRun', { sessionId: path, layer: 0, attempt: 1 }],
        ['endRun', { sessionId: id, layer: 0, attempt: 1 }],
        ['cleanRoot', { jobId: path }],
        ['cleanHost'],
      ],
      signals: ['slotFree', 'leasesFree'],
      updates: [['cancelSession', { reason: 'forged' }], ['finishDebug'], ['retrySession', { hosts: 'all' }]],
    });
    expect(said).toEqual([
      ...['removeWorkspace', 'removeWorkspace', 'endRun', 'endRun', 'cleanRoot', 'cleanHost'].map(
        (activity) => `${activity} payload_refused`,
      ),
      'slotFree said',
      'leasesFree said',
      ...['cancelSession', 'finishDebug', 'retrySession'].map((update) => `${update} payload_refused`),
    ]);
    await access(join(victim, 'folder', 'file'));
    expect((await stack.processes(id)).length).toBeGreaterThan(0);
    expect((await stack.session(name)).status.session.status).toBe('running');

    await stack.call('POST', `/api/v1/sessions/${name}/cancel`, {});
    expect((await stack.untilComplete(name)).status.session.succeeded).toBe('false');
    await stack.create('s-quick', 'quick');
    expect((await stack.untilComplete('s-quick')).status.session.succeeded).toBe('true');
  }, 600_000);
});
