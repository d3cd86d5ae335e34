const JSON_TYPE = 'application/json';
/** Media type of live data: server-sent events. */
export const LIVE = 'text/event-stream';
/** What a route offers whose data can be followed. */
export const JSON_OR_LIVE = [JSON_TYPE, LIVE] as const;
/** What a route offers whose rows can also be read as text. */
export const JSON_TEXT_OR_LIVE = [JSON_TYPE, 'text/plain', LIVE] as const;

/**
 * The media type among `offered` that an Accept header wants most; the first of them when nothing fits or decides. A type
 * that is named beats a wildcard of the same quality.
 */
export function preferredType<Type extends string>(
  header: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type {
  let best: Type = offered[0];
  let weight = 0;
  for (const type of offered) {
    const quality = qualityOf(header ?? '*/*', type);
    if (quality > weight) {
      best = type;
      weight = quality;
    }
  }
  return best;
}

function qualityOf(header: string, type: string): number {
  let quality = 0;
  for (const part of header.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const exact = range === type;
    if (!exact && range !== '*/*' && range !== `${type.split('/')[0]}/*`) continue;
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    // A thousandth, the finest step of a quality, is less than what being named adds.
    if (q > 0) quality = Math.max(quality, q + (exact ? 0.0005 : 0));
  }
  return quality;
}
