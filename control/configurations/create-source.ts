import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { secretInSource } from '../../domain/configurations/address-secrets.ts';
import type { Source, SourceCreate, SourceRestore } from '../../domain/configurations/schema.ts';
import { secretNameOf } from '../../domain/configurations/source-rules.ts';
import { musterError } from '../../domain/errors.ts';
import { KEY_MAX } from '../../domain/schema.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import { wireTime } from '../../domain/text/times.ts';
import { findSource, insertSource } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { type SourceSecretDependencies, writeWithSecret } from './source-secrets.ts';

export interface SourceDependencies extends SourceSecretDependencies {
  db: Db;
  secrets: SecretStore;
  clock(): Date;
}

/**
 * Makes a source; its credentials go to the secret store under a fresh name, before the record that names them, and away
 * again when there will be no record (cfs-api 12, 15.18).
 */
export async function createSource(deps: SourceDependencies, by: Acting, body: SourceCreate): Promise<Source> {
  const secret = secretInSource(body.clone_url);
  if (secret !== null) throw secret;
  const name = body.name ?? body.clone_url;
  if ([...name].length > KEY_MAX) {
    throw musterError('bad_request', `A clone_url of more than ${KEY_MAX} characters needs a name`, 'name');
  }
  const secretName = secretNameOf(by.operation ?? randomUUID());
  const existing = await findSource(deps.db, name);
  if (existing?.credentials.secret_name === secretName) return existing;
  if (existing) throw sourceExists(name);
  const { username, password } = body.credentials;
  return await writeWithSecret(
    deps,
    by,
    secretName,
    async () => ({ username, password }),
    (trx) => insert(deps, by, trx, name, body, secretName),
  );
}

/** Makes a source again that names an existing secret, which is neither made nor checked. */
export async function restoreSource(
  deps: SourceDependencies,
  by: Acting,
  name: string,
  body: SourceRestore,
): Promise<Source> {
  const secret = secretInSource(body.clone_url);
  if (secret !== null) throw secret;
  return insert(deps, by, deps.db, name, body, body.credentials.secret_name);
}

async function insert(
  deps: SourceDependencies,
  by: Acting,
  db: Db,
  name: string,
  body: Pick<SourceCreate, 'description' | 'clone_url' | 'ca_cert'>,
  secretName: string,
): Promise<Source> {
  const now = deps.clock();
  const record: Source = {
    name,
    ...(body.description === undefined ? {} : { description: body.description }),
    last_updated: wireTime(now),
    clone_url: body.clone_url,
    credentials: { authentication_method: 'password', secret_name: secretName },
    ca_cert: body.ca_cert ?? null,
  };
  if (!(await insertSource(db, record, now, by.actor))) throw sourceExists(name);
  return record;
}

function sourceExists(name: string) {
  return musterError('source_exists', `A source with the name ${name} already exists`);
}
