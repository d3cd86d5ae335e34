/** Addresses of repositories as a page shows them. */

/** Returns an address without the user and the password in it. A password may have the sign `@` itself: the last sign before the path ends it. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
}
