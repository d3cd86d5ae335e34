import { gzipSync } from 'node:zlib';
import { noteImageWorker } from '../../store/images/image-jobs.ts';
import { IMAGE_STORE, type TestApi } from '../support/stack/test-api.ts';

export const PUBLIC_KEY = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} someone@here`;

/** A tar of one small file, with a header as GNU tar writes it. */
export function smallTar(content = 'hello\n'): Buffer {
  const header = Buffer.alloc(512);
  header.write('etc/motd', 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar  \0', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(512 * Math.ceil(content.length / 512));
  body.write(content);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}

export const smallTarGz = (content?: string): Buffer => gzipSync(smallTar(content));

/** Imports an image through the API and answers its id. */
export async function importedImage(api: TestApi, name = 'base', bytes: Buffer = smallTar()): Promise<string> {
  const answer = await upload(api, `/api/v1/images?name=${encodeURIComponent(name)}`, bytes);
  if (answer.status !== 201) throw new Error(`import: ${answer.status} ${answer.text}`);
  return answer.body.id;
}

export async function upload(api: TestApi, url: string, bytes: Buffer, headers: Record<string, string> = {}) {
  const response = await api.app.inject({ method: 'POST', url, payload: bytes, headers });
  return {
    status: response.statusCode,
    text: response.body,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    body: JSON.parse(response.body || 'null') as any,
  };
}

/** Says, as a worker does, that images of the test API's directory can be worked on. */
export async function ableWorker(api: TestApi, more: { able?: boolean; reason?: string; queue?: string } = {}) {
  const { able = true, reason = '', queue = 'here' } = more;
  await noteImageWorker(api.deps.db, { store_id: IMAGE_STORE, queue, able, reason, seen_at: api.now.value });
}
