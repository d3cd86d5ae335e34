import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { tokenKindOf } from '../../domain/access/token-format.ts';
import { findTokenByHash, insertToken } from '../../store/access/tokens.ts';
import type { Db } from '../../store/connection/database.ts';
import { hashToken, newToken } from './token-secret.ts';

export interface AdminTokenDependencies {
  db: Db;
  clock(): Date;
  /** File with the token; made (0600) when it is not there. */
  file: string;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}

/**
 * Sees to it that the token in the file is an administrator's. Whoever can write the file has the data directory, and with it
 * all that the token could give. A token that was revoked stays so: only a file that was removed means a new one.
 */
export async function ensureAdminToken({ db, clock, file, log }: AdminTokenDependencies): Promise<void> {
  const token = (await readIfThere(file)) ?? (await makeFile(file));
  if (tokenKindOf(token) !== 'api') {
    log.warn({ file }, 'the file of the admin token holds no token of this API; remove it to get a new one');
    return;
  }
  const hash = hashToken(token);
  const known = await findTokenByHash(db, hash);
  if (known !== undefined) {
    if (known.revoked_at !== null)
      log.warn({ file }, 'the admin token in the file was revoked; remove it to get a new one');
    return;
  }
  const role = { role: 'admin', component: null, actor: null, expires_at: null } as const;
  for (const name of ['stack', `stack-${randomBytes(4).toString('hex')}`]) {
    const row = await insertToken(db, { id: randomUUID(), hash, name, ...role, created_at: clock() });
    if (row !== null) return log.info({ file, name }, 'the admin token is in the file');
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole or not at all, and one for all when two processes start at once. */
async function makeFile(file: string): Promise<string> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, `${newToken('api')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(temporary);
  return (await readFile(file, 'utf8')).trim();
}
