/** The settings that a stack was started with, so that a later start with others is noticed. */
import { createHash } from 'node:crypto';
import { type Environment, loadEnvironment } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';

/** Read by the command line or by scripts alone: they are none of the stack. */
const NOT_OF_A_STACK = new Set(['MUSTER_URL', 'MUSTER_IMPORT_TOKEN', 'MUSTER_HOME', 'MUSTER_DATA_DIR']);

/** A digest of each setting's value: what is secret is not written down again. */
export function settingDigests(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment)
      .filter(([name]) => !NOT_OF_A_STACK.has(name))
      .map(([name, value]) => [name, digestOf(value)]),
  );
}

/**
 * Names of the settings in `env` that a stack which runs does not have so. What is not given now may be anything.
 * @throws EnvironmentError when the settings have mistakes
 */
export function differingSettings(
  env: NodeJS.ProcessEnv,
  running: Readonly<Record<string, string>> | undefined,
): string[] {
  const wanted = settingDigests(loadEnvironment(environmentOfProcesses(env)));
  if (running === undefined) return [];
  return Object.entries(wanted)
    .filter(([name, digest]) => env[name] && (running[name] ?? digestOf(undefined)) !== digest)
    .map(([name]) => name);
}

function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('base64url')
    .slice(0, 16);
}
