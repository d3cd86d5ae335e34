/** What of the events of a playbook goes to the log of the operator's process. */
import type { EventLine } from '../runs/schema.ts';
import { isJsonMap } from './custom-resource.ts';

export const LOG_LEVELS = ['nothing', 'tasks', 'everything'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Returns the level that a word means, in any case; null for another word. */
export function logLevelOf(word: string): LogLevel | null {
  return LOG_LEVELS.find((level) => level === word.toLowerCase()) ?? null;
}

/** What one event says: a record, and a text of Ansible; each may be absent. */
export interface EventLog {
  record: { level: 'info' | 'error'; message: string; fields: Record<string, unknown> } | null;
  /** As it is printed. */
  text: string | null;
}

const SILENT = ['set_fact', 'debug'];
const RULE = '-'.repeat(27);
const NOTHING: EventLog = { record: null, text: null };

/** Returns what an event says at a level. `isVerbose`: the raw text of Ansible stands for all else at the level of tasks. */
export function eventLogOf(line: EventLine, level: LogLevel, isVerbose: boolean): EventLog {
  const runner = isJsonMap(line.runner) ? line.runner : null;
  if (level === 'nothing' || runner === null) return NOTHING;
  const { time: _, type: __, stdout, runner: ___, ...fields } = line;
  const event = String(runner.event);
  const text = typeof stdout === 'string' && stdout !== '' ? stdout : null;
  const block = text === null ? null : `${RULE} Ansible Task StdOut ${RULE}\n${text}\n${RULE.repeat(2)}\n`;
  if (level === 'everything') return { record: { level: 'info', message: event, fields }, text: block };
  // The recap belongs to no task.
  if (event === 'playbook_on_stats') return { record: null, text: text === null ? null : `${text}\n` };
  if (typeof line.task !== 'string') return NOTHING;
  if (isVerbose) return { record: null, text: text === null ? null : `${text}\n` };
  const action = actionOf(runner);
  const task = { task: line.task };
  if (event === 'playbook_on_task_start' && !SILENT.includes(action)) {
    return { record: { level: 'info', message: '[playbook task start]', fields: task }, text: block };
  }
  if (event === 'runner_on_ok' && action === 'debug') {
    return { record: { level: 'info', message: '[playbook debug]', fields: task }, text: block };
  }
  if (event === 'runner_item_on_ok') return { record: null, text: block };
  if (event !== 'runner_on_failed') return NOTHING;
  const place = { ...task, task_path: line.file };
  return { record: { level: 'error', message: '[playbook task failed]', fields: place }, text: block };
}

/** `ansible.builtin.debug` is `debug`. */
function actionOf(runner: Readonly<Record<string, unknown>>): string {
  const { resolved_action: resolved, task_action: written } = isJsonMap(runner.event_data) ? runner.event_data : {};
  const name = typeof resolved === 'string' ? resolved : typeof written === 'string' ? written : '';
  return name.replace(/^ansible\.(builtin|legacy)\./, '');
}
