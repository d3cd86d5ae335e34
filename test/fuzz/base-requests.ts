import type { ApiDocument } from '../support/openapi-files.ts';

/** A request that the API would take, with the names of what can be changed in it. */
export interface BaseRequest {
  operation: string;
  method: string;
  /** Path with its parameters in braces. */
  path: string;
  query: readonly string[];
  /** Bodies that it takes; empty when it takes none. */
  bodies: readonly unknown[];
}

/** Records that there are, by the parameter that names them. */
export const NAMES: Record<string, string> = {
  component_id: 'x1',
  configuration_id: 'site',
  source_id: 'repo',
  session_name: 'nightly',
  token: 'eyes',
  name: 'site-git',
  key: 'password',
};

/** One request for each operation of a document; bodies are its examples. */
export function baseRequests({ paths }: ApiDocument): BaseRequest[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const parameters: { name: string; in: string }[] = operation.parameters ?? [];
      const media = operation.requestBody?.content['application/json'];
      const examples = Object.values<{ value: unknown }>(media?.examples ?? {}).map(({ value }) => value);
      return {
        operation: operation.operationId,
        method: method.toUpperCase(),
        path,
        query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        bodies: media !== undefined && examples.length === 0 ? [{}] : examples,
      };
    }),
  );
}
