import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { PackManifests } from '../../domain/deployments/ports.ts';

const deflate = promisify(gzip);
/** The archive of the same text is the same archive. */
const NO_TIME = new Date(0);

/** Packs manifests as the archive of an app. */
export const packManifests: PackManifests = async (manifests) => {
  const tar = pack();
  tar.entry({ name: 'manifests.yaml', mtime: NO_TIME }, manifests);
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return await deflate(Buffer.concat(chunks));
};
