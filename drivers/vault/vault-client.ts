import { readFile } from 'node:fs/promises';
import { messageOf } from '../../domain/text/message-of.ts';
import { askJson, type JsonRequest } from '../http/ask-json.ts';

/** For one call, ms. */
const PATIENCE = 5_000;

export interface VaultOptions {
  /** Base address of Vault. */
  url: string;
  /** File with the service account's token. Read for each login: Kubernetes renews it. */
  jwtFile: string;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
}

/** Calls of Vault's HTTP API. Whatever goes wrong is thrown as `failure` makes it of a sentence that holds nothing of what was sent. */
export function openVault({ url, jwtFile, ca }: VaultOptions, failure: (detail: string) => Error) {
  const base = url.replace(/\/+$/, '');
  const wrong = (path: string, reason: string) => failure(`Vault, ${path}: ${reason}`);

  /** The text of a good answer to one call. */
  const ask = async (request: Pick<JsonRequest, 'method' | 'body'> & { path: string; token?: string }) => {
    const { method, path, body } = request;
    const headers: Record<string, string> = request.token === undefined ? {} : { 'x-vault-token': request.token };
    let answer: { status: number; text: string };
    try {
      answer = await askJson({ method, url: `${base}/v1/${path}`, body, ca, headers, timeoutMs: PATIENCE });
    } catch (error) {
      throw wrong(path, messageOf(error));
    }
    if (answer.status < 200 || answer.status > 299) {
      throw wrong(path, `it answered ${answer.status}${errorsOf(answer.text)}`);
    }
    return answer.text;
  };

  /** The word at a place of the JSON that a call of `path` has answered. */
  const wordAt = (text: string, path: string, ...names: string[]): string => {
    const found = valueAt(text, ...names);
    if (typeof found !== 'string' || found === '') throw wrong(path, `its answer has no ${names.join('.')}`);
    return found;
  };

  return {
    ask,
    wordAt,
    wrong,
    /** A token for what the role may do, for which the service account's own token is shown. */
    login: async (role: string): Promise<string> => {
      const path = 'auth/kubernetes/login';
      const jwt = await readFile(jwtFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw wrong(path, `the token of the service account cannot be read: ${jwtFile}: ${error.code}`);
      });
      const text = await ask({ method: 'POST', path, body: { role, jwt: jwt.trim() } });
      return wordAt(text, path, 'auth', 'client_token');
    },
  };
}

/** The value at a place of a JSON text; undefined where there is none. */
export function valueAt(text: string, ...names: string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** What Vault says is wrong. */
function errorsOf(text: string): string {
  const errors = valueAt(text, 'errors');
  return Array.isArray(errors) && errors.length > 0 ? `: ${errors.map(String).join(', ').slice(0, 300)}` : '';
}
