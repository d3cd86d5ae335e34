/** What all lanes of the API stand on, and what a lane brings; the composition root and tests put it together. */
import type { Client } from '@temporalio/client';
import type { FastifyBaseLogger } from 'fastify';
import type { AuthenticateDependencies } from '../../control/access/authenticate.ts';
import type { SourceUser } from '../../control/configurations/delete-source.ts';
import type { ImageSettings } from '../../control/images/ports.ts';
import type { ScheduleEngine } from '../../control/schedules/schedule-port.ts';
import type { SecretKey } from '../../control/secrets/secret-key.ts';
import type { Dispatcher, SessionEngine } from '../../control/sessions/engine-port.ts';
import type { Tell } from '../../control/temporal/tell.ts';
import type { AddressCipher } from '../../control/webhooks/address-seal.ts';
import type { GitReferences, ReadRepositoryAccess, TenantRegistry } from '../../domain/configurations/ports.ts';
import type { PackManifests, ReadArchive, ReadKubeconfig } from '../../domain/deployments/ports.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { LaneStop } from '../../domain/lane-stop.ts';
import type { EventPolicy } from '../../domain/propagation/default-events.ts';
import type { ReadYaml } from '../../domain/propagation/ports.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { EngineQueue, WorkersAtWork } from '../../domain/sessions/workers-at-work.ts';
import type { TimelinePart } from '../../store/components/timeline.ts';
import type { Db } from '../../store/connection/database.ts';
import type { StreamFeed } from '../../store/runs/stream-feed.ts';
import type { ApiServer } from '../server/api-server.ts';
import type { OpenTopic } from '../server/streaming/topic-watches.ts';

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

/** What the settings decide of the server and of links. */
export interface ApiSettings {
  /** Path prefixes of the CFS routes; default of the environment: '' and '/apis/cfs'. */
  prefixes: readonly string[];
  /** Host names (without port) that are answered besides loopback names and the address a request came in by. */
  allowedHosts: readonly string[];
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
  /** Folder of what lasts, whose free disk is measured. */
  dataDir: string;
  imageSettings: ImageSettings;
  /** What executes the work of users on this installation, unless they say otherwise. */
  runner: RunnerKind;
  /** Schemes that the addresses of repositories may have. */
  repositorySchemes: readonly string[];
  /** Whether work of users may be done on the machine of a worker itself. */
  allowsLocal: boolean;
  /** Which events a connection makes that does not say so itself. */
  eventPolicy: EventPolicy;
  /** Version of Muster itself. */
  version: string;
  deployments: {
    /** A member cluster that has not answered for so long is unreachable, ms. */
    staleAfterMs: number;
  };
}

/** The site's named values. */
export interface ApiSite {
  secrets: SecretStore;
  /** The key of the secrets; null where a cluster keeps them. */
  cipher: (SecretKey & AddressCipher) | null;
  repositoryAccess: ReadRepositoryAccess;
  /** Text of an Ansible configuration by its name; throws `config_missing`. */
  ansibleConfig(name: string): Promise<string>;
}

/** Temporal: its client, its health, and what several lanes tell it. */
export interface ApiTemporal {
  client: Client;
  /** Never rejects; answers in about 3 s at most. */
  health(): Promise<EngineHealth>;
  /** The workers that take up work; rejects when Temporal does not say so in about 3 s. */
  workers(): Promise<WorkersAtWork>;
  /** The queues that any worker takes from; rejects when Temporal does not say so in about 3 s. */
  queues(): Promise<EngineQueue[]>;
  sessions: SessionEngine;
  dispatcher: Dispatcher;
  /** Tells Temporal of records that are committed. */
  tell: Tell;
  /** The user's schedules. */
  schedules: ScheduleEngine;
}

export interface ApiShared {
  db: Db;
  log: FastifyBaseLogger;
  /** Now; tests set it. */
  clock(): Date;
  settings: ApiSettings;
  access: AccessSettings;
  site: ApiSite;
  temporal: ApiTemporal;
  git: GitReferences;
  tenants: TenantRegistry;
  /** Reads and checks kubeconfigs of member clusters; no connection is opened. */
  readKubeconfig: ReadKubeconfig;
  /** Reads and checks archives of apps. */
  readArchive: ReadArchive;
  /** Packs manifests as the archive of an app. */
  packManifests: PackManifests;
  /** Reads the YAML of uploaded definitions. */
  readYaml: ReadYaml;
  /** Says when a live stream has something new. */
  streams: StreamFeed;
  /** The directory of images as it is now; null where this process has none. */
  imageFiles(): ImageFiles | null;
  /** The folder of the built web UI; null while there is none. */
  webFiles(): string | null;
  /** Whether database and site are in the shape that this process needs, and why not. */
  setup(): EngineHealth;
  /** Traces requests; undefined: tracing is off. */
  tracing: RequestTracing | undefined;
}

/** Declares routes in the scope that it is given. */
export type Routes = (scope: ApiServer) => void | Promise<void>;

/** What a lane brings to the API: its routes by surface. */
export interface ApiParts {
  /** Routes of CFS, below each of its prefixes; paths begin with the version. */
  v3?: Routes;
  v2?: Routes;
  /** Routes of the image service. */
  ims?: Routes;
  /** Placement of applications, with EMCO's paths; they begin with the version. */
  placement?: Routes;
  /** Muster's own routes below `/api/v1`, by a word for each group: `MUSTER_ORDER` of app.ts knows it, or it comes last. */
  muster?: Readonly<Record<string, Routes>>;
  /** What is below no prefix and in no document. */
  root?: Routes;
  /** What the documents say of a tag of its routes. */
  tags?: Readonly<Record<string, string>>;
  /** Entries that it keeps of components, for their timelines. */
  timeline?: TimelinePart;
  /** How it rests when everything is to be stopped, and goes on. */
  stop?: LaneStop;
  /** What it has that names a source: such a source is not deleted. */
  sourceUser?: SourceUser;
  /** What readers of `GET /stream` may be told of, by the word of the topic. */
  topics?: Readonly<Record<string, OpenTopic>>;
}

/** What lanes offer to other lanes; complete when routes are declared. */
export interface Offered {
  timeline: readonly TimelinePart[];
  stops: readonly LaneStop[];
  sourceUsers: readonly SourceUser[];
  /** Makes this API once more, on other things to stand on. */
  again(shared: ApiShared): ApiServer;
  topics: Readonly<Record<string, OpenTopic>>;
  /** Names of all lanes. */
  lanes: readonly string[];
}

export type ApiLane = (shared: ApiShared, offered: Offered) => ApiParts;
