import { musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { askJson } from '../http/ask-json.ts';

/** For one call, ms. */
const PATIENCE = 10_000;
const HOST = 'Global';
const KEY = 'cfs_public_key';
const ABSENT = 404;

export interface BootMetadataOptions {
  /** Base address of the boot script service, such as `http://cray-bss/boot/v1`. */
  url: string;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
}

/** The boot script service, whose `Global` record nodes read as metadata (cfs-flows 6.3). Failures are `trust_unavailable`. */
export function openBootMetadata({ url, ca }: BootMetadataOptions) {
  const parameters = `${url.replace(/\/+$/, '')}/bootparameters`;
  const ask = async (method: 'GET' | 'POST' | 'PATCH', address: string, body?: unknown) => {
    let answer: { status: number; text: string };
    try {
      answer = await askJson({ method, url: address, body, ca, timeoutMs: PATIENCE });
    } catch (error) {
      throw unavailable(messageOf(error));
    }
    const { status } = answer;
    if ((status < 200 || status > 299) && !(method === 'GET' && status === ABSENT)) {
      throw unavailable(`${method} answered ${status}`);
    }
    return answer;
  };
  return {
    publishAuthority: async (publicKeys: string): Promise<boolean> => {
      const wanted = publicKeys.trim();
      const { status, text } = await ask('GET', `${parameters}?name=${HOST}`);
      const record = status === ABSENT ? undefined : firstRecord(text);
      if (publishedKey(record) === wanted) return false;
      // A change of the record leaves its other metadata as they are.
      const body = { hosts: [HOST], 'cloud-init': { 'meta-data': { [KEY]: wanted } } };
      await ask(record === undefined ? 'POST' : 'PATCH', parameters, body);
      return true;
    },
  };
}

function firstRecord(text: string): unknown {
  try {
    const records: unknown = JSON.parse(text);
    return Array.isArray(records) ? records[0] : undefined;
  } catch {
    throw unavailable('it does not answer JSON');
  }
}

function publishedKey(record: unknown): string | undefined {
  let value = record;
  for (const name of ['cloud-init', 'meta-data', KEY]) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'string' ? value.trim() : undefined;
}

function unavailable(reason: string) {
  return musterError('trust_unavailable', `The boot metadata service: ${reason}`);
}
