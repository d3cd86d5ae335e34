import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** Returns a `.tar.gz` of files by their path; a header in place of a text makes another entry. */
export async function archiveOf(
  entries: readonly (readonly [path: string, content: string | Partial<Header>])[],
): Promise<Buffer> {
  const tar = pack();
  for (const [name, content] of entries) {
    if (typeof content === 'string') tar.entry({ name }, content);
    else tar.entry({ name, ...content });
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  return gzipSync(Buffer.concat(chunks));
}
