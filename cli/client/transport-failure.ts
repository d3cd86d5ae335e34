/** What an exchange without an answer means, and whether the API may have done what it was asked all the same. */
import { CliFailure, EXIT, usage } from '../failure.ts';

/** Seconds until an answer must be there; a branch resolution may take 30 s on the server (cfs-api 15.15). */
export const ANSWER_TIMEOUT = 60;

/** An exchange that ended without an answer. */
class NoAnswer extends CliFailure {
  /** Whether the request may have reached the API. */
  readonly sent: boolean;

  constructor(code: string, detail: string, exit: number, sent: boolean) {
    super(code, detail, exit);
    this.sent = sent;
  }
}

/** What is looked at of an error that `fetch` threw. */
interface Thrown {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  cause?: Thrown;
  syscall?: unknown;
  /** One for each address that was tried. */
  errors?: unknown;
}

/** The failure that an error of `fetch` means: no answer in time, or nobody there. Says the system's reason. */
export function transportFailure(base: string, error: unknown): CliFailure {
  const { name, code, message, cause }: Thrown = typeof error === 'object' && error !== null ? error : {};
  if (name === 'TimeoutError') {
    return new NoAnswer('timed_out', `${base} did not answer within ${ANSWER_TIMEOUT} s`, EXIT.timedOut, true);
  }
  if (code === 'ERR_INVALID_URL' || cause?.code === 'ERR_INVALID_URL') {
    return usage(`${base} is not a URL`, 'write it like http://127.0.0.1:8100');
  }
  const reason = String(cause?.code ?? cause?.message ?? message ?? error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(reason)) {
    const detail = `the certificate of ${base} is not trusted (${reason})`;
    return new NoAnswer('certificate_refused', detail, EXIT.unreachable, false);
  }
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER' || /WRONG_VERSION_NUMBER|wrong version number/.test(reason)) {
    const plain = base.replace(/^https:/, 'http:');
    const fix = `write http://: \`--url ${plain}\` or MUSTER_URL=${plain}`;
    return new CliFailure('unreachable', `${base} answers plain HTTP`, EXIT.unreachable, fix);
  }
  const detail = `${base} does not answer (${reason})`;
  return new NoAnswer('unreachable', detail, EXIT.unreachable, wasConnected(cause ?? {}));
}

/** Whether it failed on a connection. Without a code `fetch` itself refused it, as a port that it takes for no web server's. */
function wasConnected({ code, syscall, errors }: Thrown): boolean {
  if (syscall === 'connect' || syscall === 'getaddrinfo' || errors !== undefined) return false;
  return code !== undefined && code !== 'UND_ERR_CONNECT_TIMEOUT';
}

/** Answers without which the request may have been done: those of a gateway in between, and of a statement that was broken off. */
const OPEN_ANSWERS = ['http_502', 'http_504', 'storage_unavailable'];

/** Whether what was asked for may have been done although the request failed: nobody can say. */
export const mayBeDone = (failure: CliFailure): boolean =>
  failure instanceof NoAnswer ? failure.sent : OPEN_ANSWERS.includes(failure.code);
