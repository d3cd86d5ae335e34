import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stackStatus } from '../../../deploy/stack/background.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const MINUTES = 60_000;

describeNeeding(stackMissing(), 'a worker that hangs', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    stack = await startMusterStack({ MUSTER_TEST_HUNG_SECONDS: '20' });
  }, 3 * MINUTES);
  afterAll(() => stack?.remove(), 4 * MINUTES);

  test(
    'is called ill and replaced; its playbook goes on, and runs once',
    async () => {
      const begun = join(stack.dataDir, 'begun');
      const go = join(stack.dataDir, 'go');
      const { url, commit } = await stack.repository('plays');
      const shell = `echo once >> ${begun}; until [ -e ${go} ]; do sleep 0.2; done`;
      await commit({ 'site.yml': `- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: ${shell}\n` });
      await stack.configure('slow', url, ['site.yml'], ['h1']);
      await stack.create('across', 'slow', { ansible_limit: 'h1' });
      await stack.untilWritten(begun, 'once', 2 * MINUTES);
      const pid = await stack.pidOf('worker');
      process.kill(pid, 'SIGSTOP');
      const ill = await eventually(
        'the stack is degraded by it',
        async () => {
          const state = await stackStatus(stack.dataDir);
          return state?.state === 'degraded' && state.reason?.startsWith('worker: ') ? state : null;
        },
        3 * MINUTES,
      );
      expect(ill.reason).toMatch(/^worker: it has (said nothing|not moved) for/);
      await eventually(
        'another worker is there',
        async () => {
          const state = await stackStatus(stack.dataDir);
          return state?.state === 'running' && state.components.worker?.process?.pid !== pid;
        },
        3 * MINUTES,
      );
      writeFileSync(go, '');
      const session = await stack.untilComplete('across', 2 * MINUTES);
      expect(session.status.session.succeeded).toBe('true');
      expect(await stack.untilWritten(begun, 'once')).toBe('once\n');
    },
    8 * MINUTES,
  );
});
