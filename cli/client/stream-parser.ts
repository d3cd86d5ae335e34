/** A message of a text/event-stream (WHATWG server-sent events). */
export interface StreamMessage {
  /** Last id that was sent, also by an earlier message; empty when there was none. */
  id: string;
  event: string;
  data: string;
}

/** Splits chunks of an event stream into messages; keeps what is unfinished until the rest arrives. */
export class StreamParser {
  #rest = '';
  #id: string;
  #event = '';
  #data: string[] = [];
  /** Milliseconds the server wants a client to wait before it comes again, when it said so. */
  retry: number | undefined;

  constructor(lastId = '') {
    this.#id = lastId;
  }

  /** The messages that `chunk` completes. */
  push(chunk: string): StreamMessage[] {
    // A CR at the very end may be half of a CRLF.
    const text = this.#rest + chunk;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): StreamMessage[] {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    if (colon === 0) return [];
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^[0-9]+$/.test(value)) this.retry = Number.parseInt(value, 10);
    return [];
  }

  #finish(): StreamMessage[] {
    const message = { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') };
    const empty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return empty ? [] : [message];
  }
}
