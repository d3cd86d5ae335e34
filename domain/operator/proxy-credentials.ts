/** How a run says to the proxy which run it is. */
import { type OwnerText, readOwner } from './owner-text.ts';

export interface ProxyCredentials {
  owner: OwnerText;
  password: string;
}

/** What an owner and a password are made of is shorter by far: names of 253 characters. */
const LONGEST = 8 * 1024;

/** Returns owner and password of an `Authorization` header; null for any other text. */
export function readCredentials(header: string | undefined): ProxyCredentials | null {
  const base64 = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header ?? '')?.[1];
  if (base64 === undefined || base64.length > LONGEST) return null;
  const text = decoded(base64);
  const at = text?.indexOf(':') ?? -1;
  if (text === null || at < 0) return null;
  const owner = readOwner(text.slice(0, at));
  return owner === null ? null : { owner, password: text.slice(at + 1) };
}

/** Whether two texts name the same resource, of the same uid. */
export function isSameOwner(one: OwnerText, other: OwnerText): boolean {
  return (
    one.uid === other.uid &&
    one.apiVersion === other.apiVersion &&
    one.kind === other.kind &&
    one.name === other.name &&
    one.namespace === other.namespace
  );
}

function decoded(base64: string): string | null {
  try {
    return atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return null;
  }
}
