/** Which targets the proxy forwards: paths of the API server and nothing else. Decided on the raw text, before it is read as a URL. */

const PRINTABLE = /^[!-~]+$/;

/** Returns what is wrong with the target of a request; null for one that may be forwarded. */
export function targetMistake(target: string): string | null {
  if (!target.startsWith('/')) return 'the target of the request is no path that begins with "/"';
  if (!PRINTABLE.test(target)) return 'the target of the request has characters that are to be escaped';
  const path = target.split('?', 1)[0] ?? '';
  if (target.includes('#')) return 'the target of the request has a fragment';
  const decoded = decodedPath(path);
  if (decoded === null) return 'the path of the request has an escape that cannot be read';
  if (hasControls(decoded)) return 'the path of the request has control characters';
  // The API server takes an escaped slash for a slash, and others may take a backslash for it.
  const [, ...segments] = decoded.replaceAll('\\', '/').split('/');
  if (segments.slice(0, -1).includes('')) return 'the path of the request has "//"';
  if (segments.some((segment) => segment === '.' || segment === '..')) return 'the path of the request has "." or ".."';
  return null;
}

function decodedPath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

const hasControls = (text: string): boolean =>
  Array.from(text).some((character) => character < ' ' || character === '\u007f');
