import { createHash } from 'node:crypto';
import { uuidOf } from '../../domain/text/uuid.ts';

/** Returns the name of the session that a batch becomes at a try: `batcher-<uuid>`, always the same name for the same try. */
export function batchSessionName(batch: string, attempt: number): string {
  return `batcher-${uuidOf(createHash('sha256').update(`${batch}/${attempt}`).digest('hex'))}`;
}
