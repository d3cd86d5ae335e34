/** Lines of a session's output by their numbers: from a line on, lines with a text in them, or lines that say what failed. */
import type { SessionDetail } from '../../domain/sessions/detail-schema.ts';
import type { LogLine, LogLines } from '../../domain/sessions/log-schema.ts';
import type { ApiClient, Query } from '../client/api-client.ts';
import { pages } from '../client/pages.ts';
import { type CliContext, say } from '../context.ts';
import { writeData } from '../output/render.ts';

export interface LineOptions {
  layer?: number;
  attempt?: number;
  grep?: string;
  failures?: boolean;
  sinceLine?: number;
}

/** Writes the lines of one log from a number on, a gap as a message; `path` is that of the session. */
export async function copyLines(
  context: CliContext,
  api: ApiClient,
  path: string,
  { layer, attempt, sinceLine: from = 1 }: LineOptions,
): Promise<void> {
  let query: Query | null = { layer, attempt, from, limit: 1000, whole: true };
  let before = from - 1;
  while (query !== null) {
    const page: LogLines = await api.json({ method: 'GET', path: `${path}/log-lines`, query });
    if (query.from === from && page.total < from) say(context, `there is no line ${from}: the last is ${page.total}`);
    const [gap] = page.gaps;
    for (const { number, text } of page.lines) {
      if (gap !== undefined && before <= gap.after && number > gap.after) {
        say(context, `${gap.lines ?? 'some'} lines behind line ${gap.after} were not kept`);
      }
      before = number;
      writeData(context, `${text}\n`);
    }
    query = page.next === null ? null : { ...page.next, whole: true };
  }
}

/**
 * Writes the lines that match, each with its number; of a session with several runs also with layer and attempt, as `0/1:12:text`. Says so when
 * there is none.
 */
export async function copyMatches(
  context: CliContext,
  api: ApiClient,
  path: string,
  { layer, attempt, grep: q, failures }: LineOptions,
): Promise<void> {
  const session = await api.json<SessionDetail>({ method: 'GET', path });
  const layers = layer === undefined ? session.snapshot.layers.map(({ index }) => index) : [layer];
  const attempts = attempt === undefined ? countTo(session.attempt) : [attempt];
  const isOne = layers.length * attempts.length === 1;
  let count = 0;
  for (const inAttempt of attempts) {
    for (const inLayer of layers) {
      const query = { layer: inLayer, attempt: inAttempt, q, failures };
      for await (const { number, text } of pages<LogLine>(api, `${path}/log-search`, 'lines', query)) {
        count += 1;
        writeData(context, `${isOne ? '' : `${inLayer}/${inAttempt}:`}${number}:${text}\n`);
      }
    }
  }
  if (count === 0) say(context, failures ? 'no line says that something failed' : `no line has the text '${q}'`);
}

const countTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
