import { createHmac, randomBytes } from 'node:crypto';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { WEBHOOK_SECRET_PREFIX } from '../../domain/secrets/secret-uses.ts';

const KEY = 'key';

/** Name of the secret that holds a webhook's signing key. */
export function webhookSecretName(webhook: string): string {
  return `${WEBHOOK_SECRET_PREFIX}${webhook}`;
}

/** A new signing key: 256 random bits. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

export async function storeWebhookSecret(
  secrets: Pick<SecretStore, 'putAll'>,
  webhook: string,
  secret: string,
  actor: string | null,
): Promise<void> {
  await secrets.putAll(webhookSecretName(webhook), { [KEY]: secret }, actor);
}

/** The signing key, or null when there is none. */
export async function readWebhookSecret(secrets: Pick<SecretStore, 'get'>, webhook: string): Promise<string | null> {
  return (await secrets.get(webhookSecretName(webhook)))?.[KEY] ?? null;
}

/**
 * Value of `Muster-Signature`: the time of the try, unix seconds, and HMAC-SHA-256 over `<time>.<body>`, hexadecimal. The time is signed
 * too, so that a receiver can refuse what was recorded and sent again later.
 */
export function signatureOf(secret: string, body: string, now: Date): string {
  const time = Math.floor(now.getTime() / 1_000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
