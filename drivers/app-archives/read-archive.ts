import { ARCHIVE_LIMITS } from '../../domain/deployments/archive-rules.ts';
import type { ReadArchive } from '../../domain/deployments/ports.ts';
import { readManifests } from '../../domain/deployments/read-manifests.ts';
import { musterError } from '../../domain/errors.ts';
import { readDocuments } from './documents.ts';
import { unpackManifests } from './unpack.ts';

/** Reads an app's archive: a `.tar.gz` with plain YAML at any depth. */
export const readArchive: ReadArchive = async (archive, mostBytes = ARCHIVE_LIMITS.unpackedBytes) => {
  const { files, bytes } = await unpackManifests(archive, mostBytes);
  const read = readManifests(readDocuments(files));
  if (read.manifests.length > 0) return { ...read, bytes };
  throw musterError('render_failed', 'The archive has no manifest in a file *.yaml or *.yml');
};
