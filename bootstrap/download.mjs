import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { get } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { DOWNLOAD_STALL_MS } from './settings.mjs';

const MAX_REDIRECTS = 5;

/**
 * Fetches a file over HTTPS and checks its SHA-256. Gives up after 10 s without a byte; a file that does not match is
 * removed.
 * @param {string} url
 * @param {string} target
 * @param {string} sha256 hexadecimal
 * @param {(detail: string) => void} onDetail
 */
export async function download(url, target, sha256, onDetail) {
  const response = await open(url, MAX_REDIRECTS);
  const total = Number(response.headers['content-length'] ?? 0);
  const hash = createHash('sha256');
  let received = 0;
  try {
    await pipeline(
      response,
      async function* (source) {
        for await (const chunk of source) {
          received += chunk.length;
          hash.update(chunk);
          const megabytes = (received / 1e6).toFixed(0);
          onDetail(total ? `${megabytes} of ${(total / 1e6).toFixed(0)} MB` : `${megabytes} MB`);
          yield chunk;
        }
      },
      createWriteStream(target),
    );
    const found = hash.digest('hex');
    if (found !== sha256) throw new Error(`${url} has the SHA-256 ${found}, expected ${sha256}`);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

function open(url, redirectsLeft) {
  return new Promise((resolve, reject) => {
    const request = get(url, (response) => {
      const { statusCode = 0, headers } = response;
      if (statusCode >= 300 && statusCode < 400 && headers.location) {
        response.resume();
        if (redirectsLeft === 0) return reject(new Error(`${url}: too many redirects`));
        const next = new URL(headers.location, url);
        if (next.protocol !== 'https:') return reject(new Error(`${url} redirects to ${next.protocol}//`));
        return resolve(open(next.href, redirectsLeft - 1));
      }
      if (statusCode !== 200) {
        response.resume();
        return reject(new Error(`${url} answered ${statusCode}`));
      }
      return resolve(response);
    });
    request.setTimeout(DOWNLOAD_STALL_MS, () =>
      request.destroy(new Error(`${url}: no byte for ${DOWNLOAD_STALL_MS / 1000} s`)),
    );
    request.on('error', reject);
  });
}
