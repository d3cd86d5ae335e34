/** Everything the environment decides, read once by the composition roots. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { ACCESS_VARIABLES, accessMistakes } from './access-variables.ts';
import { API_VARIABLES } from './api-variables.ts';
import { BACKEND_VARIABLES } from './backend-variables.ts';
import { databaseMistakes } from './database-tls.ts';
import { IMAGE_BUILDER_VARIABLES } from './image-builder-variables.ts';
import { IMS_VARIABLES, imsMistakes } from './ims-variables.ts';
import { PROCESS_VARIABLES } from './process-variables.ts';
import { RUNNER_VARIABLES, runnerMistakes } from './runner-variables.ts';
import { SESSION_VARIABLES } from './session-variables.ts';
import { TRUST_VARIABLES } from './trust-variables.ts';

const VariablesSchema = z.object({
  ...API_VARIABLES,
  ...ACCESS_VARIABLES,
  ...TRUST_VARIABLES,
  ...IMAGE_BUILDER_VARIABLES,
  ...IMS_VARIABLES,
  ...BACKEND_VARIABLES,
  ...RUNNER_VARIABLES,
  ...SESSION_VARIABLES,
  ...PROCESS_VARIABLES,
});

/** Names of all settings, in the order in which they are declared. */
export const SETTINGS: readonly string[] = Object.keys(VariablesSchema.shape);

const EnvironmentSchema = VariablesSchema.transform((env) => {
  const embedded = env.MUSTER_DATABASE_URL === undefined && env.MUSTER_TEMPORAL_ADDRESS === undefined;
  return {
    ...env,
    MUSTER_DATA_DIR: resolve(env.MUSTER_DATA_DIR),
    MUSTER_POSTGRES_PORT: env.MUSTER_POSTGRES_PORT ?? env.MUSTER_API_PORT + 1,
    MUSTER_TEMPORAL_PORT: env.MUSTER_TEMPORAL_PORT ?? env.MUSTER_API_PORT + 2,
    MUSTER_TEMPORAL_UI_PORT: env.MUSTER_TEMPORAL_UI_PORT ?? env.MUSTER_API_PORT + 3,
    MUSTER_ALLOW_LOCAL_CONNECTION: env.MUSTER_ALLOW_LOCAL_CONNECTION ?? embedded,
    MUSTER_REPOSITORY_SCHEMES: env.MUSTER_REPOSITORY_SCHEMES ?? [
      'https',
      'http',
      'ssh',
      'git',
      ...(embedded ? ['file'] : []),
    ],
  };
}).superRefine((env, context) => {
  const mistakes = [...accessMistakes(env), ...databaseMistakes(env), ...runnerMistakes(env), ...imsMistakes(env)];
  for (const [name, message] of mistakes) {
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

export type Environment = z.infer<typeof EnvironmentSchema>;

/** All mistakes of the environment in one message, one line each: the variable and what is wrong. */
export class EnvironmentError extends Error {
  override name = 'EnvironmentError';
}

/** Reads and checks the variables; unknown `MUSTER_*` names are mistakes too, so that a misspelt one is noticed. */
export function loadEnvironment(env: Record<string, string | undefined>): Environment {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const known = new Set(SETTINGS);
  const unknown = Object.keys(given).filter(
    (name) => name.startsWith('MUSTER_') && !/^MUSTER_(TEST|RUN)_/.test(name) && !known.has(name),
  );
  const parsed = EnvironmentSchema.safeParse(given);
  const lines = [
    ...unknown.map((name) => `${name}: no such setting`),
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
  ];
  if (lines.length > 0) throw new EnvironmentError(`The environment has mistakes:\n  ${lines.join('\n  ')}`);
  if (!parsed.success) throw parsed.error;
  return parsed.data;
}

/** Those that are secret as a whole; a URL may hold a password besides. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'MUSTER_TOKEN',
  'MUSTER_IMS_TOKEN',
  'MUSTER_IMPORT_TOKEN',
  'MUSTER_TEMPORAL_API_KEY',
]);

/** The settings for people: secrets and passwords in URLs replaced by ********. */
export function printableEnvironment(env: Environment): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (value !== undefined && SECRET_SETTINGS.has(name)) return [name, '********'];
      return [name, typeof value === 'string' ? value.replace(/:\/\/([^:@/]*):[^@]*@/, '://$1:********@') : value];
    }),
  );
}
