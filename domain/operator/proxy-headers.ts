/** Which headers the proxy hands on, in either direction. */

/** A header as it was written: name and value. */
export type Header = readonly [name: string, value: string];

/** They speak of one connection alone (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** The proxy says these itself: who asks, whom it asks, how long the body is. */
const OWN = ['authorization', 'host', 'content-length', 'expect'];

/** By these an API server with a front proxy is told who asks. */
const ON_BEHALF = 'x-remote-';

/** Returns raw headers (name, value, name, value ...) as pairs. */
export function headerPairs(raw: readonly string[]): Header[] {
  const pairs: Header[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return pairs;
}

/** Returns the headers of a request that the API server gets. */
export function requestHeaders(headers: readonly Header[]): Header[] {
  return withoutHop(headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return !OWN.includes(lower) && !lower.startsWith(ON_BEHALF);
  });
}

/** Returns the headers of an answer that the client gets. */
export function answerHeaders(headers: readonly Header[]): Header[] {
  return withoutHop(headers);
}

function withoutHop(headers: readonly Header[]): Header[] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((name) => name.trim());
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !HOP_BY_HOP.includes(lower) && !named.includes(lower);
  });
}
