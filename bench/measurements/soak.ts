/** Two hours of sessions, one after the other: none is lost, none runs twice, and nothing grows. */
import { setTimeout as delay } from 'node:timers/promises';
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const MINUTES = 120;
const CLIENTS = 4;
/** Caches fill in the first part; what grows after it is a leak. */
const WARM_PART = 0.25;
const GROWTH_MB = 40;
const LOOK_MS = 500;

/** On a stack of its own, with the real runner. `MUSTER_BENCH_MINUTES`: for so long. */
export async function measureSoak(): Promise<Measurement> {
  const minutes = Number(process.env.MUSTER_BENCH_MINUTES ?? MINUTES);
  const stack = await startMusterStack({}, 'own');
  try {
    const repository = await stack.repository('soak');
    await repository.commit({
      'site.yml': '- hosts: all\n  gather_facts: false\n  tasks: [{ name: One, command: "true" }]\n',
    });
    await stack.configure('soak', repository.url, ['site.yml'], ['n0', 'n1']);
    const until = performance.now() + minutes * 60_000;
    const memory: number[] = [];
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        memory.push(await memoryOf(stack));
        await delay((minutes * 60_000) / 100);
      }
    })();
    const made = await Promise.all(Array.from({ length: CLIENTS }, (_, client) => keepMaking(stack, client, until)));
    isOver = true;
    await watching;
    const count = made.reduce((sum, of) => sum + of, 0);
    const found = await countsOf(stack);
    const warm = memory[Math.floor(memory.length * WARM_PART)] ?? Number.NaN;
    const growth = (memory.at(-1) ?? Number.NaN) - warm;
    const lost = count - found.succeeded;
    return {
      what: `sessions by ${CLIENTS} clients for ${minutes} min`,
      bar: `none lost, none twice, + ${GROWTH_MB} MB`,
      measured: `${count} sessions, ${lost} lost, ${found.twice} twice; ${round(warm, 0)} MB + ${round(growth, 0)} MB`,
      met: count > 0 && lost === 0 && found.twice === 0 && growth <= GROWTH_MB,
      samples: { memory_mb: memory.map((value) => round(value, 1)) },
    };
  } finally {
    await stack.remove();
  }
}

/** Makes a session, waits for its end, and makes the next; answers how many. */
async function keepMaking(stack: MusterStack, client: number, until: number): Promise<number> {
  let made = 0;
  while (performance.now() < until) {
    const name = `soak-${client}-${made}`;
    await stack.create(name, 'soak', { ansible_limit: 'n0,n1' });
    made += 1;
    await stack.untilComplete(name, 300_000);
    await delay(LOOK_MS);
  }
  return made;
}

/** Memory of API and worker, MB. */
async function memoryOf(stack: MusterStack): Promise<number> {
  const pids = [await stack.pidOf('api'), await stack.pidOf('worker')];
  const parts = await Promise.all(pids.map(memoryMiB));
  return megabytes(parts.reduce((sum, part) => sum + part, 0));
}

/** Sessions that succeeded with a result of both hosts, and those of which a layer has more than one run. */
async function countsOf(stack: MusterStack): Promise<{ succeeded: number; twice: number }> {
  const [row] = await stack.sql<{ succeeded: string; twice: string }>(`
    select count(*) filter (where succeeded = 'true' and results = 2) as succeeded, count(*) filter (where runs > 1) as twice
    from (select s.succeeded, (select count(*) from runs r where r.session_id = s.id) as runs,
        (select count(*) from host_results h where h.session_id = s.id and h.status = 'applied') as results
      from sessions s where s.name like 'soak-%') as each`);
  return { succeeded: Number(row?.succeeded), twice: Number(row?.twice) };
}
