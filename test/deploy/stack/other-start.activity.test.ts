import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startStack } from '../../../deploy/stack/background.ts';
import { identify } from '../../../deploy/stack/process-identity.ts';
import { type StackState, writeStackState } from '../../../deploy/stack/stack-state.ts';
import { eventually } from '../../support/eventually.ts';
import { processEnvironment } from '../../support/stack/process-environment.ts';

let dataDir: string;
let supervisor: ChildProcess;
let lines: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster-other-'));
  supervisor = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
  lines = [];
  // Stands for a whole stack: says that it is up.
  await writeFile(
    join(dataDir, 'stack.mjs'),
    'process.send({ type: "up", state: { mine: true } }, () => process.exit())',
  );
});
afterEach(async () => {
  supervisor.kill('SIGKILL');
  await rm(dataDir, { recursive: true });
});

/** What the supervisor of another command says of itself. */
async function says(state: StackState['state'], reason: string | null = null): Promise<void> {
  const identity = await identify(supervisor.pid ?? 0);
  if (identity === null) throw new Error('the supervisor does not live');
  const part = { process: null, address: null, version: null, restarts: 0, started_at: null, last_exit: null };
  writeStackState(dataDir, {
    ...{ state, reason, supervisor: identity, started_at: new Date().toISOString() },
    versions: { muster: '0.1.0', node: '24', ansible: null },
    links: { api: 'http://127.0.0.1:8100', docs: '', temporal_ui: null },
    components: { api: { ...part, state: state === 'running' ? 'healthy' : 'waiting', reason: null } },
  });
}

async function ends(): Promise<void> {
  const gone = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGKILL');
  await gone;
}

/** `up`, and whether it has answered. */
function start(signal?: AbortSignal) {
  const entry = join(dataDir, 'stack.mjs');
  const onProgress = (line: string): void => void lines.push(line);
  const command = { answered: false };
  const options = { dataDir, env: processEnvironment(), entry, onProgress, ...(signal ? { signal } : {}) };
  const result = startStack(options).finally(() => {
    command.answered = true;
  });
  const waits = async (word: string) => {
    await eventually('it says for what it waits', () => lines.some((line) => line.includes(word)));
    expect(command.answered).toBe(false);
  };
  return { result, waits };
}

const OWN = { outcome: 'started', state: { mine: true } };

describe('up beside a stack', () => {
  test.each(['running', 'degraded'] as const)('that is %s is done at once', async (state) => {
    await says(state);
    expect(await start().result).toMatchObject({ outcome: 'already_running', state: { state } });
  });

  test('that is starting waits until it is up, and shows its parts', async () => {
    await says('starting');
    const { result, waits } = start();
    await waits('starting here already');
    await says('running');
    expect(await result).toMatchObject({ outcome: 'already_running', state: { state: 'running' } });
    expect(lines.at(-1)).toMatch(/^api is up \(/);
  });

  test('that is starting and fails, fails with its reason', async () => {
    await says('starting');
    const { result, waits } = start();
    await waits('starting here already');
    // As a supervisor does that could not start.
    await says('stopping');
    await says('failed', 'port 8100 is in use');
    await ends();
    const message = 'The stack did not start: port 8100 is in use';
    expect(await result).toEqual({ outcome: 'failed', message, exit: 1 });
  });

  test.each(['starting', 'stopping', 'stopped'] as const)('that is %s and ends starts anew', async (state) => {
    await says(state);
    const { result, waits } = start();
    await waits('waiting for');
    await ends();
    expect(await result).toMatchObject(OWN);
  });

  test('that is starting is left at Ctrl-C', async () => {
    await says('starting');
    const interrupt = new AbortController();
    const { result, waits } = start(interrupt.signal);
    await waits('starting here already');
    interrupt.abort();
    expect(await result).toMatchObject({ outcome: 'failed', exit: 130 });
  });
});
