import { isSameServer } from '../deploy/stack/own-stack.ts';
import type { ApiRequest } from './client/api-client.ts';
import type { Profile } from './context-file.ts';
import { CliFailure, EXIT } from './failure.ts';

/** Requests that change nothing although they are no GET: questions whose answers need a body. A reader may send them. */
const QUESTIONS = [
  /^\/api\/v1\/(dry-run|hostlists|components\/selections)$/,
  /^\/api\/v1\/propagation\/((changes\/|plans\/[^/]+\/)?simulate|resources\/validate)$/,
  /^\/api\/v1\/stream\/[^/]+\/topics$/,
];

/** Whether a request changes nothing, whatever its body says. */
export const isQuestion = ({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean =>
  method === 'GET' || (method === 'POST' && QUESTIONS.some((question) => question.test(path)));

/** Why a request is not sent to the server of a context that is read only; undefined where it may be. */
export function refusedByContext(
  profile: Profile | undefined,
  url: string,
  request: Pick<ApiRequest, 'method' | 'path'>,
): CliFailure | undefined {
  if (isQuestion(request) || !profile?.read_only || !isSameServer(profile.url, url)) return undefined;
  const fix = `\`--dry-run\` shows what would change; \`./muster context set ${profile.name} --no-read-only\` allows writes`;
  const detail = `context ${profile.name} is read only; nothing was sent`;
  return new CliFailure('context_read_only', detail, EXIT.notAllowed, fix);
}
