import { ERRORS, type ErrorCode, type Mistake, OTHER_MEANINGS } from '../domain/errors.ts';

/** Exit statuses of the command line; scripts may rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  timedOut: 6,
  unreachable: 7,
  interrupted: 130,
} as const;

/** An expected end of a command that is not success: printed as `error: <code>: <detail>`, never with a stack. */
export class CliFailure extends Error {
  override name = 'CliFailure';
  readonly code: string;
  readonly exit: number;
  /** What the user can do about it, where that is known. */
  readonly fix: string | undefined;
  /** Every mistake, where there are several or where their places are known. */
  readonly mistakes: readonly Partial<Mistake>[];

  constructor(code: string, detail: string, exit: number, fix?: string, mistakes: readonly Partial<Mistake>[] = []) {
    super(detail);
    this.code = code;
    this.mistakes = mistakes;
    this.exit = exit;
    this.fix = fix ?? (isCode(code) ? ERRORS[code].advice : FIXES[code]);
  }
}

/** Advice for failures of the command line itself; a code of the catalogue has its own. */
const FIXES: Record<string, string> = {
  output_not_written: 'make room and ask again; what the command has changed stays changed',
  unreachable: 'start the stack with `./muster up`, or name a running one with --url or MUSTER_URL',
  certificate_refused: 'name its CA with MUSTER_CA_FILE, and the API by a name that is in the certificate (MUSTER_URL)',
};

const isCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code);

/** Exit status for an HTTP status when the answer has no code of the catalogue (a gateway in front answered). */
function exitOfStatus(status: number): number {
  if (status === 404) return EXIT.notFound;
  if (status === 401 || status === 403) return EXIT.notAllowed;
  if (status === 409) return EXIT.conflict;
  if (status === 408 || status === 504) return EXIT.timedOut;
  if (status === 502 || status === 503) return EXIT.unreachable;
  return status >= 500 ? EXIT.failed : EXIT.usage;
}

/** What a code means in an answer with this status. */
function meaningOf(code: ErrorCode, status: number) {
  const others = Object.values(OTHER_MEANINGS).map((table) => table[code]);
  return others.find((other) => other?.status === status) ?? ERRORS[code];
}

/** CFS answers 400 to a session of a configuration that does not exist, and to a script it is what every other unknown name is. */
const UNKNOWN_CONFIGURATION = /^No configurations exist named (.+)$/s;

/** The failure that an HTTP answer means: by the problem document's `code`, else by the status. */
export function failureOfAnswer(status: number, body: unknown): CliFailure {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const detail = String(problem.detail ?? problem.title ?? `the server answered ${status}`);
  const unknown = problem.code === 'configuration_invalid' && UNKNOWN_CONFIGURATION.exec(detail)?.[1];
  if (unknown) return new CliFailure('configuration_not_found', `there is no configuration ${unknown}`, EXIT.notFound);
  const mistakes = Array.isArray(problem.errors) ? (problem.errors as Partial<Mistake>[]) : [];
  if (isCode(problem.code)) {
    const { exit, advice } = meaningOf(problem.code, status);
    return new CliFailure(problem.code, detail, exit, advice, mistakes);
  }
  return new CliFailure(`http_${status}`, detail, exitOfStatus(status));
}

/** Mistakes that are shown. */
const SHOWN = 100;

/** Returns a line for each of several mistakes, with its place and code. */
export function mistakeLines(mistakes: readonly Partial<Mistake>[]): string[] {
  if (mistakes.length < 2) return [];
  const lines = mistakes.slice(0, SHOWN).map(({ code, message, field, line, column }) => {
    const places = [line && `line ${line}`, column && `column ${column}`, line ? undefined : field].filter(Boolean);
    return `  ${[places.join(', '), code, message].filter(Boolean).join(': ')}`;
  });
  return mistakes.length > SHOWN ? [...lines, `  and ${mistakes.length - SHOWN} more`] : lines;
}

/** A mistake in the arguments or in a given file. */
export const usage = (detail: string, fix?: string): CliFailure => new CliFailure('usage', detail, EXIT.usage, fix);

/** Ctrl-C. */
export const interrupted = (detail = 'interrupted'): CliFailure =>
  new CliFailure('interrupted', detail, EXIT.interrupted);

/** Exit status a session's end means to a caller: 1 unless it succeeded. */
export const exitOfSession = (succeeded: string): number => (succeeded === 'true' ? EXIT.done : EXIT.failed);
