/** Returns an address of the web as it is; null for another one, which is no link. */
export function webLink(address: string): string | null {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'http:' || protocol === 'https:' ? href : null;
  } catch {
    return null;
  }
}
