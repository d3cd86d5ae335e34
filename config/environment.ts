/** Everything the environment decides, read once by the composition roots. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { access } from './access.ts';
import { api } from './api.ts';
import { audit } from './audit.ts';
import { cli } from './cli.ts';
import { components } from './components.ts';
import { configurations } from './configurations.ts';
import { deployments } from './deployments.ts';
import { images } from './images.ts';
import { operator } from './operator.ts';
import { propagation } from './propagation.ts';
import { runs } from './runs.ts';
import { secrets } from './secrets.ts';
import { service } from './service.ts';
import { sessions } from './sessions.ts';
import { sessionJobs } from './sessions-cluster.ts';
import { joinSettings } from './settings.ts';
import { stack } from './stack.ts';
import { trust } from './trust.ts';
import { worker } from './worker.ts';

/** The settings of what serves all lanes; then those of each lane. A new lane is one line here. */
export const GROUPS = {
  stack,
  api,
  cli,
  worker,
  service,
  access,
  audit,
  runs,
  secrets,
  configurations,
  components,
  trust,
  images,
  sessions,
  sessionJobs,
  operator,
  deployments,
  propagation,
};

const VariablesSchema = z.object(joinSettings(GROUPS));

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
    MUSTER_DEPLOY_ALLOW_LOOPBACK: env.MUSTER_DEPLOY_ALLOW_LOOPBACK ?? embedded,
    MUSTER_REPOSITORY_SCHEMES: env.MUSTER_REPOSITORY_SCHEMES ?? [
      'https',
      'http',
      'ssh',
      'git',
      ...(embedded ? ['file'] : []),
    ],
  };
}).superRefine((env, context) => {
  for (const group of Object.values(GROUPS)) {
    const mistakes = 'mistakes' in group ? group.mistakes(env) : [];
    for (const [name, message] of mistakes) context.addIssue({ code: 'custom', path: [name], message });
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

/** Settings that are secret as a whole; a URL may hold a password besides. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set(settingsWith('secret'));

/** Settings that name a file or a folder. */
export const PATH_SETTINGS: readonly string[] = settingsWith('path');

function settingsWith(mark: 'path' | 'secret'): string[] {
  return Object.entries<z.ZodType>(VariablesSchema.shape).flatMap(([name, schema]) =>
    schema.meta()?.[mark] === true ? [name] : [],
  );
}
