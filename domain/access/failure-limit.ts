/**
 * How long a source of failed logins waits. Tokens have 256 random bits, so nobody finds one by trying; the limit keeps
 * floods of wrong ones away from the database and out of the log.
 */
export interface FailureCount {
  failures: number;
  /** Time of the last failure, ms. */
  lastAt: number;
  /** Until when nothing is tried for this source, ms. */
  blockedUntil: number;
}

export interface FailureRules {
  /** Failures that cost nothing. */
  free: number;
  /** First wait; each further failure doubles it. ms. */
  firstWait: number;
  longestWait: number;
  /** A source that was quiet for so long begins anew, ms. */
  forgetAfter: number;
}

/** Ten mistakes are free; then 1 s, 2 s, 4 s ... up to a minute. Ten quiet minutes end it. */
export const FAILURE_RULES: FailureRules = { free: 10, firstWait: 1_000, longestWait: 60_000, forgetAfter: 600_000 };

/** This machine's own users share one address, and one loop of a script must not lock all of them out. */
export const LOOPBACK_RULES: FailureRules = { ...FAILURE_RULES, longestWait: 2_000 };

/** The count after one more failure. */
export function afterFailure(count: FailureCount | undefined, now: number, rules: FailureRules): FailureCount {
  const fresh = count === undefined || now - count.lastAt >= rules.forgetAfter;
  const failures = fresh ? 1 : count.failures + 1;
  const over = failures - rules.free;
  const wait = over <= 0 ? 0 : Math.min(rules.longestWait, rules.firstWait * 2 ** Math.min(over - 1, 30));
  return { failures, lastAt: now, blockedUntil: now + wait };
}

/** Milliseconds until the source may try again; 0 when it may now. */
export function waitOf(count: FailureCount | undefined, now: number): number {
  return count === undefined ? 0 : Math.max(0, count.blockedUntil - now);
}

/**
 * The source that an address stands for: of IPv6 the /64, since that is what one machine has to choose from.
 * IPv4 in IPv6 clothes is IPv4.
 */
export function sourceOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[0-9.]+$)/i, '').replace(/%.*$/, '');
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.slice(0, 4).join(':').toLowerCase()}::/64`;
}

/** Whether the address is this machine's own. */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.|^::1$/i.test(address);
}
