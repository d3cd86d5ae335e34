import fc from 'fast-check';
import { overdueAt } from '../../domain/batches/judge-session.ts';
import type { Component } from '../../domain/components/schema.ts';
import { SimulatedBatcher, type SimulatedSession } from './simulated-batcher.ts';

const HOST_FATES = ['applied', 'untouched', 'fails', 'fails once', 'fails twice'] as const;
type HostFate = (typeof HOST_FATES)[number];
const SESSION_FATES = ['runs', 'clone fails', 'lost', 'stays pending', 'is deleted'] as const;
type SessionFate = (typeof SESSION_FATES)[number];
const CHANGES = ['disable', 'enable', 'retarget', 'reboot', 'commit', 'delete', 'reach'] as const;

export interface Fleet {
  hosts: { fate: HostFate; retries: number | null; errors: number; configuration: 0 | 1; enabled: boolean }[];
  layers: [number, number];
  size: number;
  window: number;
  slots: number;
  retries: number;
  cap: number;
  /** Of the first sessions; all later ones run. */
  sessions: { fate: SessionFate; seconds: number }[];
  changes: { at: number; what: (typeof CHANGES)[number]; host: number }[];
}

/** Fleets with all that may happen to hosts and sessions; the number of hosts is mostly small. */
export const fleets: fc.Arbitrary<Fleet> = fc.record({
  hosts: fc.array(
    fc.record({
      fate: fc.constantFrom(...HOST_FATES),
      retries: fc.option(fc.constantFrom(-1, 0, 1, 2, 4), { freq: 2 }),
      errors: fc.constantFrom(0, 0, 0, 1, 3),
      configuration: fc.constantFrom(0 as const, 1 as const),
      enabled: fc.constantFrom(true, true, true, false),
    }),
    { minLength: 1, maxLength: 14 },
  ),
  layers: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
  size: fc.integer({ min: 1, max: 6 }),
  window: fc.constantFrom(0, 10, 25, 60),
  slots: fc.integer({ min: 1, max: 4 }),
  retries: fc.integer({ min: 0, max: 4 }),
  cap: fc.constantFrom(0, 60, 150, 3600),
  sessions: fc.array(fc.record({ fate: fc.constantFrom(...SESSION_FATES), seconds: fc.integer({ min: 1, max: 90 }) }), {
    maxLength: 40,
  }),
  changes: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 400 }),
      what: fc.constantFrom(...CHANGES),
      host: fc.nat({ max: 13 }),
    }),
    { maxLength: 6 },
  ),
});

/** How a fleet went. */
export interface Course {
  batcher: SimulatedBatcher;
  /** Seconds until nothing was left to do, or null when something still was at the end of time. */
  quietAt: number | null;
  failures: Map<string, number>;
  sent: Map<string, number>;
}

const END_OF_TIME = 400_000;
const PENDING_TIMEOUT = 30;
const [URL_A, URL_B] = ['https://git.example.test/a.git', 'https://git.example.test/b.git'];

