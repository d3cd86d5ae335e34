/** Who asks for a write, and what the write is part of. */
export interface Acting {
  /** Stored with what is written; null where nobody is known. */
  actor: string | null;
  /** Id of the work under an `Idempotency-Key`: what an earlier try of it has made is answered, not refused. */
  operation?: string | null;
  /** The trace that what is made joins, W3C's `traceparent`. */
  trace?: string | null;
}
