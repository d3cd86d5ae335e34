/** Why a write is asked for, as its audit records keep it. */
import { musterError } from './errors.ts';

/** Header of a write that says why. */
export const REASON_HEADER = 'Muster-Reason';

/** Longest reason, in characters. */
export const REASON_MAX = 500;

/**
 * Reads the header. Returns null where it is absent or empty. Throws `bad_request` for what is not percent-encoded UTF-8, and for a
 * reason that is too long.
 */
export function readReason(header: string | undefined): string | null {
  if (header === undefined) return null;
  let text: string;
  try {
    text = decodeURIComponent(header);
  } catch {
    throw musterError(
      'bad_request',
      `The header ${REASON_HEADER} must be UTF-8 with percent-encoding, as \`needs%20care\``,
    );
  }
  if (text.length > REASON_MAX) {
    throw musterError(
      'bad_request',
      `The header ${REASON_HEADER} has ${text.length} characters, at most are ${REASON_MAX}`,
    );
  }
  return keptReason(text);
}

/**
 * Returns a reason as records keep it: in one line, not longer than they have room for. Returns null where nothing is left. The bound
 * holds in bytes too, because the reason travels in a comment whose length is bounded.
 */
export function keptReason(text: string | null | undefined): string | null {
  const line = (text ?? '')
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return line === '' ? null : line.slice(0, REASON_MAX).toWellFormed();
}