/** Lives a fleet with a pass every 10 s and throws at the first rule that a pass breaks. */
export function live(fleet: Fleet): Course {
  const batcher = new SimulatedBatcher();
  Object.assign(batcher.options, {
    batch_size: fleet.size,
    batch_window: fleet.window,
    default_batcher_retry_policy: fleet.retries,
    batcher_max_backoff: fleet.cap,
    batcher_pending_timeout: PENDING_TIMEOUT,
  });
  for (const [index, count] of fleet.layers.entries())
    batcher.configurations.set(`c${index}`, layersOf(index, count, 0));
  const fates = new Map<string, HostFate>();
  for (const [index, host] of fleet.hosts.entries()) {
    const id = `h${String(index).padStart(2, '0')}`;
    fates.set(id, host.fate);
    batcher.components.set(id, {
      id,
      desired_config: `c${host.configuration}`,
      state: [],
      error_count: host.errors,
      ...(host.retries === null ? {} : { retry_policy: host.retries }),
      enabled: host.enabled,
      tags: {},
    });
  }
  const course: Course = { batcher, quietAt: null, failures: new Map(), sent: new Map() };
  const runs = new Map<string, { fate: SessionFate; endsAt: number | null; seconds: number }>();
  watch(course, fleet);
  const note = batcher.onSend;
  batcher.onSend = (session, batch, now) => {
    note(session, batch, now);
    const { fate, seconds } = fleet.sessions[batcher.sessions.length] ?? { fate: 'runs' as const, seconds: 15 };
    runs.set(session.name, { fate, endsAt: null, seconds });
  };
  const changes = fleet.changes.map((change) => ({ ...change, done: false }));
  const endless = fleet.hosts.some(({ retries }) => retries === -1);
  for (let at = 10; at <= END_OF_TIME; ) {
    for (const change of changes) {
      if (change.done || change.at > at) continue;
      change.done = true;
      applyChange(batcher, change.what, `h${String(change.host % fleet.hosts.length).padStart(2, '0')}`, course);
    }
    runSessions(course, runs, fates, fleet.slots, at);
    batcher.pass(at * 1000);
    const settled = changes.every(({ done }) => done);
    const behind = [...batcher.components.values()].filter((component) => isBehind(batcher, component));
    if (settled && batcher.sent.size === 0 && batcher.unsent.size === 0) {
      course.quietAt = at;
      break;
    }
    if (settled && endless && behind.every(({ id }) => (course.sent.get(id) ?? 0) >= 8)) break;
    at = nextPass(course, runs, changes, at);
  }
  return course;
}

/** The next multiple of 10 s at which anything can happen: a long back-off is not lived through pass by pass. */
function nextPass(
  { batcher }: Course,
  runs: ReadonlyMap<string, { endsAt: number | null }>,
  changes: readonly { at: number; done: boolean }[],
  at: number,
): number {
  const instants = changes.filter(({ done }) => !done).map((change) => change.at);
  if (batcher.plan.nextAt !== null) instants.push(batcher.plan.nextAt / 1000);
  for (const batch of batcher.sent.values()) {
    instants.push(runs.get(batch.session.name)?.endsAt ?? at, overdueAt(batch, PENDING_TIMEOUT) / 1000);
  }
  const earliest = Math.min(END_OF_TIME + 10, ...instants.filter((instant) => instant > at));
  const waits = batcher.sent.size > 0 && [...batcher.sent.values()].some(({ session }) => session.status !== 'running');
  return waits ? at + 10 : Math.ceil(earliest / 10) * 10;
}

function layersOf(configuration: number, count: number, generation: number) {
  return Array.from({ length: count }, (_, layer) => ({
    clone_url: (configuration === 0 ? URL_A : URL_B) ?? '',
    playbook: `layer${layer}.yml`,
    commit: `${generation}`.padStart(40, '0'),
  }));
}

/** Fails the test: an `expect` takes 20 us even where all is well, and these are asked millions of times. */
function rule(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken);
}

/** Rules that hold at each send and each write. */
function watch({ batcher, failures, sent }: Course, fleet: Fleet): void {
  batcher.onSend = (session, batch, now) => {
    const active = new Set([...batcher.sent.values()].flatMap(({ hosts }) => hosts));
    const { length } = session.hosts;
    rule(length > 0 && length <= fleet.size, `${session.name} has ${length} hosts of at most ${fleet.size}`);
    const isFull = batch.members === fleet.size;
    const waited = now - batch.openedAt;
    rule(isFull || waited > fleet.window * 1000, `${session.name} was sent after ${waited} ms, not full`);
    for (const id of session.hosts) {
      const component = batcher.components.get(id);
      rule(!active.has(id), `${id} is in two sessions`);
      rule(component?.enabled === true, `${id} is not enabled`);
      const policy = component?.retry_policy ?? fleet.retries;
      const failed = failures.get(id) ?? 0;
      rule(policy === -1 || failed < policy, `${id} was sent after ${failed} failures of at most ${policy}`);
      sent.set(id, (sent.get(id) ?? 0) + 1);
    }
  };
  batcher.onWrite = (write) => {
    if (write.errors > 0) failures.set(write.id, (failures.get(write.id) ?? 0) + 1);
  };
}

