/** An image service of the site, over HTTP (cfs-flows 7). */
import { readFile } from 'node:fs/promises';
import { musterError } from '../../domain/errors.ts';
import type { ImageJob, ImageService } from '../../domain/images/image-service.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { askJson } from '../http/ask-json.ts';
import { readImage, readJob, readJobs, readKey, readKeys, reasonOf } from './read-answer.ts';

/** For one request, ms. */
const PATIENCE = 20_000;
/** Largest answer that is read, bytes: a list of many thousand jobs. */
const ANSWER_MAX = 64 * 1024 * 1024;
const ABSENT = 404;
/** Refusals that pass by themselves: too slow, too early, too many. */
const PASSING: readonly number[] = [408, 425, 429];

export interface HttpImageServiceOptions {
  /** Base of its paths, without a slash at the end. */
  url: string;
  token?: string | undefined;
  /** File with the token; read for each request. */
  tokenFile?: string | undefined;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
  /** For one request, ms. Default 20 s. */
  timeoutMs?: number;
}

interface Ask {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
  /** Statuses of refusal that the caller expects: answered as null. */
  expected?: readonly number[];
  signal: AbortSignal;
}

export function createHttpImageService(options: HttpImageServiceOptions): ImageService {
  const { url, token, tokenFile, ca, timeoutMs = PATIENCE } = options;

  /** The answer's value, read by `read`; null for a refusal that is expected. */
  const ask = async <T>(request: Ask, read: (value: unknown) => T): Promise<T | null> => {
    const { method, path, body, expected = [], signal } = request;
    const what = `${method} ${path} of the image service (MUSTER_IMS_URL)`;
    let answer: { status: number; text: string };
    try {
      const bearer = tokenFile === undefined ? token : (await readFile(tokenFile, 'utf8')).trim();
      answer = await askJson({
        method,
        url: `${url}${path}`,
        ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }),
        body,
        ca,
        timeoutMs,
        answerMax: ANSWER_MAX,
        signal,
      });
    } catch (error) {
      throw unavailable(what, error);
    }
    const { status, text } = answer;
    if (status >= 200 && status < 300) {
      try {
        return read(text === '' ? null : JSON.parse(text));
      } catch (error) {
        throw unavailable(what, error);
      }
    }
    if (expected.includes(status)) return null;
    const refused = status >= 400 && status < 500 && !PASSING.includes(status);
    const code = refused ? 'image_service_refused' : 'image_service_unavailable';
    throw musterError(code, `${what} was answered ${status}: ${reasonOf(text)}`);
  };

  /** A request whose answer must hold something. */
  const must = async <T>(request: Ask, read: (value: unknown) => T): Promise<T> => {
    const value = await ask(request, read);
    if (value === null) throw new Error(`${request.method} ${request.path}: an expected refusal is not a value`);
    return value;
  };

  const ignore = () => undefined;

  return {
    async getImage(id, signal) {
      const image = await ask({ method: 'GET', path: `/images/${segment(id)}`, expected: [ABSENT], signal }, readImage);
      if (image === null) throw musterError('image_unknown', `The image service has no image ${id}`);
      return image;
    },
    async createPublicKey(name, publicKey, signal) {
      const body = { name, public_key: publicKey };
      return (await must({ method: 'POST', path: '/public-keys', body, signal }, readKey)).id;
    },
    async findPublicKeys(name, signal) {
      // A service that lists no keys says that there is no such page, or no such method.
      const request: Ask = { method: 'GET', path: '/public-keys', expected: [ABSENT, 405], signal };
      return ((await ask(request, readKeys)) ?? []).filter((key) => key.name === name);
    },
    async deletePublicKey(id, signal) {
      await ask({ method: 'DELETE', path: `/public-keys/${segment(id)}`, expected: [ABSENT], signal }, ignore);
    },
    createJob(job, signal): Promise<ImageJob> {
      const body = {
        job_type: 'customize',
        image_root_archive_name: job.resultName,
        artifact_id: job.imageId,
        public_key_id: job.publicKeyId,
        ssh_containers: [{ name: job.shellName, jail: true }],
        ...(job.requireDkms ? { require_dkms: true } : {}),
      };
      return must({ method: 'POST', path: '/jobs', body, signal }, readJob);
    },
    getJob: (id, signal) => ask({ method: 'GET', path: `/jobs/${segment(id)}`, expected: [ABSENT], signal }, readJob),
    listJobs: (signal) => must({ method: 'GET', path: '/jobs', signal }, readJobs),
    async deleteJob(id, signal) {
      await ask({ method: 'DELETE', path: `/jobs/${segment(id)}`, expected: [ABSENT], signal }, ignore);
    },
  };
}

const segment = encodeURIComponent;

function unavailable(what: string, error: unknown): Error {
  return musterError('image_service_unavailable', `${what}: ${messageOf(error)}`);
}
