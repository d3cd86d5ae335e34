/** What lane propagation asks of others. */
import type { RefRequest, RepositoryAccess } from '../configurations/ports.ts';

/**
 * Reads a YAML text safely, with a limit on aliases.
 * Throws `validation_failed` with the place of a mistake.
 */
export type ReadYaml = (text: string, file: string) => unknown;

/** Git, as the sync of a repository needs it. Refusals are MusterErrors. */
export interface DefinitionGit {
  /** Returns the full commit id that a branch, a tag or the beginning of a commit id means now. */
  resolveRef(request: RefRequest): Promise<string>;
  /** Returns the full commit id that the default branch is at now. */
  resolveHead(request: Omit<RefRequest, 'ref'>): Promise<string>;
  /** Makes `dest` a checkout of the commit; `removedLinks` are paths of links in it that led out, and are gone. */
  clone(
    request: RepositoryAccess & {
      url: string;
      sourceName: string | null;
      commit: string;
      /** How other servers are reached that the repository names. */
      accessOf: (url: string) => Promise<RepositoryAccess>;
      dest: string;
      signal: AbortSignal;
    },
  ): Promise<{ removedLinks: string[] }>;
}

/** A checkout, and the folder in it below which definitions are looked for. */
export interface DefinitionCheckout {
  dir: string;
  path: string;
  removedLinks: readonly string[];
}

/** Definitions of a checkout. */
export interface FoundFolders {
  /** Folders with a `meta.yaml`, relative to the folder that was looked through, in order; empty for that folder itself. */
  folders: readonly string[];
  /**
   * Returns the content of all files of a definition by their paths in it.
   * Throws `validation_failed` for links out of it and special files, `value_too_large`.
   */
  read(folder: string): Promise<Map<string, Uint8Array>>;
}

/** Folders of a moment for checkouts, and what lies in them. */
export interface DefinitionCheckouts {
  /** Returns the path of a folder that is not there yet, for `work` alone: it is gone when the work is over. */
  within<T>(work: (dest: string) => Promise<T>): Promise<T>;
  /** Throws `validation_failed` where the folder is not there, `value_too_large` for too many definitions. */
  find(checkout: DefinitionCheckout): Promise<FoundFolders>;
}

/** A file of an action, on the machine that executes it. */
export interface ActionFile {
  /** Path inside the folder of the action; slashes make folders. */
  path: string;
  content: string | Uint8Array;
  /** May be executed. Files are for this user alone, whatever they are. */
  executable?: boolean;
}

/** Folders of actions on this machine. Each lies in the folder of its run, and goes with it at the latest. */
export interface ActionWorkspaces {
  /** Makes an empty folder for a run, and returns its path. Each call makes another one: two watchers may prepare the same run. */
  make(runId: string): Promise<string>;
  /** Writes files into a folder that `make` has made. Throws for a path that leads out of it. */
  write(dir: string, files: Iterable<ActionFile>): Promise<void>;
  /** Removes all folders of a run. No error where there is none. */
  remove(runId: string): Promise<void>;
}

/** A template that is to be filled in; its name stands in what is said of it. */
export interface Template {
  name: string;
  text: string;
}

/** Fills in templates, apart from everything else. */
export interface Evaluator {
  /**
   * Returns the texts of templates, in their order.
   * Throws `validation_failed` with the name of a template that cannot be filled in, `evaluator_unavailable` while the machine has too little
   * of something, and `evaluator_failed` where no template can be filled in until somebody mends that.
   */
  render(templates: readonly Template[], variables: Readonly<Record<string, unknown>>): Promise<string[]>;
  stop(): Promise<void>;
}

/** Files by which ssh logs in for an action. */
export interface ActionLoginPaths {
  /** The key of a transport, where it has one. */
  ownKey: string;
  /** Key of sessions, for all other logins. */
  sshKey: string;
  /** Certificate for that key; ssh finds it by its name. */
  sshCertificate: string;
  /** The installation's own key, where `sshKey` is another key. */
  plainKey: string;
  knownHosts: string;
  vaultPassword: string;
  /** Folder of the sockets of ssh. */
  controlPath: string;
}

/** Logins of actions on this machine: one folder for each run, however many watchers prepare it. */
export interface ActionLogins {
  paths(runId: string): ActionLoginPaths;
  /** Makes the folders; harmless when they are there. */
  make(runId: string): Promise<void>;
  /** Writes a file that only this user may read, whole or not at all. */
  writePrivate(path: string, text: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  /** Removes such a file; harmless where there is none. */
  removePrivate(path: string): Promise<void>;
  /** Removes the folders of a run. No error where there are none. */
  remove(runId: string): Promise<void>;
}

/** What is asked of the program that talks to a target. */
export interface TargetCall {
  /** The command that logs in and begins or ends the action there. */
  ssh: readonly string[];
  attempt: string;
  /** Folder of the action there. */
  folder: string;
}

/** Whether all that an action has begun at its target is gone. `why` says what is in doubt, or why the target did not answer. */
export interface TargetAnswer {
  isReached: boolean;
  isGone: boolean;
  why: string | null;
}

/** Shell actions at targets, by ssh from this machine. */
export interface TargetShells {
  /** Returns the program of a run that executes an action at its target; `callFile` has the call with what the action is given. */
  argv(callFile: string): string[];
  /** Ends every process of an action at its target, over a connection of its own. */
  end(call: TargetCall): Promise<TargetAnswer>;
}
