/** Whether answers of the API are what its own documents promise. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { ApiDocument } from '../openapi-files.ts';

export interface SentAnswer {
  status: number;
  body: unknown;
  headers: Record<string, string | string[] | number | undefined>;
}

export interface AnswerCheck {
  /** What is wrong with an answer; empty when it is as described. */
  mistakes(method: string, url: string, answer: SentAnswer): string[];
  /** Name of the operation that a request is for; null for a path or method that there is not. */
  operationOf(method: string, url: string): string | null;
}

/** Before or beside all operations: unknown path or method, a request that cannot be read. */
const ANYWHERE = new Set(['404', '405', '408', '431']);

/** Checks against a document of all operations, below any of the prefixes. */
export function createAnswerCheck(document: ApiDocument, prefixes: readonly string[]): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ ...document, $id: 'document' });
  const paths = Object.keys(document.paths)
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }));

  const find = (method: string, url: string) => {
    const given = url.replace(/[?#].*$/s, '');
    const prefix = prefixes.find((one) => one !== '' && (given === one || given.startsWith(`${one}/`))) ?? '';
    const path = paths.find(({ pattern }) => pattern.test(given.slice(prefix.length) || '/'))?.path;
    const verb = method.toLowerCase();
    const operation = path === undefined ? undefined : document.paths[path]?.[verb];
    return operation === undefined ? null : { operation, pointer: ['paths', path ?? '', verb] };
  };
  const schemaAt = (pointer: string[]): ValidateFunction | undefined =>
    ajv.getSchema(`document#/${pointer.map(escaped).join('/')}`);

  return {
    operationOf: (method, url) => find(method, url)?.operation.operationId ?? null,
    mistakes(method, url, answer) {
      const status = String(answer.status);
      const type = String(answer.headers['content-type'] ?? '').replace(/;.*/s, '');
      if (!answer.headers['x-request-id']) return ['has no X-Request-Id'];
      const found = find(method, url);
      const described = found?.operation.responses[status];
      if (found === null || described === undefined) {
        if (found !== null && !ANYWHERE.has(status)) return [`status ${status} is not described`];
        return answer.status < 400 ? [] : mistakesOf(schemaAt(['components', 'schemas', 'Problem']), answer.body);
      }
      if (described.content === undefined) return answer.body === '' ? [] : ['has a body'];
      if (described.content[type] === undefined) return [`type "${type}" is not described for ${status}`];
      if (!type.endsWith('json')) return [];
      return mistakesOf(schemaAt([...found.pointer, 'responses', status, 'content', type, 'schema']), answer.body);
    },
  };
}

function mistakesOf(validate: ValidateFunction | undefined, body: unknown): string[] {
  if (validate === undefined) return ['has no schema'];
  if (validate(body)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`;
  });
}

/** A name as part of a JSON pointer in a URL. */
export function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
