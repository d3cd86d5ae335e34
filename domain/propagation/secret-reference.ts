/** Inputs that are secret hold the name of a value in the secret store, and never the value. */
import { musterError } from '../errors.ts';

export interface SecretReference {
  secret: string;
  key: string;
}

/** Names that a resource may refer to begin so, whatever role asks. */
export const SECRET_PREFIX = 'propagation-';

const SECRET_NAME = /^propagation-[a-z0-9]([a-z0-9.-]{0,239}[a-z0-9])?$/;
const SECRET_KEY = /^[A-Za-z0-9._-]{1,253}$/;

/** Whether a value has the form of a reference to a secret. */
export function isSecretReference(value: unknown): value is SecretReference {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const { secret, key } = value as Partial<SecretReference>;
  return Object.keys(value).length === 2 && typeof secret === 'string' && typeof key === 'string';
}

/**
 * Returns the value of a secret input: a reference, or null for none.
 * Throws `secret_by_reference` for a plain value, `secret_not_allowed` for a name that resources may not refer to.
 */
export function secretReference(value: unknown, input: string): SecretReference | null {
  if (value === null) return null;
  if (!isSecretReference(value)) {
    throw musterError(
      'secret_by_reference',
      `Input ${input} is secret: it takes {"secret": NAME, "key": KEY} or null, and no plain value`,
      `inputs.${input}`,
    );
  }
  if (SECRET_NAME.test(value.secret) && SECRET_KEY.test(value.key)) return { secret: value.secret, key: value.key };
  throw musterError(
    'secret_not_allowed',
    `Input ${input} may not refer to ${JSON.stringify(value.secret.slice(0, 300))}, key ${JSON.stringify(value.key.slice(0, 300))}: the name of the secret must begin with ${SECRET_PREFIX}`,
    `inputs.${input}`,
  );
}
