/** What the proxy is told of runs, and what it tells of them. */
import type { Gvk } from './names.ts';
import type { OwnerMark } from './owner-mark.ts';
import type { OwnerText } from './owner-text.ts';
import type { WatchEntry } from './watch-entry.ts';
import type { RunWrite } from './write-list.ts';

/** A run that may use the proxy. */
export interface AdmittedRun {
  runId: string;
  /** Whose dependents the objects become that the run makes. */
  owner: OwnerText;
  /** SHA-256 of its password, in hexadecimal digits. */
  passwordHash: string;
  entry: Gvk & Pick<WatchEntry, 'watch_dependent_resources' | 'watch_cluster_scoped_resources' | 'blacklist'>;
}

/** A kind of which a run makes objects, to be watched for the run's entry. Each mark is a watch of its own. */
export interface DependentKind extends Gvk {
  /** Name in paths, in the plural. */
  resource: string;
  namespaced: boolean;
  mark: OwnerMark;
}

/** A request that was answered. Neither query nor body is told. */
export interface ProxiedRequest {
  method: string;
  path: string;
  status: number;
  milliseconds: number;
}

/** Who wants to know what goes through the proxy. */
export interface ProxyNotes {
  /**
   * Called before an object of this kind is made for the first time for an entry, and again where it failed. The request goes on
   * whatever becomes of it, so a kind that cannot be watched is for the watcher to show.
   */
  dependent(run: AdmittedRun, kind: DependentKind): Promise<void>;
  /** Called for each write that the API server carried out. */
  wrote(run: AdmittedRun, write: RunWrite): void;
  /** Called for each answer, `run` is null where nobody could be made out. */
  answered(run: AdmittedRun | null, request: ProxiedRequest): void;
}

/** Ways of the runs of this machine to the cluster. */
export interface RunWays {
  /** Opens the way of a run before it starts; opening it again makes the earlier password void. */
  open(run: Omit<AdmittedRun, 'passwordHash'>): Promise<RunWay>;
  /** Closes it: the password is void, what is open is cut, and what the run wrote is stored. Throws where the database is away. */
  close(runId: string): Promise<void>;
  /** Closes all at once and cuts what is open, because this process may no longer act. Returns the runs. */
  cutAll(): Promise<string[]>;
  /**
   * Whether a run had no way for a while: it was cut off so, or its process was gone and another one has found it. Such a run may have failed
   * for that alone. It is known on the disk too, whichever process asks.
   */
  wasAway(runId: string): Promise<boolean>;
}

/** Where the passwords of runs are kept, as hashes. */
export interface KeptPasswords {
  keep(run: AdmittedRun): Promise<void>;
  forget(runId: string): Promise<void>;
}

export interface RunWay {
  /** Text of the kubeconfig that leads there. */
  kubeconfig: string;
  /** It is in the kubeconfig, and may not show anywhere else. */
  password: string;
}

/** The way of runs to the API server. */
export interface OperatorProxy {
  port: number;
  /** Certificate of its CA, PEM: the same after a restart. */
  ca: string;
  /** Lets a run in: before it starts, and after a restart of the process each run that lives. */
  admit(run: AdmittedRun): void;
  /** The run's password is void from now on, and what it has open is cut. */
  end(runId: string): void;
  /** Ends all runs, as far as the proxy goes: this process may not write any more. */
  cutAll(): void;
  close(): Promise<void>;
}
