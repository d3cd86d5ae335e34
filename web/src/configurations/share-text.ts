/** How many components want a configuration, and how many of them have reached it. */
export interface DesiredCount {
  configuration: string;
  count: number;
  configured: number;
}

/** Configurations that the API counts one by one at most; of others it does not say how many. */
const COUNTED_MOST = 100;

/**
 * Returns the share of components that have reached a configuration.
 * @param counts the configurations with most components; undefined while they are not known
 */
export function shareText(name: string, counts: readonly DesiredCount[] | undefined): string {
  if (counts === undefined) return '';
  const found = counts.find(({ configuration }) => configuration === name);
  if (found === undefined) return counts.length < COUNTED_MOST ? 'no component' : 'see its page';
  const { count, configured } = found;
  return `${configured} of ${count} (${Math.floor((configured * 100) / count)} %)`;
}
