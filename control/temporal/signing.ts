/** With what a process signs what goes through Temporal, and from when on it refuses what is not signed. */
export interface Signing {
  key(): Buffer;
  /** Null: what has no MAC counts still. */
  requiredSince(): Date | null;
}

export interface SigningLog {
  warn(fields: object, message: string): void;
}
