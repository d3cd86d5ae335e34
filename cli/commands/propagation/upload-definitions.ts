import type { DefinitionView, RepositoryView } from '../../../domain/propagation/schema.ts';
import { type ApiClient, type ApiRequest, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure } from '../../failure.ts';
import { perform, type WriteOptions } from '../../options.ts';
import type { FoundDefinition } from './definition-folder.ts';

export const REPOSITORIES = '/api/v1/propagation/repositories';

/** Makes a repository, unless it is there. */
export async function ensureRepository(
  context: CliContext,
  api: ApiClient,
  name: string,
  options: WriteOptions,
): Promise<void> {
  try {
    const request: ApiRequest = { method: 'POST', path: REPOSITORIES, body: { name } };
    const made = await perform<RepositoryView>(context, api, request, options);
    if (made !== undefined) say(context, `repository ${name} created`);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.code !== 'repository_exists') throw error;
  }
}

/** Uploads definitions into a repository, one after the other. */
export async function uploadDefinitions(
  context: CliContext,
  api: ApiClient,
  repository: string,
  definitions: readonly FoundDefinition[],
  options: WriteOptions & { overwrite?: boolean },
): Promise<void> {
  for (const { name, version, files } of definitions) {
    const path = `${REPOSITORIES}/${segment(repository)}/definitions/${segment(name)}/${segment(version)}`;
    const body = { files, ...(options.overwrite ? { overwrite: true } : {}) };
    const stored = await perform<DefinitionView>(context, api, { method: 'PUT', path, body }, options);
    if (stored !== undefined) say(context, `definition ${repository}/${name}:${version} stored`);
  }
}
