import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { fetchJson } from './fetch-json.ts';

export interface IssuerOptions {
  /** As it stands in the tokens' `iss`, and where its discovery document is. */
  issuer: string;
  /** Where the keys are; undefined: where the discovery document says. */
  jwksUrl: string | undefined;
  /** Certificates to trust besides the public ones, PEM. */
  ca: string | undefined;
  /** For one document, ms. Default 2,500: with discovery a request waits 5 s at most for its answer. */
  timeoutMs?: number;
  /** Keys that are older are fetched again, while the old ones go on to be used, ms. Default 10 minutes. */
  maxAgeMs?: number;
  /** After a fetch none is made for so long, whatever the tokens name, ms. Default 10,000. */
  coolDownMs?: number;
  /** Milliseconds since 1970; default the clock. */
  now?: () => number;
  log?: (message: string) => void;
}

/** Public keys of an issuer. They are kept while it does not answer: whoever could log in before still can. */
export interface IssuerKeys {
  /** The keys as they are known; throws `issuer_unavailable` while none were ever fetched. */
  current(): Promise<LocalJWKSet>;
  /** Keys fetched anew because a token names one that is not known; null where that was done a moment ago. */
  renewed(): Promise<LocalJWKSet | null>;
}

export function openIssuerKeys(options: IssuerOptions): IssuerKeys {
  const { issuer, ca, timeoutMs = 2_500, maxAgeMs = 600_000, coolDownMs = 10_000, now = Date.now } = options;
  let keys: LocalJWKSet | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failure: string | null = null;
  let inFlight: Promise<void> | null = null;

  const fetchKeys = async () => {
    const read = (url: string) => fetchJson(url, { ca, timeoutMs });
    const url = options.jwksUrl ?? jwksUrlOf(await read(discoveryUrl(issuer)), issuer);
    keys = createLocalJWKSet((await read(url)) as JSONWebKeySet);
  };
  /** Never rejects; one fetch at a time, whoever asks. */
  const refresh = (): Promise<void> => {
    inFlight ??= fetchKeys()
      .then(
        () => {
          failure = null;
        },
        (error: unknown) => {
          failure = messageOf(error);
          options.log?.(`the keys of the issuer ${issuer} cannot be fetched: ${failure}`);
        },
      )
      .finally(() => {
        triedAt = now();
        inFlight = null;
      });
    return inFlight;
  };
  const isCool = () => now() - triedAt >= coolDownMs;
  const unavailable = () =>
    musterError('issuer_unavailable', `The keys of the issuer ${issuer} cannot be fetched: ${failure ?? 'unknown'}`);

  return {
    current: async () => {
      if (keys === null && (inFlight !== null || isCool())) await refresh();
      if (keys === null) throw unavailable();
      if (now() - triedAt >= maxAgeMs) void refresh();
      return keys;
    },
    renewed: async () => {
      const fetching = inFlight !== null || isCool();
      if (fetching) await refresh();
      if (failure !== null) throw unavailable();
      return fetching ? keys : null;
    },
  };
}

function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** Where a discovery document says that the keys are; it must speak for this issuer, and of a place as safe as its own. */
function jwksUrlOf(document: unknown, issuer: string): string {
  const { issuer: named, jwks_uri: url } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  if (named !== issuer) throw new Error(`its discovery document is of another issuer (${String(named).slice(0, 200)})`);
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('its discovery document names no jwks_uri');
  if (issuer.startsWith('https:') && !url.startsWith('https:'))
    throw new Error('its jwks_uri does not begin with https://');
  if (!/^https?:/.test(url)) throw new Error('its jwks_uri is no web address');
  return url;
}
