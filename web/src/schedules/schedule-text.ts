/** Schedules and their runs in words. */
import type { ScheduleAction, ScheduleRunView } from '../../../domain/schedules/schedule-schema.ts';

/** Returns what a schedule does. */
export function actionText({ reconfigure, refresh, session, check }: ScheduleAction): string {
  if (reconfigure !== undefined) return `reconfigure ${filterText(reconfigure.filter)}`;
  if (check !== undefined) {
    return `check ${filterText(check.filter)} for drift${check.reconfigure ? ', and reconfigure what drifted' : ''}`;
  }
  if (refresh !== undefined) {
    return `resolve the branches of ${refresh.configurations?.join(', ') ?? 'all configurations'} anew`;
  }
  return session === undefined ? '' : `run a session of ${session.configuration_name}`;
}

/** Returns which components are meant. */
function filterText(filter: object): string {
  const words = Object.entries(filter).map(([name, value]) => `${name} ${String(value)}`);
  return words.length === 0 ? 'all components' : `components with ${words.join(', ')}`;
}

/** Returns how a run stands, and why. */
export function runText({ state, error }: Pick<ScheduleRunView, 'state' | 'error'>): string {
  return error === null ? state : `${state}: ${error.detail}`;
}

/** Returns what a run made. */
export function resultText({ result }: Pick<ScheduleRunView, 'result'>): string {
  const { components, configurations, sessions } = result ?? {};
  const parts = [
    components === undefined ? '' : `${components.count} components`,
    configurations === undefined
      ? ''
      : `${configurations.changed.length} configurations changed, ${configurations.failed.length} failed`,
    sessions === undefined ? '' : `sessions ${sessions.join(', ')}`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}
