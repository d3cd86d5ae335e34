import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { ApiRequest } from '../../client/api-client.ts';
import { ANSWER_TIMEOUT } from '../../client/transport-failure.ts';
import type { CliContext } from '../../context.ts';
import { usage } from '../../failure.ts';
import { fileTrouble, unclosedBracket } from '../../input/file-trouble.ts';
import { apiOf, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { writeData } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface ApiOptions extends WriteOptions {
  data?: string;
}

/** `muster api METHOD PATH [-d @FILE]` */
export function apiCommand(program: Command, context: CliContext): void {
  withDryRun(withServer(program.command('api')))
    .description('send one request with address and token of the command line, and write the answer')
    .argument('<method>', METHODS.join(', '))
    .argument('<path>', 'path with its query, such as /api/v1/status')
    .option('-d, --data <@file>', 'body as JSON: @FILE, or - for stdin')
    .action((method: string, path: string, options: ApiOptions) => callApi(context, method, path, options));
}

/** Writes the answer as it came; JSON on a terminal is indented. A refusal is a failure as of every command. */
async function callApi(context: CliContext, method: string, path: string, options: ApiOptions): Promise<void> {
  const known = METHODS.find((word) => word === method.toUpperCase());
  if (known === undefined) throw usage(`${method} is no method`, `methods are ${METHODS.join(', ')}`);
  if (!path.startsWith('/')) throw usage(`${path} is no path`, 'it begins with /, such as /api/v1/status');
  const body = options.data === undefined ? undefined : await bodyOf(context, options.data);
  if (known === 'GET' && body !== undefined) throw usage('a GET has no body');
  const api = apiOf(context, options);
  if (options.dryRun) {
    if (known === 'GET') throw usage('--dry-run is for requests that write; a GET changes nothing');
    return previewRequests(context, api, [withQuery({ method: known, path, body })], options);
  }
  const answer = await api.open({ method: known, path, body }, { timeout: ANSWER_TIMEOUT });
  const given = await answer.text();
  if (given === '') return;
  const isJson = /\bjson\b/.test(answer.headers.get('content-type') ?? '');
  const shown = context.out.terminal && isJson ? JSON.stringify(JSON.parse(given), null, 2) : given;
  writeData(context, shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** The query as members, as a dry run takes it. */
function withQuery({ path, ...request }: ApiRequest): ApiRequest {
  const at = path.indexOf('?');
  if (at < 0) return { path, ...request };
  return { ...request, path: path.slice(0, at), query: Object.fromEntries(new URLSearchParams(path.slice(at + 1))) };
}

/** The body of a file or of stdin: it may have secrets, which every user would see among the words of a command. */
async function bodyOf(context: CliContext, data: string): Promise<unknown> {
  if (data !== '-' && !data.startsWith('@'))
    throw usage('the body would stand in the list of processes', 'write -d @FILE, or -d - for stdin');
  const name = data === '-' ? 'stdin' : data.slice(1);
  let given: string;
  try {
    given = data === '-' ? await text(context.stdin) : await readFile(name, 'utf8');
  } catch (error) {
    throw usage(`cannot read ${name}: ${fileTrouble(error)}`);
  }
  try {
    return JSON.parse(given);
  } catch (error) {
    throw usage(`${name} is no JSON: ${unclosedBracket(given) ?? (error as Error).message}`);
  }
}
