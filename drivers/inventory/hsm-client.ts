import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HsmRecords } from '../../domain/components/hsm-inventory.ts';
import { musterError } from '../../domain/errors.ts';

export interface HsmOptions {
  /** Like `http://cray-smd/hsm/v2/`. */
  baseUrl: string;
  /** File with the certificates to trust instead of the platform's. */
  caFile?: string;
  /** Tries after the first one. Default 10 (cfs-flows 3.1). */
  retries?: number;
  /** Seconds; the nth retry waits factor x 2^(n-1), the first not at all, at most 120. Default 0.5. */
  backoffFactor?: number;
  /** Milliseconds without a byte after which a try counts as a failed connection. Default 30,000. */
  idleTimeoutMs?: number;
}

export interface ReadHsm {
  signal: AbortSignal;
  /** A failed query leaves its part empty, with a warning, instead of failing the inventory (option allow_partial_inventory). */
  allowPartial: boolean;
}

export type HsmClient = (request: ReadHsm) => Promise<{ records: HsmRecords; warnings: string[] }>;

const RETRIED_STATUS = new Set([500, 502, 503, 504]);

/** The queries of the hardware state manager that an inventory needs (cfs-flows 3.1); fails with `inventory_failed`. */
export function createHsmClient(options: HsmOptions): HsmClient {
  const { baseUrl, caFile, retries = 10, backoffFactor = 0.5, idleTimeoutMs = 30_000 } = options;
  return async ({ signal, allowPartial }) => {
    const warnings: string[] = [];
    const giveUp = new AbortController();
    const both = AbortSignal.any([signal, giveUp.signal]);
    const query = async <T>(path: string, read: (answer: unknown) => T[]): Promise<T[]> => {
      const url = new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
      try {
        const ca = caFile === undefined ? undefined : await readFile(caFile);
        return read(await getWithRetries(url, { ca, retries, backoffFactor, idleTimeoutMs, signal: both }));
      } catch (error) {
        signal.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        if (!allowPartial) {
          giveUp.abort();
          throw musterError('inventory_failed', `The hardware state manager did not answer ${url.href}: ${why}.`);
        }
        warnings.push(`The inventory is partial: ${url.href}: ${why}.`);
        return [];
      }
    };
    const [groups, partitions, components] = await Promise.all([
      query('groups', (answer) => list(answer).map((one) => ({ label: text(one, 'label'), members: memberIds(one) }))),
      query('partitions', (answer) =>
        list(answer).map((one) => ({ name: text(one, 'name'), members: memberIds(one) })),
      ),
      query('State/Components?type=node', (answer) =>
        list(member(answer, 'Components')).map((one) => ({
          ID: text(one, 'ID'),
          Role: optionalText(one, 'Role'),
          SubRole: optionalText(one, 'SubRole'),
        })),
      ),
    ]);
    return { records: { groups, partitions, components }, warnings };
  };
}

interface GetOptions {
  ca: Buffer | undefined;
  retries: number;
  backoffFactor: number;
  idleTimeoutMs: number;
  signal: AbortSignal;
}

class StatusError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

async function getWithRetries(url: URL, options: GetOptions): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return JSON.parse(await get(url, options));
    } catch (error) {
      options.signal.throwIfAborted();
      const isFinal =
        error instanceof SyntaxError || (error instanceof StatusError && !RETRIED_STATUS.has(error.status));
      if (isFinal || attempt >= options.retries) throw error;
    }
    const seconds = attempt === 0 ? 0 : Math.min(120, options.backoffFactor * 2 ** attempt);
    await sleep(seconds * 1000, undefined, { signal: options.signal });
  }
}

function get(url: URL, { ca, idleTimeoutMs, signal }: GetOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, { ca, signal, agent: false, headers: { accept: 'application/json' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(new StatusError(response.statusCode ?? 0));
      });
    });
    request.setTimeout(idleTimeoutMs, () => request.destroy(new Error(`nothing came for ${idleTimeoutMs / 1000} s`)));
    request.on('error', reject);
    request.end();
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('the answer is not the expected list');
  return value;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  if (typeof found !== 'string') throw new Error(`an entry of the answer has no ${name}`);
  return found;
}

function optionalText(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}

function memberIds(value: unknown): string[] {
  const ids = member(member(value, 'members'), 'ids');
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
