/** The text by which the proxy knows which resource a request belongs to; it travels as the user name of a run. */
export interface OwnerText {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** Empty for cluster-scoped resources. */
  namespace: string;
}

/** Returns the owner as JSON in base64 of the URL alphabet, padded. */
export function writeOwner({ apiVersion, kind, name, uid, namespace }: OwnerText): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ apiVersion, kind, name, uid, Namespace: namespace }));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** Returns the owner that a text names, in either alphabet and with members in any case; null for any other text. */
export function readOwner(text: string): OwnerText | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const members = new Map(Object.entries(value).map(([key, member]) => [key.toLowerCase(), member as unknown]));
    const [apiVersion, kind, name, uid, namespace = ''] = ['apiversion', 'kind', 'name', 'uid', 'namespace'].map(
      (key) => members.get(key),
    );
    const texts = [apiVersion, kind, name, uid, namespace];
    if (!texts.every((member) => typeof member === 'string') || texts.slice(0, 4).includes('')) return null;
    const [a = '', k = '', n = '', u = '', ns = ''] = texts;
    return { apiVersion: a, kind: k, name: n, uid: u, namespace: ns };
  } catch {
    return null;
  }
}
