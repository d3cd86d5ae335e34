/** What a request to a Kubernetes API asks for, by the rules of its API server. */
export interface RequestInfo {
  verb: string;
  group: string;
  version: string;
  namespace: string;
  resource: string;
  subresource: string;
  name: string;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
const SPECIAL = ['proxy', 'watch'];
/** Below a namespace these are parts of the namespace itself, and no kinds. */
const OF_NAMESPACES = ['status', 'finalize'];

/** Returns what a request asks for; null for one that asks for no resource, or whose path cannot be decoded. `url`: path and query. */
export function requestInfo(method: string, url: string): RequestInfo | null {
  const [rawPath = '', query = ''] = splitOnce(url, '?');
  const path = decoded(rawPath);
  if (path === null) return null;
  const [prefix, ...parts] = path.replace(/^\/+|\/+$/g, '').split('/');
  if (parts.length < 2 || (prefix !== 'api' && prefix !== 'apis')) return null;
  const group = prefix === 'apis' ? (parts.shift() ?? '') : '';
  const version = parts.shift() ?? '';
  let verb = VERBS[method] ?? '';
  if (SPECIAL.includes(parts[0] ?? '')) verb = parts.shift() ?? '';
  if (parts.length === 0) return null;

  let namespace = '';
  let rest = parts;
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] ?? '';
    if (parts.length > 2 && !OF_NAMESPACES.includes(parts[2] ?? '')) rest = parts.slice(2);
  }
  const [resource = '', name = '', subresource = ''] = rest;
  const info = { group, version, namespace, resource, name, subresource: verb === 'proxy' ? '' : subresource };
  if (name !== '') return { ...info, verb };
  if (verb === 'delete') return { ...info, verb: 'deletecollection' };
  if (verb !== 'get') return { ...info, verb };
  const parameters = new URLSearchParams(query);
  return { ...info, verb: isTrue(parameters.get('watch')) ? 'watch' : 'list', name: nameIn(parameters) };
}

/** The one name that a field selector admits. */
function nameIn(parameters: URLSearchParams): string {
  const names = (parameters.get('fieldSelector') ?? '')
    .split(',')
    .flatMap((term) => /^metadata\.name==?([^=!]+)$/.exec(term)?.[1] ?? []);
  const [name = ''] = names;
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/** Kubernetes takes every word but these two, also none, as true. */
const isTrue = (word: string | null): boolean => word !== null && word !== '0' && word.toLowerCase() !== 'false';

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
