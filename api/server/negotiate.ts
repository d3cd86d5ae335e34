/** Which of the forms of an answer a client takes. */
import type { FastifyRequest } from 'fastify';
import { musterError } from '../../domain/errors.ts';

/**
 * Returns the media type of `offered` that the client likes best, the first where it likes several alike.
 * Throws `not_acceptable` without `Accept`, and where it names none of them.
 */
export function negotiate<Type extends string>(request: FastifyRequest, offered: readonly Type[]): Type {
  const header = request.headers.accept ?? '';
  const ranges = header.split(',').map(rangeOf);
  let best: { type: Type; quality: number } | undefined;
  for (const type of offered) {
    const quality = qualityOf(type, ranges);
    if (quality > 0 && (best === undefined || quality > best.quality)) best = { type, quality };
  }
  if (best !== undefined) return best.type;
  throw musterError('not_acceptable', `Accept must name one of ${offered.slice(0, 10).join(', ')}`);
}

interface Range {
  range: string;
  quality: number;
}

function rangeOf(text: string): Range {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const given = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = given === undefined ? 1 : Number(given.slice(2));
  return { range, quality: Number.isFinite(quality) ? quality : 0 };
}

/** The most exact range decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const wide = `${type.split('/')[0]}/*`;
  for (const range of [type, wide, '*/*']) {
    const found = ranges.find((each) => each.range === range);
    if (found !== undefined) return found.quality;
  }
  return 0;
}
