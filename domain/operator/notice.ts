/** What an Event on a resource says. */
import type { NoticeReason } from './ports.ts';
import type { ReconcileOutcome } from './resource-words.ts';

/** Kubernetes takes no longer message, bytes. */
const MESSAGE_BYTES = 1_024;

/** Of the name of a resource so much is in that of its Event, characters. */
const NAME_MAX = 220;

/** Returns the name of an Event of a resource, in the form that Kubernetes takes, whatever the name of the resource is. `digest`: tells Events apart. */
export function noticeName(name: string, digest: string): string {
  const labels = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, NAME_MAX)
    .split('.')
    .map((label) => label.replace(/^-+|-+$/g, ''))
    .filter((label) => label !== '');
  return [...labels, digest].join('.');
}

/** Returns what is told of the end of a reconcile; null: nothing. A success is told after a failure alone. */
export function noticeOfEnd(
  outcome: ReconcileOutcome,
  messages: readonly string[],
  lastOutcome: ReconcileOutcome | null,
): { reason: NoticeReason; message: string } | null {
  if (outcome === 'failed') return { reason: 'ReconcileFailed', message: messages.join('\n') };
  if (outcome === 'interrupted') return { reason: 'ReconcileInterrupted', message: 'Its run was lost; it runs again' };
  if (outcome !== 'ok' || lastOutcome !== 'failed') return null;
  return { reason: 'Reconciled', message: 'Reconciled after a failure' };
}

/** Returns the first 1,024 bytes of a message, whole characters alone. */
export function noticeMessage(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.length <= MESSAGE_BYTES) return message;
  let end = MESSAGE_BYTES;
  // Bytes of this form go on with a character that has begun before.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
