/** A start or stop that cannot be done as things are; the message says what to change, `exit` is the exit status. */
export class StackError extends Error {
  override name = 'StackError';
  readonly exit: number;

  /** @param exit 2: settings or machine (default), 5: something runs already, 1: it started and failed */
  constructor(message: string, exit = 2) {
    super(message);
    this.exit = exit;
  }
}

/** The error of a start that a signal ended; nothing runs then. */
export function startInterrupted(): StackError {
  return new StackError('The start was interrupted.', 130);
}
