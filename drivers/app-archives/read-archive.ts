import type { ReadArchive } from '../../domain/deployments/ports.ts';
import { readManifests } from '../../domain/deployments/read-manifests.ts';
import { musterError } from '../../domain/errors.ts';
import { readDocuments } from './documents.ts';
import { unpackManifests } from './unpack.ts';

/** Reads an app's archive: a `.tar.gz` with plain YAML at any depth. */
export const readArchive: ReadArchive = async (archive) => {
  const read = readManifests(readDocuments(await unpackManifests(archive)));
  if (read.manifests.length > 0) return read;
  throw musterError('render_failed', 'The archive has no manifest in a file *.yaml or *.yml');
};
