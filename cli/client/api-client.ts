import { REASON_HEADER } from '../../domain/reason.ts';
import { CliFailure, EXIT, failureOfAnswer, interrupted } from '../failure.ts';
import { ANSWER_TIMEOUT, transportFailure } from './transport-failure.ts';

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query;
  body?: unknown;
}

/** Path segment of a record's name; source names contain slashes and are encoded twice (cfs-api 12). */
export const segment = (name: string): string => encodeURIComponent(name);
export const sourceSegment = (name: string): string => encodeURIComponent(encodeURIComponent(name));

/** HTTP client of one Muster API. Every refusal comes back as a `CliFailure` with its exit status. */
export class ApiClient {
  readonly #base: string;
  readonly #signal: AbortSignal;
  readonly #tokenFor: (url: string) => Promise<string | undefined>;
  readonly #warn: (text: string) => void;
  readonly #reason: string | undefined;
  readonly #refusal: (request: ApiRequest) => CliFailure | undefined;

  /**
   * @param tokenFor the token to send to this API; asked for each request, so that a renewed one is taken up
   * @param warn takes what the API warns of in an answer to a request that it has taken
   * @param reason why it writes, for the audit
   * @param refusal why a request is not sent at all; undefined where it may be
   */
  constructor(
    base: string,
    signal: AbortSignal,
    tokenFor: (url: string) => Promise<string | undefined>,
    warn: (text: string) => void = () => undefined,
    reason?: string,
    refusal: (request: ApiRequest) => CliFailure | undefined = () => undefined,
  ) {
    this.#base = base.replace(/\/+$/, '');
    this.#signal = signal;
    this.#tokenFor = tokenFor;
    this.#warn = warn;
    this.#reason = reason;
    this.#refusal = refusal;
  }

  /** Full URL of a request; null and undefined members of the query are left out. */
  url(path: string, query: Query = {}): string {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) words.append(name, String(value));
    }
    return `${this.#base}${path}${words.size > 0 ? `?${words}` : ''}`;
  }

  /** Sends the request and answers the parsed JSON body; undefined for an empty one. `signal` ends this one request. */
  async json<T>(request: ApiRequest, signal?: AbortSignal): Promise<T> {
    const response = await this.open(request, { timeout: ANSWER_TIMEOUT, ...(signal ? { signal } : {}) });
    const text = await this.#reading(response.text());
    if (text === '') return undefined as T;
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new CliFailure('not_muster', `${this.url(request.path)} did not answer JSON`, EXIT.unreachable);
    }
  }

  /**
   * Sends the request and answers the open response, whose status is a success. `timeout` in seconds; without one the
   * body may last for ever. `signal` ends this one request. `stream` is sent as body while it is read.
   */
  async open(
    request: ApiRequest,
    options: { headers?: Record<string, string>; timeout?: number; signal?: AbortSignal; stream?: ReadableStream } = {},
  ): Promise<Response> {
    const refused = this.#refusal(request);
    if (refused !== undefined) throw refused;
    const signals = [this.#signal, options.signal, options.timeout && AbortSignal.timeout(options.timeout * 1000)];
    const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    if (request.method !== 'GET' && this.#reason)
      headers[REASON_HEADER] = encodeURIComponent(this.#reason.toWellFormed());
    const token = await this.#tokenFor(this.#base);
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const response = await this.#reading(
      fetch(this.url(request.path, request.query), {
        method: request.method,
        headers,
        // The token goes to the API that was named and nowhere else.
        redirect: 'error',
        signal: AbortSignal.any(signals.filter((signal) => signal instanceof AbortSignal)),
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        ...(options.stream === undefined ? {} : { body: options.stream, duplex: 'half' as const }),
      }),
    );
    if (response.ok) {
      for (const [, text = ''] of (response.headers.get('warning') ?? '').matchAll(/299 muster "([^"]*)"/g))
        this.#warn(text);
      return response;
    }
    const text = await this.#reading(response.text());
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    throw failureOfAnswer(response.status, body);
  }

  async #reading<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (this.#signal.aborted) throw interrupted();
      throw transportFailure(this.#base, error);
    }
  }
}
