/** What the HTTP API is made of; the composition root and tests put it together. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { AuthenticateDependencies } from '../control/access/authenticate.ts';
import type { GitReferences, ReadRepositoryAccess, TenantRegistry } from '../control/configurations/ports.ts';
import type { ImageEngine, ImageSettings } from '../control/images/ports.ts';
import type { RunEngine } from '../control/runs/end-run.ts';
import type { ScheduleEngine } from '../control/schedules/schedule-port.ts';
import type { Dispatcher, SessionEngine } from '../control/sessions/engine-port.ts';
import type { AddressSeal } from '../control/webhooks/address-seal.ts';
import type { ImageFiles } from '../domain/images/image-files.ts';
import type { SecretStore, SecretUsers } from '../domain/secrets/ports.ts';
import type { WorkersAtWork } from '../domain/sessions/workers-at-work.ts';
import type { Db } from '../store/connection/database.ts';
import type { StreamFeed } from '../store/runs/stream-feed.ts';

/** Who is let in. `none`: everybody; a gateway in front may name who asks in a header. */
export type AccessSettings =
  | { mode: 'none'; actorHeader: string | undefined }
  | {
      mode: 'token';
      issuer: AuthenticateDependencies['issuer'];
      /** How often the token of a lasting answer is looked at again, ms. Default 5,000. */
      lookAgainMs?: number;
    };

/** Certificate chain and key of this server, PEM. */
export interface TlsPair {
  cert: string;
  key: string;
}

/** Health of a part; `reason` says what is wrong when it is not ok. */
export interface EngineHealth {
  ok: boolean;
  reason: string | null;
}

/** Spans of requests. */
export interface RequestTracing {
  /** Begins one; `parent` is the `traceparent` that came with the request. `trace` is what later work joins. */
  beginRequest(method: string, parent: string | undefined): { trace: string; end(route: string, status: number): void };
}

export interface ApiDependencies {
  db: Db;
  git: GitReferences;
  repositoryAccess: ReadRepositoryAccess;
  secrets: SecretStore;
  /** Text of an Ansible configuration by its name; throws `config_missing`. */
  ansibleConfig(name: string): Promise<string>;
  /** Encrypts addresses of webhooks. */
  addressSeal: AddressSeal;
  secretUsers: SecretUsers;
  /** Makes a new key of the secrets and answers how many values it has encrypted. */
  changeSecretKey(): Promise<number>;
  tenants: TenantRegistry;
  engine: SessionEngine;
  dispatcher: Dispatcher;
  /** The ends of single runs in the engine. */
  runEngine: RunEngine;
  /** Image jobs in the engine. */
  imageEngine: ImageEngine;
  /** The directory of images; null where this process has none. */
  imageFiles: ImageFiles | null;
  imageSettings: ImageSettings;
  /** The user's schedules in the engine. */
  schedules: ScheduleEngine;
  /** Never rejects; answers in about 3 s at most. */
  engineHealth(): Promise<EngineHealth>;
  /** The workers that take up work; rejects when the engine does not say so in about 3 s. */
  readWorkers(): Promise<WorkersAtWork>;
  /** Whether database and site are in the shape that this process needs, and why not. */
  setup(): EngineHealth;
  log: FastifyBaseLogger;
  /** Now; tests set it. */
  clock(): Date;
  /** Path prefixes of the CFS routes; default of the environment: '' and '/apis/cfs'. */
  prefixes: readonly string[];
  /** Host names (without port) that are answered besides loopback names and the address a request came in by. */
  allowedHosts: readonly string[];
  access: AccessSettings;
  /** What the listener speaks TLS with; undefined: plain HTTP. */
  tls: TlsPair | undefined;
  /** Largest request body, bytes. */
  maxBody: number;
  /** Quick requests that are worked on at once; the limits of the other kinds follow from it. */
  maxRequests: number;
  /** A client that sends or takes nothing for so long, in the middle of a body or of an answer, is given up, ms. */
  stallMs: number;
  /** A body that is held must be there after this time, ms, however it comes. */
  bodyMs: number;
  /** Base of this API for links, without slash at the end. */
  publicUrl: string;
  /** Base of links to ARA, without slash at the end; `undefined`: links lead to the API's own pages. */
  araUrl: string | undefined;
  /** Where Temporal's web UI is that `/temporal/` hands on; undefined: none is. */
  temporalUiUpstream: string | undefined;
  /** Base of links to Temporal's web UI, without slash at the end. */
  temporalUiUrl: string | undefined;
  /** Temporal's namespace, for those links. */
  temporalNamespace: string;
  /** Says when a live stream has something new. */
  streams: StreamFeed;
  /** Traces requests; undefined: tracing is off. */
  tracing: RequestTracing | undefined;
  /** Version of Muster itself. */
  version: string;
}

/**
 * The server as route files see it. A route plugin is `async (app: ApiServer, deps: ApiDependencies) => void`. Paths are
 * `/v3/...` in CFS plugins (the app adds the prefixes) and without `/api/v1` in Muster's own (the app adds it).
 *
 * Schemas: `params`, `querystring` (plain `z.boolean()`, `z.int()`, enumerations, strings: the app converts the text, the
 * last of a repeated parameter wins, unknown ones are dropped) and `body`. A route with `body` demands JSON (415, 400); one
 * without ignores whatever body comes, unless it asks for it with `readJsonBody(request)` of `json-body.ts`. Handlers throw
 * MusterErrors; the app makes problem documents of them. `response` schemas only document: answers are sent as they are.
 */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
