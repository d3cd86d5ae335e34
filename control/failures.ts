import { isMusterError, type MusterError, musterError } from '../domain/errors.ts';
import { messageOf } from '../domain/text/message-of.ts';
import { isConnectionError } from '../store/connection/database.ts';

/** The failure in the catalogue's words: a full disk and an absent database by their codes, what nobody expected as `internal`. */
export function failureOf(error: unknown): MusterError {
  if (isMusterError(error)) return error;
  const message = messageOf(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return musterError('disk_low', `no space is left on the disk: ${message}`);
  if (isConnectionError(error)) return musterError('storage_unavailable', `the database is away: ${message}`);
  return musterError('internal', message);
}
