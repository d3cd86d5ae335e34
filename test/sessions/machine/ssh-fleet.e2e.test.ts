import { execFileSync, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sshMissing } from '../../support/ansible/ssh-server.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const EXAMPLE = join(ROOT, 'examples', 'ssh-fleet');

describeNeeding(stackMissing() ?? sshMissing(), 'a fleet of real SSH hosts', () => {
  let stack: MusterStack;
  let fleet: string;

  beforeAll(async () => {
    stack = await startMusterStack();
    fleet = join(stack.dataDir, 'fleet');
    execFileSync(join(EXAMPLE, 'start.sh'), [fleet]);
  }, 600_000);
  afterAll(async () => {
    execFileSync(join(EXAMPLE, 'stop.sh'), [fleet]);
    await stack?.remove();
  });

  /** The command line as a user calls it. */
  const muster = (args: string[], input = ''): Promise<{ status: number | null; out: string; err: string }> =>
    new Promise((resolve) => {
      const child = spawn(join(ROOT, 'muster'), args, { env: { ...stack.env, MUSTER_URL: stack.url } });
      let [out, err] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text;
      });
      child.once('close', (status) => resolve({ status, out, err }));
      child.stdin.end(input);
    });

  const done = async (args: string[], input = '') => {
    const { status, out, err } = await muster(args, input);
    if (status !== 0) throw new Error(`muster ${args.join(' ')}: ${status}\n${out}${err}`);
    return out;
  };

  test('is configured with the stored key, says who is away, and is retried when they are back', async () => {
    const repository = await stack.repository('ssh-fleet');
    cpSync(EXAMPLE, repository.path, { recursive: true });
    await repository.commit({});
    await done(['secret', 'set', 'muster-ssh', 'private'], await readFile(join(fleet, 'id_ed25519'), 'utf8'));
    await done(['secret', 'set', 'muster-ssh', 'known_hosts'], await readFile(join(fleet, 'known_hosts'), 'utf8'));
    await done([
      ...['configuration', 'apply', '-f', join(EXAMPLE, 'configuration.json')],
      ...['--clone-url', repository.url, '--branch', 'main'],
    ]);
    await done(['component', 'apply', '-f', join(fleet, 'components.json')]);

    const first = await muster(['session', 'run', 'first', '--configuration', 'ssh-fleet', '--require-hosts']);
    expect(first).toMatchObject({ status: 0 });
    for (const node of ['node1', 'node2', 'node3']) expect(first.out).toContain(node);

    execFileSync(join(EXAMPLE, 'stop.sh'), [fleet]);
    const away = await muster(['session', 'run', 'away', '--configuration', 'ssh-fleet']);
    expect(away.status).toBe(1);
    expect(away.out + away.err).toMatch(/unreachable/i);

    const { port } = new URL(
      `http://${(await readFile(join(fleet, 'known_hosts'), 'utf8')).replace(/[[\]]/g, '').split(' ')[0]}`,
    );
    execFileSync(join(EXAMPLE, 'start.sh'), ['-p', port, fleet]);
    const retried = await muster(['session', 'retry', 'away', '--hosts', 'failed', '--wait']);
    expect(retried).toMatchObject({ status: 0 });
    const component = await stack.call('GET', '/v3/components/node1');
    expect(component.body).toMatchObject({ configuration_status: 'configured', error_count: 0 });
  }, 600_000);
});
