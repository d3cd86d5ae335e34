import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** The last one that was made. A process has one platform's CA, so it parses the public certificates, some 150, once. */
let kept: { ca: string; secureContext: SecureContext } | undefined;

/**
 * TLS options of a connection that trusts the certificates in `ca` (PEM) besides the public ones, which Node brings along or
 * its settings add. Without any it trusts the public ones, as Node does by itself.
 */
export function trusting(ca: string | undefined): { secureContext?: SecureContext } {
  if (ca === undefined || ca === '') return {};
  if (kept?.ca !== ca) kept = { ca, secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) };
  return { secureContext: kept.secureContext };
}
