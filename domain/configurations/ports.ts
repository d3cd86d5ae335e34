/** What lane configurations needs from outside; drivers fit these shapes, tests put fakes in their place. */

import type { Credentials } from '../secrets/credentials.ts';
import type { Source } from './schema.ts';
import type { Withheld } from './vcs-credentials.ts';

/** How a repository is reached: credentials and CA of its source, or the default ones (cfs-flows 2.7, 2.8). */
export interface RepositoryAccess {
  credentials?: { username: string; password: string } | undefined;
  /** Why credentials that there are do not go along; told when the server asks for them. */
  withheld?: Withheld | undefined;
  /** Certificates to trust besides the public ones, PEM. */
  caPem?: string | undefined;
  /** Trusts those alone: a source has its own. */
  caAlone?: boolean | undefined;
  sshKeyFile?: string | undefined;
  knownHostsFile?: string | undefined;
}

export interface RefRequest extends RepositoryAccess {
  url: string;
  /** Name of the source record, `null` for a plain clone URL. */
  sourceName: string | null;
  /** Branch, tag, or 7 to 40 digits of a commit id. */
  ref: string;
  signal: AbortSignal;
}

/** Asks a remote for the full commit id that `ref` means; refusals are MusterErrors. */
export interface GitReferences {
  resolveRef(request: RefRequest): Promise<string>;
}

/**
 * Credentials and CA for an address: those of the source where it is the source's own server, else the common ones where the host is
 * named. `source` is `null` for a layer with a plain clone URL.
 */
export type ReadRepositoryAccess = (source: Source | null, url: string) => Promise<RepositoryAccess>;

/** Knows which tenants there are. */
export interface TenantRegistry {
  /**
   * Whether there is a tenant of this name; `tenant_registry_unavailable` when the registry does not tell in time,
   * `invalid_tenant` when this installation has none.
   */
  hasTenant(name: string): Promise<boolean>;
}

/** Tells the queue of sessions that there may be room now. */
export interface QueuePoker {
  pokeQueue(): Promise<void>;
}

/** The common credentials, and the hosts that they may go to as `host` or `host:port`. */
export interface CommonCredentials extends Credentials {
  hosts: string[];
}
