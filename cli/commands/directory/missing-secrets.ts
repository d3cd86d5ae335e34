/** Secrets that a directory names and the installation lacks. Their values are in no directory. */
import { WEBHOOK_SECRET_PREFIX } from '../../../domain/secrets/secret-uses.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure } from '../../failure.ts';
import { someOf } from '../../output/names.ts';
import type { NamedSecret } from './read-directory.ts';

/** The secrets that people set, null where the token may not list them. The key of a webhook is made with it. */
export async function secretsOfApi(api: ApiClient): Promise<NamedSecret[] | null> {
  try {
    const { secrets } = await api.json<{ secrets: NamedSecret[] }>({ method: 'GET', path: '/api/v1/secrets' });
    return secrets.filter(({ name }) => !name.startsWith(WEBHOOK_SECRET_PREFIX));
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'forbidden') return null;
    throw error;
  }
}

/** Says which of the secrets are missing, with the commands that set them. */
export async function sayMissingSecrets(
  context: CliContext,
  api: ApiClient,
  named: readonly NamedSecret[],
): Promise<void> {
  if (named.length === 0) return;
  const stored = await secretsOfApi(api);
  if (stored === null) return say(context, 'warning: the secrets are not compared: this needs role admin');
  for (const line of missingSecrets(named, stored)) say(context, `warning: ${line}`);
}

/** A line for each secret that is missing or lacks keys. */
export function missingSecrets(named: readonly NamedSecret[], stored: readonly NamedSecret[]): string[] {
  const known = new Map(stored.map(({ name, keys }) => [name, new Set(keys)]));
  return named.flatMap(({ name, keys }) => {
    const there = known.get(name);
    const lacking = keys.filter((key) => !there?.has(key));
    if (there !== undefined && lacking.length === 0) return [];
    const what = there === undefined ? `there is no secret ${name}` : `secret ${name} has no ${someOf(lacking)}`;
    const entries = lacking.map((key) => ` ${key}=@FILE`).join('') || ' KEY';
    return [`${what}: \`./muster secret set ${name}${entries}\``];
  });
}
