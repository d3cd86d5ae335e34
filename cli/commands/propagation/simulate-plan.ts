/** Plans on paper that a server works out: of what is staged, or of what a stored plan would still do. */
import { existsSync } from 'node:fs';
import type { SimulateAnswer } from '../../../domain/propagation/simulate-schema.ts';
import type { CliContext } from '../../context.ts';
import { usage } from '../../failure.ts';
import { apiOf, type ServerOptions } from '../../options.ts';
import { type Format, isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { namesPlan, planId, planPath } from './plan-name.ts';
import { simulateAnswerText } from './plan-words.ts';

export interface SimulateServerOptions extends ServerOptions {
  output: Format;
  staged?: boolean;
  tags?: string;
  outcome?: string[];
  graph?: string;
  around?: string;
  explain?: string;
}

/** Simulates what is staged, or a stored plan. Returns false where the word names a file, of which no server is asked. */
export async function simulateOnServer(
  context: CliContext,
  what: string | undefined,
  options: SimulateServerOptions,
): Promise<boolean> {
  const { staged = false, tags, outcome = [], output } = options;
  if ((what === undefined) !== staged) throw usage('name a file or a plan, or give --staged');
  if (what !== undefined && (!namesPlan(what) || existsSync(what))) {
    if (tags !== undefined || outcome.length > 0) {
      throw usage('--tags and --outcome are for --staged or a plan: a file says itself how its actions end');
    }
    return false;
  }
  if (tags !== undefined && !staged) throw usage('--tags needs --staged');
  if ((options.graph ?? options.around ?? options.explain) !== undefined) {
    throw usage(
      '--graph, --around and --explain are for files: `./muster plan graph` and `explain` show a stored plan',
    );
  }
  const api = apiOf(context, options);
  const path =
    what === undefined ? '/api/v1/propagation/changes/simulate' : `${planPath(await planId(api, what))}/simulate`;
  const body = { tags, outcomes: outcomesOf(outcome) };
  const answer = await api.json<SimulateAnswer>({ method: 'POST', path, body });
  writeData(context, isValueFormat(output) ? await renderValue(answer, output) : simulateAnswerText(answer));
  return true;
}

/** `node=word`, or `node=word,word` for each attempt. */
function outcomesOf(words: readonly string[]): Record<string, string | string[]> {
  const pairs = words.map((word): [string, string | string[]] => {
    const at = word.lastIndexOf('=');
    if (at < 1) throw usage(`'${word}' is no outcome: write it as node=word, as web.run=failed`);
    const said = word.slice(at + 1).split(',');
    return [word.slice(0, at), said.length === 1 ? (said[0] ?? '') : said];
  });
  return Object.fromEntries(pairs);
}
