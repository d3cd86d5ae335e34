import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Takes the lock, says what it sees, and lets go when its input ends. */
const HOLDER = `
  import { withLock } from '${ROOT}/bootstrap/lock.mjs';
  const released = () => new Promise((resolve) => process.stdin.resume().on('end', resolve));
  await withLock(process.env.NAME, () => (console.log('holds'), released()), () => console.log('waits'));
`;

const nodes = [...new Set([process.execPath, ...nodesOnPath()].map((path) => realpathSync(path)))];
const started: ChildProcessByStdio<Writable, Readable, null>[] = [];
let names = 0;

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

// What installs may run with another release of Node than what is installed, and both build images.
test.each(nodes.flatMap((first) => nodes.map((second) => [first, second])))(
  'a lock that %s holds is waited for by %s',
  async (first, second) => {
    const name = nextName();
    const one = holder(first, name);
    expect(await one.says()).toBe('holds');
    const two = holder(second, name);
    expect(await two.says()).toBe('waits');
    one.letGo();
    expect(await two.says()).toBe('holds');
  },
);

test('what one that is killed has held is free; another name is another lock', async () => {
  const [name, other] = [nextName(), nextName()];
  const one = holder(process.execPath, name);
  expect(await one.says()).toBe('holds');
  expect(await holder(process.execPath, other).says()).toBe('holds');
  await one.kill();
  expect(await holder(process.execPath, name).says()).toBe('holds');
});

function nextName() {
  names += 1;
  return `lock test ${process.pid} ${names}`;
}

function holder(node: string, name: string) {
  const child = spawn(node, ['--input-type=module', '--eval', HOLDER], {
    env: { NAME: name },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    says: async () => (await lines.next()).value as string,
    letGo: () => child.stdin.end(),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

function nodesOnPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).flatMap((folder) => {
    const path = join(folder, 'node');
    try {
      accessSync(path, constants.X_OK);
      return [path];
    } catch {
      return [];
    }
  });
}
