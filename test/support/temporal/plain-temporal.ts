import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { temporalBinary } from './temporal-binary.ts';

/** The development server looks for work 20 times a second only, unless it is told otherwise. */
const POLLS = ['transferProcessorMaxPollRPS', 'timerProcessorMaxPollRPS', 'visibilityProcessorMaxPollRPS'];

/** A Temporal server in memory as somebody else would run it: nothing of Muster is set up in it. `at`: its port, default any. */
export async function startPlainTemporal(at?: number): Promise<{ port: number; stop(): Promise<void> }> {
  const path = temporalBinary();
  if (path === null) throw new Error('no Temporal server');
  const port = at ?? (await freePort());
  const settings = POLLS.flatMap((name) => ['--dynamic-config-value', `history.${name}=2000`]);
  const args = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port), ...settings];
  const server = spawn(path, args, { stdio: 'ignore' });
  await eventually('Temporal listens', () => answers(port));
  return {
    port,
    stop: async () => {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.destroy()).once('close', (failed) => resolve(!failed));
    socket.once('error', () => undefined);
  });
}
