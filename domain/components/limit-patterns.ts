/** Items of a limit; brackets hold a range or a set of characters. */
const ITEM = /(?:[^,:[\]]|\[[^\]]*\])+/g;

/**
 * Answers whether a limit could mean something that has one of these names: its own, or those of its groups. In doubt it could: of a
 * pattern only what stands before its first special character counts. What a limit does mean is known to Ansible alone; this is for messages.
 */
export function meaningOfLimit(limit: string): (names: readonly string[]) => boolean {
  const items = limit.match(ITEM)?.map((item) => item.trim()) ?? [];
  const asking = items.filter((item) => item !== '' && !item.startsWith('!')).map((item) => item.replace(/^&/, ''));
  if (asking.length === 0 || asking.includes('all')) return () => true;
  const plain = new Set<string>();
  const starts: string[] = [];
  for (const item of asking) {
    const special = item.startsWith('~') ? 0 : item.search(/[*?[]/);
    if (special < 0) plain.add(item);
    else starts.push(item.slice(0, special));
  }
  return (names) => names.some((name) => plain.has(name) || starts.some((start) => name.startsWith(start)));
}
