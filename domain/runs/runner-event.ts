/** Events as ansible-runner writes them, told in the words of the journal, with what their owner decides by. */
import type { EventLine } from './schema.ts';
import { storableJson } from './storable-text.ts';

type Json = Readonly<Record<string, unknown>>;

/** Longest text of an event, in characters: all of an event stay below 16 KiB. */
const TEXT_MAX = 4_000;
/** A message may become the status of a resource. */
const MESSAGE_MAX = 8_000;
const CUT = '... (truncated)';

/** Words of results, as the journal has them. */
const RESULTS: Readonly<Record<string, string>> = {
  runner_on_ok: 'ok',
  runner_on_failed: 'failed',
  runner_on_unreachable: 'unreachable',
  runner_on_skipped: 'skipped',
};

const TYPES: Readonly<Record<string, string>> = {
  playbook_on_play_start: 'play_start',
  playbook_on_task_start: 'task_start',
  playbook_on_stats: 'stats',
};

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members of `event_data` that say where an event belongs. */
const NAMES = ['play', 'task', 'role', 'task_action', 'resolved_action', 'task_path'] as const;
/** Maps of the statistics from hosts to numbers. */
const COUNTS = ['ok', 'changed', 'failures', 'dark', 'skipped', 'rescued', 'ignored', 'processed'] as const;

/**
 * Returns the event in a file of `job_events`, masked and shortened. Its member `runner` is what ansible-runner said, as far as the outcome
 * of a run follows from it. A file that cannot be read becomes a warning, so that counters stay true.
 */
export function eventOfRunner(text: string, mask: (text: string) => string, now: Date): EventLine {
  try {
    const file: unknown = JSON.parse(text);
    if (isMap(file) && typeof file.event === 'string') return storableJson(lineOf(file, file.event, mask, now));
  } catch {
    // A full disk may have torn it.
  }
  return { time: now.toISOString(), type: 'warning', message: 'an event could not be read and was left out' };
}

function lineOf(file: Json, event: string, mask: (text: string) => string, now: Date): EventLine {
  const data = isMap(file.event_data) ? file.event_data : {};
  const res = isMap(data.res) ? data.res : {};
  const shown = (value: unknown, most = TEXT_MAX): string | undefined =>
    typeof value === 'string' && value !== '' ? shortened(mask(value), most) : undefined;
  const host = shown(data.host, 500);
  const message = shown(res.msg, MESSAGE_MAX);
  const word = RESULTS[event];
  const changed = res.changed === true;
  const names = Object.fromEntries(NAMES.map((name) => [name, shown(data[name], 500)]));
  return {
    time: typeof file.created === 'string' ? file.created : now.toISOString(),
    type: word === undefined ? (TYPES[event] ?? event) : 'host_result',
    ...(host === undefined ? {} : { host }),
    ...without({ play: names.play, task: names.task, role: names.role, file: names.task_path, message }),
    ...(word === undefined ? {} : { result: resultWord(word, changed, data.ignore_errors === true), changed }),
    ...without({ stdout: shown(file.stdout) }),
    ...(event === 'playbook_on_stats' ? { hosts: hostsOf(data) } : {}),
    runner: {
      event,
      created: file.created ?? null,
      event_data: {
        ...without({ host, task_action: names.task_action, resolved_action: names.resolved_action }),
        ...(data.ignore_errors === true ? { ignore_errors: true } : {}),
        ...(word === undefined ? {} : { res: without({ msg: message, period: shown(res.period, 200) }) }),
        ...(event === 'playbook_on_stats'
          ? Object.fromEntries(COUNTS.map((name) => [name, countsIn(data[name])]))
          : {}),
      },
    },
  };
}

function resultWord(word: string, changed: boolean, ignored: boolean): string {
  if (word === 'ok') return changed ? 'changed' : 'ok';
  return word === 'failed' && ignored ? 'ignored' : word;
}

const without = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - CUT.length)}${CUT}`;

const countsIn = (counts: unknown): Record<string, number> =>
  isMap(counts)
    ? Object.fromEntries(
        Object.entries(counts).filter((pair): pair is [string, number] => Number.isSafeInteger(pair[1])),
      )
    : {};

/** The final counts of each host, as the journal has them. */
function hostsOf(data: Json): Record<string, Record<string, number>> {
  const of = (name: string, host: string): number => countsIn(data[name])[host] ?? 0;
  return Object.fromEntries(
    Object.keys(countsIn(data.processed)).map((host) => [
      host,
      {
        ok: of('ok', host),
        changed: of('changed', host),
        failures: of('failures', host),
        unreachable: of('dark', host),
        skipped: of('skipped', host),
        rescued: of('rescued', host),
        ignored: of('ignored', host),
      },
    ]),
  );
}
