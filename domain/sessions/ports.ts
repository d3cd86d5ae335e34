/** What the session's activities need from outside; drivers fit these shapes. */

import type { InventoryNames, LimitHosts } from '../components/inventory/inventory-tree.ts';
import type { CommonCredentials, RepositoryAccess } from '../configurations/ports.ts';
import type { InventoryScope, Source } from '../configurations/schema.ts';
import type { Runner } from '../runs/runner.ts';
import type { ImageLogin, OpenSessionImage } from './images/image-inventory.ts';
import type { TargetDefinition } from './schema.ts';
import type { Workspaces } from './workspace.ts';

export type { RepositoryAccess, Runner, Workspaces };

export interface Clones {
  clone(
    request: RepositoryAccess & {
      url: string;
      sourceName: string | null;
      commit: string | null;
      /** How other servers are reached that the repository names: for submodules, and for content that git-lfs keeps. */
      accessOf: (url: string) => Promise<RepositoryAccess>;
      dest: string;
      signal: AbortSignal;
    },
  ): Promise<{ commit: string; warnings: string[] }>;
}

/** What the inventory of a session is made from. */
export interface InventoryRequest {
  definition: TargetDefinition;
  groups: { name: string; members: string[] }[];
  /** The session's limit; a plain list of components makes the inventory just these (option inventory_scope). */
  limit: string;
  scope: InventoryScope;
  allowPartial: boolean;
  /** `yaml` for an image that has no plugin of ours; else `data`, which ours reads quickly. */
  form: 'data' | 'yaml';
  /** Of a target of images: their shells, and how Ansible logs in there. */
  images?: ImageLogin & { open: readonly OpenSessionImage[] };
  /** Folder to write into; may hold additional inventory. */
  dir: string;
  signal: AbortSignal;
}

export interface Inventories {
  /**
   * Writes the inventory; answers how many hosts the generated part has (null: nothing generated), what the items of a plain
   * limit are in it, and what was left out.
   */
  write(request: InventoryRequest): Promise<{ hosts: number | null; limit: LimitHosts | null; warnings: string[] }>;
}

/** Asks Ansible itself about an inventory that has been written; whatever it starts ends with the signal. */
export interface AnsibleHosts {
  /** Hosts that a limit matches, by Ansible's rules for patterns. */
  matching(limit: string, where: AnsibleWorkspace, signal: AbortSignal): Promise<string[]>;
  /** Which of some names are hosts, and which groups. */
  names(wanted: readonly string[], where: AnsibleWorkspace, signal: AbortSignal): Promise<InventoryNames>;
}

export interface CheckedLayer {
  index: number;
  dir: string;
  playbook: string;
}

/** What the requirements files of layers ask for, held against what is installed; nothing is downloaded. */
export interface MissingRequirements {
  /** Returns each thing that is missing, as a sentence. Throws `run_not_started`. */
  find(layers: readonly CheckedLayer[], env: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string[]>;
}

/** Runs commands in the shells of image jobs. */
export interface ImageShells {
  /** Returns null when the command ended with 0, else what kept it from that. Throws when ssh cannot be run at all. */
  run(command: ImageCommand): Promise<string | null>;
}

export interface ImageCommand {
  host: string;
  port: number;
  privateKey: string;
  /** Command for the remote shell. */
  command: string;
  signal: AbortSignal;
}

/** Where Ansible works: its folder, its environment with `ANSIBLE_CONFIG` and `ANSIBLE_INVENTORY`. */
export interface AnsibleWorkspace {
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** What must not show in a message of a failure. */
  masks: readonly string[];
}

/** The secret store of tenants. */
export interface TenantVault {
  address: string;
  /** A token for what the tenant may read there; throws an Error that says why there is none. */
  tokenOf(tenant: string): Promise<string>;
}

/** Named values of the installation that are not in a record. */
export interface SiteValues {
  /** Text of the ansible.cfg of that name; throws `config_missing`. */
  ansibleConfig(name: string): Promise<string>;
  /** Key pair and known hosts for clones and hosts (`muster-ssh`); throws `config_missing`. */
  ssh(): Promise<{ privateKey: string; knownHosts: string }>;
  /** Password of Ansible vaults, or null. */
  vaultPassword(): Promise<string | null>;
  /** Every secret value that the session's sources and its keys hold: what must never show. */
  masks(sources: Source[]): Promise<string[]>;
  /** The source record of that name, or null. */
  source(name: string): Promise<Source | null>;
  /** Certificates to trust besides the public ones where no source names some, PEM. */
  platformCa?: string | undefined;
  /** The credentials for repositories without a source and the hosts that they may go to; null: there are none. */
  commonCredentials(): Promise<CommonCredentials | null>;
  /** How an address is reached by a layer of this source (`null` without one). */
  repositoryAccess(source: Source | null, url: string): Promise<RepositoryAccess>;
}
