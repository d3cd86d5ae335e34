/** Failed components whose last messages have the same signature. */
export interface FailureGroup {
  /** Id of what they have in common, for addresses. */
  failure: string;
  /** Of the newest of them; null where nothing says why. */
  message: string | null;
  count: number;
  since: Date;
  /** When the newest of them failed, its id, and its session; null where none is left. */
  latest: Date;
  host: string;
  session: { id: string; name: string } | null;
}
