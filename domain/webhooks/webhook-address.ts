/** The address of a webhook is a secret: path, query and user often are the receiver's key. It is shown as scheme and host alone. */
import { musterError } from '../errors.ts';

const MARK = '***';

/** What everybody sees of an address: `scheme://host/***`. What it makes of its own result is the same again. */
export function shownWebhookAddress(address: string): string {
  const url = URL.parse(address);
  return url === null || !/^https?:$/.test(url.protocol) ? MARK : `${url.protocol}//${url.host}/${MARK}`;
}

/** Whether a stored address is only what is shown of another one. */
export function isShownAddress(address: string): boolean {
  return shownWebhookAddress(address) === address;
}

/**
 * The address that a request sets; undefined when it sends back what it was shown, which changes nothing.
 * @param shown what is shown of the webhook's address now; null for a new webhook
 * @throws `webhook_address_masked` for any other address with `***` in it: it was shown somewhere, and is no whole address
 */
export function givenWebhookAddress(address: string, shown: string | null): string | undefined {
  if (address === shown) return undefined;
  if (!address.includes(MARK)) return address;
  throw musterError(
    'webhook_address_masked',
    `The address has *** in it, which stands for what is not shown of it. ${
      shown === null
        ? 'Give the whole address'
        : `Give the whole address, or leave url out (or send ${shown}) to keep the one that is stored`
    }; an asterisk that belongs to it is written %2A`,
    'url',
  );
}

/** A text without any part of an address that is not shown. */
export function withoutWebhookAddress(text: string, address: string): string {
  const url = URL.parse(address);
  const parts = url === null ? [] : [url.href, `${url.pathname}${url.search}${url.hash}`, ...secretParts(url)];
  const all = [address, ...parts].flatMap((part) => [part, decoded(part)]).filter((part) => part.length > 1);
  // A longer part first: a shorter one in it would leave the rest.
  const longestFirst = [...new Set(all)].sort((one, other) => other.length - one.length);
  const wholes = [address, url?.href];
  const shown = shownWebhookAddress(address);
  return longestFirst.reduce((rest, part) => rest.replaceAll(part, () => (wholes.includes(part) ? shown : MARK)), text);
}

/** Path and query as wholes, and the pieces of the address that are long enough to be no common word. */
function secretParts({ username, password, pathname, search, hash }: URL): string[] {
  const pieces = [username, password, ...`${pathname}${search}${hash}`.split(/[/?&=;#]/)];
  return [pathname, search, hash, ...pieces.filter((piece) => piece.length >= 5)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
