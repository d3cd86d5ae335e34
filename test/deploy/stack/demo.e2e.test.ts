import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ansibleMissing } from '../../support/ansible/ansible.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { TestStack } from './test-stack.ts';

const DEMO = join(import.meta.dirname, '..', '..', '..', 'deploy', 'stack', 'demo.ts');

/** Pids of the processes that have `word` on their command line or in their environment. */
function processesWith(word: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(word));
      } catch {
        return false;
      }
    });
}

describeNeeding(temporalMissing() ?? ansibleMissing(), 'the demo', () => {
  let stack: TestStack;

  beforeEach(async () => {
    stack = await TestStack.create();
  });
  afterEach(async () => stack.remove());

  /** What is told to end may be there for a moment longer than the demo. */
  const leavesNothing = () =>
    eventually(
      'no process is left',
      () => processesWith(stack.dataDir).length === 0,
      240_000,
      () => processesWith(stack.dataDir).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1')),
    );
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [DEMO, ...args], { env: { ...process.env, ...stack.env } });
    const shown = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      shown.out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      shown.err += chunk;
    });
    const status = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, shown, status };
  };

  test('runs a session on three hosts, shows them and ends with its success', async () => {
    const { shown, status } = start('--exit');
    expect(await status).toBe(0);
    for (const host of ['web1', 'web2', 'db1']) expect(shown.out).toMatch(new RegExp(`^${host} .* applied$`, 'm'));
    expect(shown.err).toContain(`http://127.0.0.1:${stack.env.MUSTER_API_PORT}/docs`);
    expect(shown.err).toContain(`http://127.0.0.1:${stack.env.MUSTER_API_PORT}/temporal/`);
    await leavesNothing();
  }, 600_000);

  test('cancels its session at Ctrl-C and leaves no process', async () => {
    const { child, shown, status } = start();
    await eventually('a layer runs', () => shown.err.includes('layer 1/2'), 400_000);
    child.kill('SIGINT');
    expect(await status).toBe(130);
    expect(shown.err).toMatch(/cancelled session quickstart-/);
    await leavesNothing();
  }, 600_000);

  test('stops everything at a Ctrl-C that ends who reads its messages too', async () => {
    const { child, shown, status } = start();
    await eventually('the stack is up', () => shown.err.includes('worker 0.'), 400_000);
    child.stderr.destroy();
    child.kill('SIGINT');
    expect(await status).toBe(130);
    await leavesNothing();
  }, 600_000);

  test('refuses what it does not know before it starts anything', async () => {
    const { shown, status } = start('--fast');
    expect(await status).toBe(2);
    expect(shown.err).toContain('--fast');
  });
});