function applyChange(batcher: SimulatedBatcher, what: (typeof CHANGES)[number], id: string, course: Course): void {
  const component = batcher.components.get(id);
  if (what === 'commit') {
    const name = component?.desired_config ?? 'c0';
    const old = batcher.configurations.get(name) ?? [];
    batcher.configurations.set(name, layersOf(Number(name.slice(1)), old.length, Number(old[0]?.commit ?? 0) + 1));
    return;
  }
  if (component === undefined) return;
  if (what === 'delete') {
    batcher.components.delete(id);
    return;
  }
  if (what === 'disable' || what === 'enable') component.enabled = what === 'enable';
  if (what === 'reach') {
    const layers = batcher.layersOf(component) ?? [];
    batcher.report(
      id,
      layers.map((layer) => ({ ...layer, status: 'applied', session_name: 'by hand' })),
      0,
    );
  }
  if (what !== 'retarget' && what !== 'reboot') return;
  if (what === 'retarget') component.desired_config = component.desired_config === 'c0' ? 'c1' : 'c0';
  if (what === 'reboot') component.state = [];
  component.error_count = 0;
  course.failures.set(id, 0);
}

function runSessions(
  course: Course,
  runs: Map<string, { fate: SessionFate; endsAt: number | null; seconds: number }>,
  fates: Map<string, HostFate>,
  slots: number,
  at: number,
): void {
  const open = [...course.batcher.sent.values()].map(({ session }) => session);
  for (const session of open) {
    const run = runs.get(session.name);
    if (run === undefined || session.status === 'complete') continue;
    if (run.endsAt !== null && run.endsAt <= at) finish(course, session, run.fate, fates);
  }
  let free = slots - open.filter(({ status }) => status === 'running').length;
  for (const session of open) {
    const run = runs.get(session.name);
    if (run === undefined || session.status !== 'pending') continue;
    if (run.fate === 'is deleted') session.deletedAt = at * 1000;
    if (run.fate === 'is deleted' || run.fate === 'stays pending') continue;
    session.waiting = free <= 0;
    if (session.waiting) continue;
    session.status = 'running';
    run.endsAt = at + run.seconds;
    free -= 1;
  }
}

function finish(
  { batcher, failures }: Course,
  session: SimulatedSession,
  fate: SessionFate,
  fates: Map<string, HostFate>,
) {
  session.status = 'complete';
  session.succeeded = fate === 'lost' ? 'unknown' : fate === 'clone fails' ? 'false' : 'true';
  if (fate !== 'runs') return;
  for (const id of session.hosts) {
    const component = batcher.components.get(id);
    const layers = component && batcher.layersOf(component);
    const does = fates.get(id) ?? 'applied';
    if (!component || !layers || does === 'untouched') continue;
    for (const index of session.limit.split(',').map(Number)) {
      const layer = layers[index];
      if (layer === undefined) continue;
      const isFailure = does !== 'applied';
      const status = isFailure ? ('failed' as const) : ('applied' as const);
      batcher.report(id, [{ ...layer, status, session_name: session.name }], isFailure ? 1 : 0);
      session.results.set(id, [...(session.results.get(id) ?? []), { layer: index, status }]);
      if (!isFailure) {
        component.error_count = 0;
        failures.set(id, 0);
        continue;
      }
      session.succeeded = 'false';
      failures.set(id, (failures.get(id) ?? 0) + 1);
      break;
    }
    if (does === 'fails once') fates.set(id, 'applied');
    if (does === 'fails twice') fates.set(id, 'fails once');
  }
}

/** Whether a component is enabled and pending. */
export function isBehind(batcher: SimulatedBatcher, component: Component): boolean {
  return component.enabled && batcher.statusOf(component).status === 'pending';
}
