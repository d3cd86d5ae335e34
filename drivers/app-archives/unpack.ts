/** Unpacks an app's archive in memory: nothing of it touches a file system. */
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { ARCHIVE_LIMITS, archiveCheck, checkNoChart, isManifestFile } from '../../domain/deployments/archive-rules.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';

const inflate = promisify(gunzip);
/** Headers and fill-up of the entries, bytes. */
const OVERHEAD = ARCHIVE_LIMITS.entries * 2_048;

export interface ManifestFile {
  path: string;
  bytes: Buffer;
}

/** Returns the files with manifests of a `.tar.gz`, in its order, and the size of all its files. Throws `render_failed`. */
export async function unpackManifests(
  archive: Uint8Array,
  mostBytes: number,
): Promise<{ files: ManifestFile[]; bytes: number }> {
  if (archive.byteLength > ARCHIVE_LIMITS.packedBytes) {
    throw musterError('render_failed', `The archive is larger than ${ARCHIVE_LIMITS.packedBytes} bytes`);
  }
  const tar = await inflate(archive, { maxOutputLength: ARCHIVE_LIMITS.unpackedBytes + OVERHEAD }).catch((error) => {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const why = isLarge ? `it is larger than ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked` : 'it is no .tar.gz';
    throw musterError('render_failed', `The archive is refused: ${why}`);
  });
  const check = archiveCheck(mostBytes);
  const files: ManifestFile[] = [];
  const paths: string[] = [];
  let bytes = 0;
  try {
    for await (const entry of Readable.from([tar]).pipe(extract())) {
      const { name, type, size } = entry.header;
      check({ path: name, type: type ?? 'file', size: size ?? 0 });
      paths.push(name);
      bytes += size ?? 0;
      if (type === 'directory' || !isManifestFile(name)) entry.resume();
      else files.push({ path: name, bytes: await bytesOf(entry) });
    }
  } catch (error) {
    if (isMusterError(error)) throw error;
    throw musterError('render_failed', 'The archive is refused: its tar cannot be read');
  }
  checkNoChart(paths);
  return { files, bytes };
}

async function bytesOf(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
