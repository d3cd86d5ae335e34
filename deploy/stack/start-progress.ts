/** What people are told while a stack starts. */
import { join } from 'node:path';
import { lastWarning } from './last-words.ts';
import type { ComponentName, ComponentState, StackState } from './stack-state.ts';

/** A part that is not up after so long (ms) is said to be waited for, and why; again when the reason is another, not sooner. */
const PATIENCE_MS = 5_000;
/** The same for a part that gives no reason: starting alone may take it some seconds. */
const SILENT_PATIENCE_MS = 15_000;

/** What was last said of a part. */
interface Said {
  state?: ComponentState['state'];
  waits?: string;
  at: number;
}

/**
 * Takes the state again and again, as it is then, and says in one line a time each change of a part's health, and of a part that
 * does not come up what it waits for.
 * @param now milliseconds since 1970
 */
export function startProgress(
  dataDir: string,
  say: (line: string) => void,
  now: () => number = Date.now,
): (state: StackState) => void {
  const told = new Map<ComponentName, Said>();
  return (state) => {
    for (const [key, part] of Object.entries(state.components)) {
      if (part.state === 'external') continue;
      const name = key as ComponentName;
      const said = told.get(name) ?? { at: Number.NEGATIVE_INFINITY };
      told.set(name, said);
      const line = part.state === said.state ? null : changeOf(name, part, said, now() - Date.parse(state.started_at));
      said.state = part.state;
      if (line !== null) say(line);
      const waits = waitOf(name, part, dataDir, now());
      if (waits === null || waits === said.waits || now() - said.at < PATIENCE_MS) continue;
      said.waits = waits;
      said.at = now();
      say(`${name} is not up yet: ${waits}`);
    }
  };
}

/** The sentence about a change of a part's health, `passed` (ms) after the begin; null for one that needs none. */
function changeOf(name: ComponentName, part: ComponentState, before: Said, passed: number): string | null {
  if (part.state === 'healthy') {
    const what = [name, part.version, part.address && `on ${part.address}`].filter(Boolean).join(' ');
    return before.state === 'unhealthy'
      ? `${name} is healthy again`
      : `${what} is up (${(passed / 1000).toFixed(1)} s)`;
  }
  return part.state === 'restarting' || part.state === 'unhealthy' ? `${name}: ${part.reason}` : null;
}

/** What a part waits for, when its process has had its time; else null. */
function waitOf(name: ComponentName, part: ComponentState, dataDir: string, now: number): string | null {
  if (part.state !== 'starting' || part.started_at === null) return null;
  const since = Date.parse(part.started_at);
  const passed = now - since;
  const log = join(dataDir, 'logs', `${name}.log`);
  // That nothing listens yet says no more than that it is starting.
  if (part.reason !== null && part.reason !== 'starting' && !/^connect ECONNREFUSED/.test(part.reason)) {
    return passed > PATIENCE_MS ? withLastWords(part.reason.replace(/\s+/g, ' ').trim(), log, since) : null;
  }
  return passed > SILENT_PATIENCE_MS ? withLastWords(`its log says what it waits for: ${log}`, log, since) : null;
}

/** A reason with what the part itself said last since it was started: it knows the cause. */
function withLastWords(reason: string, log: string, since: number): string {
  const words = lastWarning(log, since);
  return words === '' ? reason : `${reason}; it last said: ${words}`;
}
