import { bareKey, type SshCertificate } from './ssh-certificate.ts';

/** What a certificate has to be for, in the terms of now. */
export interface WantedCertificate {
  /** Line of the key that sessions offer. */
  publicKey: string;
  /** Line of the authority's key. */
  authority: string;
  principals: readonly string[];
  /** Life of a new one, ms. */
  life: number;
}

/** Longest pause until somebody looks at a certificate again, ms. */
const LOOK_AGAIN = 600_000;
/** Shortest, so that one that ends in this moment is not asked for in a loop. */
const SOONEST = 250;
/** Longest, where it is due already. */
const OVERDUE = 60_000;

/**
 * Whether a new certificate is due: there is none, it is for another key, other users or of another authority, or half of its
 * life is over (12 h and 6 h; cfs-flows 6.3). `now` in ms.
 */
export function isRenewalDue(certificate: SshCertificate | null, wanted: WantedCertificate, now: number): boolean {
  if (certificate === null) return true;
  const { publicKey, authority, principals, validBefore } = certificate;
  if (publicKey !== bareKey(wanted.publicKey) || authority !== bareKey(wanted.authority)) return true;
  if (!isSameSet(principals, wanted.principals)) return true;
  return validBefore - now <= wanted.life / 2;
}

/** Whether a certificate still opens anything for this key at `now`, ms. */
export function isUsable(certificate: SshCertificate | null, publicKey: string, now: number): boolean {
  return certificate !== null && certificate.publicKey === bareKey(publicKey) && certificate.validBefore > now;
}

/**
 * How long until a run in progress has to look for a newer certificate, ms: a moment after it is due, 10 min at most. One that is due although
 * it was just looked at, as where the clock of the signer is behind, is looked at again after a twentieth of its life, or a minute.
 */
export function lookAgainAfter(certificate: SshCertificate, life: number, now: number): number {
  const due = certificate.validBefore - life / 2 - now;
  return Math.max(SOONEST, due > 0 ? Math.min(LOOK_AGAIN, due) : Math.min(OVERDUE, life / 20));
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(others);
  return new Set(some).size === set.size && some.every((one) => set.has(one));
}
