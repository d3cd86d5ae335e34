import type { SecretStore } from '../../domain/secrets/ports.ts';
import { type Change, insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';

/**
 * A store of secrets outside of the database, whose writes are recorded as the database's own are. The record is committed
 * after the write: one that failed leaves none, and a request whose record fails is answered as failed.
 */
export function recordedSecrets(db: Db, secrets: SecretStore): SecretStore {
  const recorded = (change: Omit<Change, 'kind'>, write: () => Promise<void>) =>
    db.transaction().execute(async (trx) => {
      await insertAuditRow(trx, { ...change, kind: 'secret' });
      await write();
    });
  return {
    get: (name) => secrets.get(name),
    list: () => secrets.list(),
    put: (name, key, value, actor = null) =>
      recorded({ actor, action: 'update', name: `${name}/${key}` }, () => secrets.put(name, key, value, actor)),
    putAll: (name, values, actor = null) =>
      recorded({ actor, action: 'update', name }, () => secrets.putAll(name, values, actor)),
    deleteKey: (name, key, actor = null) =>
      recorded({ actor, action: 'delete', name: `${name}/${key}` }, () => secrets.deleteKey(name, key)),
    delete: (name, actor = null) => recorded({ actor, action: 'delete', name }, () => secrets.delete(name)),
  };
}
