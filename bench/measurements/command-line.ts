/** What administrators wait for who script the command line, and for what the web UI shows before an action. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { expectOk, fleetId } from '../component-fleet.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';
import { FLEET, heldBelow, tries, withFleet } from './components-fleet.ts';

const SESSIONS = 1_000;
const PAGE = 1_000;
const ROUNDS = 7;
const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The command line beside Node with the same requests, in turn; both start anew for each list. */
export function measureSessionList(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    expectOk(await client.send('PATCH', '/v3/options', { max_running_sessions: 0 }));
    for (let index = 0; index < SESSIONS; index += 1) {
      const body = { name: `listed-${index}`, configuration_name: 'one', ansible_limit: 'n0' };
      const { status } = await client.send('POST', '/v3/sessions', body);
      if (status !== 201) throw new Error(`POST session: ${status}`);
    }
    const url = `${stack.url}/api/v1/sessions?order=newest&limit=${PAGE}`;
    const script = `const { sessions } = await (await fetch('${url}')).json(); console.log(sessions.map(({ name }) => name).join('\\n'));`;
    const differences: number[] = [];
    const bare: number[] = [];
    for (let index = 0; index < ROUNDS; index += 1) {
      const alone = await listed(process.execPath, ['--input-type=module', '-e', script]);
      const whole = await listed(join(root, 'muster'), ['session', 'list', '--url', stack.url]);
      bare.push(alone);
      differences.push(whole - alone);
    }
    return {
      what: 'session list of 1,000 sessions into a pipe',
      bar: '<= bare Node with the same request + 0.15 s',
      measured: `${round(median(bare))} s + ${round(median(differences))} s`,
      met: median(differences) <= 0.15,
      samples: { bare, differences },
    };
  });
}

/** Seconds from the start of a program to its end. Throws when its output has not all sessions. */
async function listed(program: string, words: readonly string[]): Promise<number> {
  const started = performance.now();
  const { stdout } = await run(program, words, { maxBuffer: 64 * 1024 * 1024 });
  const seconds = (performance.now() - started) / 1_000;
  const found = new Set(stdout.match(/listed-\d+/g)).size;
  if (found !== SESSIONS) throw new Error(`${found} sessions are listed`);
  return seconds;
}

export function measureDryRun(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(ROUNDS, async (turn) => {
      const body = Array.from({ length: 1_000 }, (_, index) => ({
        id: fleetId(turn * 1_000 + index),
        tags: { checked: String(turn) },
      }));
      const reply = await client.send('POST', '/api/v1/dry-run', { method: 'PATCH', path: '/v3/components', body });
      expectOk(reply);
      return reply.ms;
    });
    return heldBelow('dry run of a patch of 1,000 components', 'p50 < 500 ms', samples, 0.5, 500);
  });
}

export function measureSelection(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(ROUNDS, async () => {
      const reply = await client.send('POST', '/api/v1/components/selections', { filter: {} });
      if (reply.status >= 300) throw new Error(`selection: ${reply.status} ${reply.text.slice(0, 300)}`);
      const { count }: { count: number } = JSON.parse(reply.text);
      if (count < FLEET) throw new Error(`${count} components are selected`);
      return reply.ms;
    });
    return heldBelow('selection of 100,000 components', 'p50 < 1,000 ms', samples, 0.5, 1_000);
  });
}
