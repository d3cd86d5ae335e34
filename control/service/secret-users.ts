import { VCS_SECRET } from '../../domain/secrets/credentials.ts';
import type { SecretUsers } from '../../domain/secrets/ports.ts';
import {
  builtInUses,
  IMAGE_KEY_PREFIX,
  ownerOfSecret,
  type SecretUse,
  WEBHOOK_SECRET_PREFIX,
} from '../../domain/secrets/secret-uses.ts';
import { isWrittenUuid } from '../../domain/text/uuid.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { listSourcesOfSecret } from '../../store/configurations/sources.ts';
import { findSessionById } from '../../store/sessions/sessions.ts';
import { findWebhook } from '../../store/webhooks/webhooks.ts';
import { retryAfterSecret } from '../batches/retry-after-secret.ts';
/** Who uses a secret, and which hosts the common credentials do not go to any more. */
import type { SecretUseDependencies } from '../configurations/common-credentials.ts';
import { commonUses } from '../configurations/common-credentials.ts';

/** What the records of all lanes know of secrets. */
export function createSecretUsers(deps: SecretUseDependencies): SecretUsers {
  return { usesOf: (name) => secretUses(deps, name), changed: () => retryAfterSecret(deps.db) };
}

/** Every use of a secret: built-in ones, then options, sources, configurations, webhooks and sessions by their names. */
async function secretUses(deps: SecretUseDependencies, name: string): Promise<SecretUse[]> {
  const { db } = deps;
  const sources = await listSourcesOfSecret(db, name);
  const { additional_inventory_source: inventory } = sources.length > 0 ? await readOptions(db) : {};
  const webhook = ownerOfSecret(name, WEBHOOK_SECRET_PREFIX);
  const owner = ownerOfSecret(name, IMAGE_KEY_PREFIX) ?? '';
  const session = isWrittenUuid(owner) ? owner : null;
  return [
    ...builtInUses(name),
    ...(inventory && sources.includes(inventory) ? [use('option', 'additional_inventory_source')] : []),
    ...sources.map((source) => use('source', source)),
    ...(name === VCS_SECRET ? await commonUses(deps) : []),
    ...(webhook !== null && (await findWebhook(db, webhook)) !== null ? [use('webhook', webhook)] : []),
    ...(session !== null && (await findSessionById(db, session)) !== null ? [use('session', session)] : []),
  ];
}

const use = (kind: SecretUse['kind'], name: string): SecretUse => ({ kind, name });
