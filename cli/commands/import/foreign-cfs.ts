import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { CliFailure, EXIT, interrupted, usage } from '../../failure.ts';

/** Another CFS, of which nothing is believed: answers are bounded in time and size, and tried again a few times. */
export interface ForeignCfs {
  /** Base of its API, without slash and version at the end. */
  base: string;
  /** The parsed JSON of an answer. Throws a `ForeignFailure`. */
  get(path: string, query?: Record<string, string | number | boolean>): Promise<unknown>;
}

export interface ForeignCfsOptions {
  from: string;
  token: string | undefined;
  /** Certificates to trust, PEM; default: those of Node. */
  ca: string | undefined;
  signal: AbortSignal;
  /** Told when something is tried again. */
  tell(message: string): void;
}

/** What the other CFS did not answer; `status` where it answered at all. */
export class ForeignFailure extends CliFailure {
  readonly status: number | undefined;

  constructor(code: string, detail: string, exit: number, status?: number, fix?: string) {
    super(code, detail, exit, fix);
    this.status = status;
  }
}

/** Pauses between tries, s: some 15 s in all. */
const PAUSES = [0.5, 1, 2, 4, 8];
/** Longest pause that the other side can ask for, s. */
const LONGEST_PAUSE = 30;
/** Without a byte for so long, an answer is given up, ms. */
const SILENCE = 60_000;
/** A whole answer must be there after so long, ms: it may not come byte by byte for ever. */
const ANSWER_MS = 300_000;
/** Largest answer, bytes: far above a page of components. */
const ANSWER_MAX = 64 * 2 ** 20;
/** Statuses that can pass. */
const PASSING = new Set([408, 429, 502, 503, 504]);
/** Nobody is there: worth another try only where somebody was. */
const ABSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** Opens a way to the CFS at a URL (`https://host/apis/cfs`); nothing is asked yet. */
export function openForeignCfs(options: ForeignCfsOptions): ForeignCfs {
  const base = baseOf(options.from);
  let answered = false;
  return {
    base,
    get: async (path, query = {}) => {
      const url = new URL(base + path);
      for (const [name, value] of Object.entries(query)) url.searchParams.append(name, String(value));
      for (let tries = 0; ; tries += 1) {
        let failure: ForeignFailure;
        let wait = PAUSES[tries];
        try {
          const answer = await ask(url, options);
          answered = true;
          if (answer.status === 200) return parsed(url, answer.text);
          failure = refusal(url, answer);
          if (!PASSING.has(answer.status)) throw failure;
          wait &&= Math.max(wait, Math.min(LONGEST_PAUSE, Number(answer.headers['retry-after']) || 0));
        } catch (error) {
          if (options.signal.aborted) throw interrupted('interrupted; run the import again to go on');
          if (error instanceof ForeignFailure) throw error;
          failure = unreachable(url, error);
          if (!answered && ABSENT.has(codeOf(error))) throw failure;
          if (isCertificate(codeOf(error))) throw failure;
        }
        if (wait === undefined) throw failure;
        options.tell(`${failure.message}; trying again in ${wait} s`);
        await delay(wait * 1000, undefined, { signal: options.signal }).catch(() => undefined);
        if (options.signal.aborted) throw interrupted('interrupted; run the import again to go on');
      }
    },
  };
}

function baseOf(from: string): string {
  const url = URL.parse(from);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usage(`--from must be an http or https URL, not ${from}`, 'write it like https://api.example.com/apis/cfs');
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('--from must not hold a password', 'give a token by MUSTER_IMPORT_TOKEN or --from-token-file');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v[23]$/, '');
}

function ask(url: URL, { token, ca, signal }: ForeignCfsOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const secure = url.protocol === 'https:';
    const sent = (secure ? httpsRequest : httpRequest)(
      url,
      { headers, signal, timeout: SILENCE, ...(secure && ca !== undefined ? { ca } : {}) },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > ANSWER_MAX) sent.destroy(tooLarge(url));
        });
        response.on('error', reject);
        response.on('close', () => clearTimeout(late));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'no answer in time' })));
    const late = setTimeout(() => sent.destroy(tooSlow(url)), ANSWER_MS);
    sent.on('error', (error) => {
      clearTimeout(late);
      reject(error);
    });
    sent.end();
  });
}

function parsed(url: URL, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ForeignFailure('not_cfs', `${shown(url)} did not answer JSON`, EXIT.failed);
  }
}

function refusal(url: URL, { status, headers, text }: Answer): ForeignFailure {
  const said = detailOf(text);
  const detail = `${shown(url)} answered ${status}${said === '' ? '' : `: ${said}`}`;
  if (status === 401 || status === 403) {
    const fix = 'give a token by MUSTER_IMPORT_TOKEN or --from-token-file';
    return new ForeignFailure('foreign_refused', detail, EXIT.notAllowed, status, fix);
  }
  if (status >= 300 && status < 400) {
    const fix = `it points to ${String(headers.location ?? 'nowhere').slice(0, 200)}`;
    return new ForeignFailure('not_cfs', detail, EXIT.usage, status, fix);
  }
  if (status === 404) {
    const fix = 'the URL is that of the service itself, or ends in /apis/cfs at a gateway';
    return new ForeignFailure('not_cfs', detail, EXIT.notFound, status, fix);
  }
  return new ForeignFailure('foreign_failed', detail, PASSING.has(status) ? EXIT.unreachable : EXIT.failed, status);
}

function unreachable(url: URL, error: unknown): ForeignFailure {
  const code = codeOf(error);
  const fix = isCertificate(code) ? 'name its CA with --from-ca FILE' : undefined;
  return new ForeignFailure(
    'foreign_unreachable',
    `${shown(url)} does not answer (${code})`,
    EXIT.unreachable,
    undefined,
    fix,
  );
}

const tooLarge = (url: URL): ForeignFailure =>
  new ForeignFailure('foreign_failed', `${shown(url)} answers more than ${ANSWER_MAX} bytes`, EXIT.failed);

const tooSlow = (url: URL): ForeignFailure =>
  new ForeignFailure('foreign_failed', `${shown(url)} takes more than ${ANSWER_MS / 1000} s`, EXIT.failed);

/** Without its query, which may be long. */
const shown = (url: URL): string => `${url.origin}${url.pathname}`;

const isCertificate = (code: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code);

function codeOf(error: unknown): string {
  const { code, message }: { code?: unknown; message?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  return String(code ?? message ?? error);
}

/** The sentence of a problem document, bounded. */
function detailOf(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as Record<string, unknown>;
    return String(detail || title || '').slice(0, 300);
  } catch {
    return '';
  }
}
