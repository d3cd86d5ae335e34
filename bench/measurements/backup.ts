/** A backup of a large installation, and what requests wait while it is made. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import { fleetId, makeFleet } from '../component-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';

const COMPONENTS = 100_000;
const SESSIONS = 1_000;
const LAYERS = 2;
const HOSTS = 10;
const EVENTS = 20;
const ROUNDS = 3;
const BAR = { seconds: 10, wait: 250 };

const ROOT = join(import.meta.dirname, '..', '..');

/** On a stack of its own, whose Postgres is the embedded one. */
export async function measureBackup(): Promise<Measurement> {
  const stack = await startMusterStack({ MUSTER_PLAYBOOK_COMMAND: '/bin/true' }, 'own');
  const folder = await mkdtemp(join(tmpdir(), 'muster-bench-backup-'));
  const client = keepAliveClient(stack.url);
  try {
    await fill(stack, client);
    const seconds: number[] = [];
    const waits: number[] = [];
    let bytes = 0;
    for (let count = 0; count < ROUNDS; count += 1) {
      const file = join(folder, `backup-${count}`);
      const begun = performance.now();
      const saved = promisify(execFile)(process.execPath, [join(ROOT, 'cli', 'main.ts'), 'backup', file], {
        env: stack.env,
      });
      waits.push(await longestWait(client, saved));
      seconds.push((performance.now() - begun) / 1_000);
      bytes = (await stat(file)).size;
    }
    const [slowest, longest] = [Math.max(...seconds), Math.max(...waits)];
    return {
      what: `backup of ${COMPONENTS} components and ${SESSIONS * LAYERS * HOSTS * EVENTS} events`,
      bar: `<= ${BAR.seconds} s, no request waits more than ${BAR.wait} ms`,
      measured: `${round(slowest, 1)} s at most (${round(bytes / 2 ** 20, 0)} MiB), longest request ${round(longest, 0)} ms`,
      met: slowest <= BAR.seconds && longest <= BAR.wait,
      samples: {
        seconds: seconds.map((value) => round(value)),
        longest_request_ms: waits.map((value) => round(value, 1)),
      },
    };
  } finally {
    client.close();
    await stack.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends one request after the other, reads and writes, until the work is done; answers the longest of them (ms). */
async function longestWait(client: KeepAliveClient, work: Promise<unknown>): Promise<number> {
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  let longest = 0;
  for (let step = 0; !done; step += 1) {
    const path = `/v3/components/${fleetId(step % COMPONENTS)}`;
    const { ms, status } =
      step % 4 === 0
        ? await client.send('PATCH', path, { tags: { step: String(step) } })
        : await client.send('GET', path);
    if (status !== 200) throw new Error(`status ${status} during the backup`);
    longest = Math.max(longest, ms);
  }
  await ended;
  return longest;
}

async function fill(stack: MusterStack, client: KeepAliveClient): Promise<void> {
  await stack.call('PATCH', '/v3/options', { batcher_disable: true });
  await makeFleet(client, COMPONENTS);
  const repository = await stack.repository('bench');
  await repository.commit({ 'one.yml': '- hosts: all\n' });
  await stack.configure('one', repository.url, ['one.yml'], ['n0']);
  await stack.create('model', 'one', { ansible_limit: 'n0' });
  await stack.untilComplete('model');
  const statements = [
    `insert into sessions overriding system value select r.* from sessions s, generate_series(1, ${SESSIONS}) g,
       jsonb_populate_record(null::sessions, to_jsonb(s)
         || jsonb_build_object('id', gen_random_uuid(), 'name', 'bench-' || g, 'queue', 1000000 + g)) r where s.name = 'model'`,
    `insert into streams (id, next_event) select id::text, ${LAYERS * HOSTS * EVENTS + 1} from sessions where name like 'bench-%'`,
    `insert into runs (id, session_id, stream_id, layer, attempt, host, state, exit_code, created_at)
       select s.id || '-1-' || l, s.id, s.id::text, l, 1, 'bench', 'ended', 0, now()
       from sessions s, generate_series(0, ${LAYERS - 1}) l where s.name like 'bench-%'`,
    `insert into host_results (run_id, session_id, layer, attempt, host, status, ok, changed, failures, unreachable, skipped, rescued, ignored)
       select r.id, r.session_id, r.layer, 1, 'n' || h, 'applied', ${EVENTS}, 1, 0, 0, 0, 0, 0
       from runs r, generate_series(1, ${HOSTS}) h where r.host = 'bench'`,
    `insert into events (stream_id, seq, run_id, line, layer, attempt, time, type, host, data)
       select r.stream_id, r.layer * ${HOSTS * EVENTS} + h * ${EVENTS} + e, r.id, h * ${EVENTS} + e, r.layer, 1, now(), 'task_ok', 'n' || h,
         jsonb_build_object('task', 'a task of the playbook with number ' || e, 'changed', e % 2 = 0, 'duration', e * 0.1)
       from runs r, generate_series(0, ${HOSTS - 1}) h, generate_series(1, ${EVENTS}) e where r.host = 'bench'`,
    'analyze',
  ];
  for (const statement of statements) await stack.sql(statement);
}
