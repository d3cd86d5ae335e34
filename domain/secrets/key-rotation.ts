/** The change of the key of the secrets, in the order of its steps; each may be repeated. */
export interface KeyRotation {
  /** Whether a change was begun and not ended. */
  isUnfinished(): boolean;
  /** Whether the next key is not yet the one that writes. */
  isPrepared(): boolean;
  prepare(): void;
  /** The same text under the key that is, or is to be, the one that writes; null when it is already. */
  renew(ciphertext: Buffer, context: string): Buffer | null;
  switch(): void;
  finish(): void;
}
