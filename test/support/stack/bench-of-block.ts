/** A Temporal server and a session bench for the tests of one `describe` block. */
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { TestServer } from '../temporal/workflow-environment.ts';
import { openSessionBench, type SessionBench } from './session-bench.ts';

/**
 * Opens both before the first test of the block that calls it, ends after each test what that has started, and closes both after the
 * last one. What it answers stands for them, so it may be used as soon as tests run, and in a `beforeAll` that comes later.
 */
export function benchOfBlock(open: () => Promise<TestServer>): { server: TestServer; bench: SessionBench } {
  const opened: { server?: TestServer; bench?: SessionBench } = {};
  beforeAll(async () => {
    opened.server = await open();
    opened.bench = await openSessionBench(opened.server.environment);
  });
  afterEach(() => opened.bench?.finish());
  afterAll(async () => {
    await opened.bench?.close();
    await opened.server?.close();
  });
  return {
    server: standIn('the server', () => opened.server),
    bench: standIn('the bench', () => opened.bench),
  };
}

/** An object that has what another one has that is there later. */
function standIn<T extends object>(what: string, read: () => T | undefined): T {
  return new Proxy({} as T, {
    get: (_, member) => {
      const value = read();
      if (value === undefined) throw new Error(`${what} is not open yet`);
      return Reflect.get(value, member);
    },
  });
}
