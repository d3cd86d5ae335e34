/** What the workflow of trust asks of its activities. */

export interface TrustActivities {
  /** Renews what is due of authority, certificate and what is published; answers what is now. */
  renewTrust(): Promise<TrustRenewal>;
}

export interface TrustRenewal {
  /** End of the certificate (ISO 8601), null for one without end. */
  validBefore: string | null;
  /** Whether the boot metadata were changed. */
  published: boolean;
}
