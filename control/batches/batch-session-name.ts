import { createHash } from 'node:crypto';

/** Name of the session that a batch becomes at a try: `batcher-<uuid>`, always the same one for the same try. */
export function batchSessionName(batch: string, attempt: number): string {
  const hex = createHash('sha256').update(`${batch}/${attempt}`).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `batcher-${uuid.join('-')}`;
}
