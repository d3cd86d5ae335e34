import type { Environment } from '../../config/environment.ts';
import type { ApiSettings, TlsPair } from './api-shared.ts';

/** Longest pause of a client in the middle of a body or of an answer, ms. */
const STALL_MS = 30_000;
/** A body that is held must be there after this time, ms: the largest list over a slow line. */
const BODY_MS = 300_000;

/** What the environment decides of the server and of links. */
export function apiSettings(env: Environment, tls: TlsPair | undefined, version: string): ApiSettings {
  const host = env.MUSTER_API_HOST.includes(':') ? `[${env.MUSTER_API_HOST}]` : env.MUSTER_API_HOST;
  const publicUrl = env.MUSTER_PUBLIC_URL ?? `${tls === undefined ? 'http' : 'https'}://${host}:${env.MUSTER_API_PORT}`;
  const ownUi = env.MUSTER_TEMPORAL_UI_UPSTREAM === undefined ? undefined : `${publicUrl}/temporal`;
  return {
    prefixes: env.MUSTER_API_PREFIXES,
    allowedHosts: [
      ...env.MUSTER_ALLOWED_HOSTS,
      ...(env.MUSTER_PUBLIC_URL === undefined ? [] : [new URL(env.MUSTER_PUBLIC_URL).hostname]),
    ],
    tls,
    maxBody: env.MUSTER_MAX_BODY,
    maxRequests: env.MUSTER_MAX_REQUESTS,
    stallMs: STALL_MS,
    bodyMs: BODY_MS,
    publicUrl,
    araUrl: env.MUSTER_ARA_URL,
    temporalUiUpstream: env.MUSTER_TEMPORAL_UI_UPSTREAM,
    temporalUiUrl: env.MUSTER_TEMPORAL_UI_URL ?? ownUi,
    temporalNamespace: env.MUSTER_TEMPORAL_NAMESPACE,
    imageSettings: { maxBytes: env.MUSTER_IMAGE_MAX, keepFree: env.MUSTER_MIN_FREE, dkms: env.MUSTER_IMAGE_DKMS },
    runner: env.MUSTER_RUNNER,
    repositorySchemes: env.MUSTER_REPOSITORY_SCHEMES,
    allowsLocal: env.MUSTER_ALLOW_LOCAL_CONNECTION,
    eventPolicy: env.MUSTER_CONNECTION_EVENTS,
    version,
    dataDir: env.MUSTER_DATA_DIR,
    deployments: { staleAfterMs: env.MUSTER_DEPLOY_STALE_AFTER_SECONDS * 1000 },
  };
}
