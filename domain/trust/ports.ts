/** What trust needs from outside; drivers fit these shapes. */

export interface SignRequest {
  /** Line of the key that the certificate is for. */
  publicKey: string;
  /** What hosts write into their logs. */
  keyId: string;
  /** Users that the certificate lets in. */
  principals: readonly string[];
  ttlSeconds: number;
}

/** The key pair with which sessions log in at hosts. */
export interface SessionKey {
  /** As ssh reads it, with a line end. */
  privateKey: string;
  /** Line of authorized_keys. */
  publicKey: string;
}

/** A certificate authority for ssh and the key whose public half it signs (cfs-flows 6.3). */
export interface CertificateSigner {
  /** Whether the key is one of its own, not the installation's key for ssh. */
  readonly hasOwnKey: boolean;
  /** Line of the authority's public key; one that is kept here is made when there is none. */
  authority(): Promise<string>;
  sessionKey(): Promise<SessionKey>;
  /** A certificate for users, one line. Failures are `trust_unavailable`. */
  sign(request: SignRequest): Promise<string>;
}

/** Where nodes that boot find what they must know. */
export interface BootMetadata {
  /** Puts the text there as `Global.cfs_public_key` unless it is there already; answers whether it was put. */
  publishAuthority(publicKeys: string): Promise<boolean>;
}
