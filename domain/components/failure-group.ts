import { failureSignature } from './failure-signature.ts';

/** Failed components with the same last message. */
export interface FailureGroup {
  /** Null where nothing says why. */
  message: string | null;
  count: number;
  since: Date;
  /** When the newest of them failed, its id, and its session; null where none is left. */
  latest: Date;
  host: string;
  session: { id: string; name: string } | null;
}

/** Returns what failures of the group have in common with those of others; '' where nothing says why. */
export function signatureOf({ message, host }: FailureGroup): string {
  return message === null ? '' : failureSignature(message, host);
}
