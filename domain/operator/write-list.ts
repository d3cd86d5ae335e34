/** What a run wrote in the cluster: the list of changes of a reconcile. */
import { isRealKind } from './owner-mark.ts';
import type { RequestInfo } from './request-info.ts';

/** One write. It names an object and says nothing of its content. */
export interface RunWrite {
  /** `create`, `update`, `patch`, `delete`, `deletecollection`; `exec` and `attach` for commands in a container. */
  verb: string;
  group: string;
  version: string;
  /** Name of the resource in the plural where discovery does not know the kind. */
  kind: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
  /** Empty where a request names none. */
  name: string;
  /** Empty for the object itself. */
  subresource: string;
}

/** What a run wrote, in order. */
export interface RunWrites {
  /** Of all, also of those that are not listed. */
  total: number;
  listed: RunWrite[];
}

/** So many are listed of a run; further ones are counted. */
export const WRITES_LISTED = 1_000;

const WRITING = ['POST', 'PUT', 'PATCH', 'DELETE'];
/** They run commands, by whatever method their connection begins. */
const COMMANDS = ['exec', 'attach'];

/**
 * Returns the write that a request asks for; null for one that writes nothing: it reads, it is a trial (`dryRun=All`), or its resource
 * is a question such as selfsubjectaccessreviews. `resource`: null where discovery does not know it.
 */
export function writeOf(
  method: string,
  url: string,
  request: RequestInfo | null,
  resource: { kind: string; verbs: readonly string[] } | null,
): RunWrite | null {
  if (request === null) return null;
  const { group, version, namespace, name, subresource } = request;
  const write = { group, version, kind: resource?.kind ?? request.resource, namespace, name, subresource };
  if (COMMANDS.includes(subresource)) return { ...write, verb: subresource };
  if (!WRITING.includes(method) || isTrial(url)) return null;
  const isQuestion = subresource === '' && resource !== null && !isRealKind(resource);
  return isQuestion ? null : { ...write, verb: request.verb };
}

function isTrial(url: string): boolean {
  const at = url.indexOf('?');
  return at >= 0 && new URLSearchParams(url.slice(at + 1)).getAll('dryRun').includes('All');
}
