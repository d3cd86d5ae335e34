/** Checks for drift in words and as requests. */
import { shellWord } from '../shared/commands.ts';

/** Returns the body of a check of the components of a configuration; null: of all components. */
export function checkBody(configuration: string | null, reconfigure: boolean): object {
  return {
    ...(configuration === null ? { filter: {} } : { configuration }),
    ...(reconfigure ? { reconfigure: true } : {}),
  };
}

/** Returns the same as a command. */
export function checkCommand(configuration: string | null, reconfigure: boolean, reason: string): string {
  return [
    './muster drift check',
    configuration === null ? '--all' : `--config ${shellWord(configuration)}`,
    ...(reconfigure ? ['--reconfigure'] : []),
    ...(reason === '' ? [] : [`--reason ${shellWord(reason)}`]),
  ].join(' ');
}

/** Returns a count of tasks, with those that are uncertain. */
export function changedText({ changed, uncertain }: { changed: number; uncertain: number }): string {
  return uncertain === 0 ? String(changed) : `${changed} (and ${uncertain} uncertain)`;
}
