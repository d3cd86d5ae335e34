/** Something the user has to change before Muster can start; printed without a stack, exit status 2 unless said. */
export class SetupError extends Error {
  constructor(message, exit = 2) {
    super(message);
    this.name = 'SetupError';
    this.exit = exit;
  }
}
