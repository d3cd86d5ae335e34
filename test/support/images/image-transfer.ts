/** Files of images to and from an API that is reached by its Service, without holding them in memory. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { TestNamespace } from '../kubernetes/dev-cluster.ts';

export interface ImageTransfer {
  /** Imports a file and answers the image's id. */
  upload(name: string, file: string): Promise<string>;
  download(id: string, file: string): Promise<void>;
}

/** As the first administrator of what the chart installed in a namespace. */
export async function openImageTransfer(namespace: TestNamespace): Promise<ImageTransfer> {
  const value = (kind: string, path: string) =>
    namespace.kubectl(['get', ...kind.split('/'), '--output', `jsonpath=${path}`]);
  const host = await value('service/muster', '{.spec.clusterIP}');
  const token = Buffer.from(await value('secret/muster-admin', '{.data.token}'), 'base64').toString();
  // Nothing here resolves the names of a cluster.
  const options = (method: string, path: string, more: Record<string, string> = {}): RequestOptions => ({
    ...{ host, port: 8100, method, path },
    headers: { host: 'muster', authorization: `Bearer ${token}`, ...more },
  });
  return {
    upload: async (name, file) => {
      const headers = {
        'content-type': 'application/octet-stream',
        'content-length': String((await stat(file)).size),
      };
      const outgoing = request(options('POST', `/api/v1/images?name=${encodeURIComponent(name)}`, headers));
      const answered = answerTo(outgoing);
      // A connection that breaks fails both.
      answered.catch(() => undefined);
      await pipeline(createReadStream(file), outgoing);
      return JSON.parse(await text(await answered)).id;
    },
    download: async (id, file) => {
      const outgoing = request(options('GET', `/api/v1/images/${id}/content`));
      const answered = answerTo(outgoing);
      outgoing.end();
      await pipeline(await answered, createWriteStream(file));
    },
  };
}

async function answerTo(outgoing: ReturnType<typeof request>): Promise<IncomingMessage> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
  if ((answer.statusCode ?? 0) < 300) return answer;
  throw new Error(`${outgoing.method} ${outgoing.path}: ${answer.statusCode} ${await text(answer)}`);
}
