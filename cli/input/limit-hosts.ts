/** `--limit`: a hostlist, or words for Ansible. */

/** Signs that only patterns of Ansible have. */
const OF_ANSIBLE = /[:&*~]/;
/** Signs that make more of a hostlist than names. */
const OF_HOSTLIST = /[[\]@!\\]/;

/**
 * Returns whether a limit goes to Ansible as it is: a pattern has `:`, `&`, `*` or `~`, the term `all`, or begins with `!`. So does a
 * list of plain names, which a hostlist leaves as it is.
 */
export function isForAnsible(limit: string): boolean {
  if (limit.startsWith('!') || OF_ANSIBLE.test(limit)) return true;
  const terms = limit.split(',').map((term) => term.trim());
  return terms.includes('all') || !OF_HOSTLIST.test(limit);
}
