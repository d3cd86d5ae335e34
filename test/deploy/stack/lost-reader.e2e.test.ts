import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeNeeding } from '../../support/requirement.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { TestStack } from './test-stack.ts';

describeNeeding(temporalMissing(), 'a stack whose messages nobody reads any more', () => {
  let stack: TestStack;
  let process_: ChildProcess;

  beforeEach(async () => {
    stack = await TestStack.create();
  });
  afterEach(async () => {
    process_.kill('SIGKILL');
    await stack.remove();
  });

  test('stops its parts in order all the same', async () => {
    process_ = spawn(process.execPath, [join(import.meta.dirname, 'stand-ins', 'stack.ts')], {
      env: stack.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(process_, 'exit');
    let said = '';
    await new Promise<void>((resolve) => {
      process_.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('API docs:')) resolve();
      });
    });
    process_.stderr?.destroy();
    process_.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    const state = await stack.status();
    expect(state.state).toBe('stopped');
    for (const part of Object.values(state.components)) expect(part.process).toBeNull();
  });
});
