/** A session's Kubernetes Job as the engine sees it: what is asked of a cluster, and what it answers (cfs-flows 1.3). */

/** `restricted`: Muster's own images. `compatible`: a runner image that follows cfs-flows 1.3, 4.1 by itself. */
export const RUNNER_PROFILES = ['restricted', 'compatible'] as const;
export type RunnerProfile = (typeof RUNNER_PROFILES)[number];

/** Everything that one session's Job is made from, beside the settings of the installation. */
export interface JobSpec {
  /** Name of the Job and of its Secret: `cfs-<uuid4>`, as Muster drew it. */
  name: string;
  sessionId: string;
  sessionName: string;
  configurationName: string;
  profile: RunnerProfile;
  /** A Job for images has the `teardown` container. */
  image: boolean;
  /** Words of `ANSIBLE_ARGS`, as one text. */
  ansibleArgs: string;
  inventoryType: string;
  stateRecordingDisabled: boolean;
  /** `SESSION_CONFIGURATION_LIMIT`; '' for none. */
  configurationLimit: string;
  /** Seconds of `DEBUG_WAIT_TIME`. */
  debugWaitSeconds: number;
  /** The single argument of the `ansible` container: JSON array of layers. */
  layersArgument: string;
  /** Seconds after its end at which Kubernetes may remove the Job (option `session_ttl`); null: never by itself. */
  ttlSeconds: number | null;
  /** `activeDeadlineSeconds`; null: none. */
  deadlineSeconds: number | null;
  /** `CFS_OPERATOR_LOG_LEVEL` of the steps around `ansible` (option `logging_level`). */
  logLevel: string;
  /** `VAULT_ADDR`, the secret store of tenants; '' for none. */
  vaultAddress: string;
  /** How many files of extra variables a `compatible` runner image gets out of the Secret. */
  extraVarsFiles: number;
  /** Values of its Secret by key. */
  secret: Record<string, string>;
}

/** One container of the Job's pod. */
export interface ContainerState {
  name: string;
  state: 'waiting' | 'running' | 'terminated';
  /** Kubernetes' word: ImagePullBackOff, OOMKilled, Completed ... or ''. */
  reason: string;
  message: string;
  exitCode: number | null;
}

/** What is seen of a Job at one moment. */
export interface JobView {
  name: string;
  sessionId: string;
  /** `gone`: there is no such Job. */
  phase: 'suspended' | 'waiting' | 'running' | 'complete' | 'failed' | 'deleting' | 'gone';
  /** Of a failed Job: Kubernetes' word and sentence (BackoffLimitExceeded, DeadlineExceeded ...). */
  reason: string;
  message: string;
  containers: ContainerState[];
  /** Why its pod does not run yet, or was ended: null when nothing is wrong. */
  trouble: JobTrouble | null;
}

/** What keeps a pod from running, or ended it; `code` is one of the catalogue. */
export interface JobTrouble {
  code:
    | 'image_pull_failed'
    | 'container_config_invalid'
    | 'out_of_memory'
    | 'evicted'
    | 'unschedulable'
    | 'node_lost'
    | 'pod_deleted'
    | 'pod_silent'
    | 'deadline_exceeded';
  /** A sentence for people, with Kubernetes' own words. */
  message: string;
  /** `waiting`: it may pass by itself (cpu or memory are not free now); `impossible`: no node will ever do; `over`: the pod ended by it. */
  kind: 'waiting' | 'impossible' | 'over';
}

/** What was verified when a Job was ended. */
export interface JobEnding {
  /** The last view, with the exit codes that were read before anything vanished. */
  view: JobView;
  /** Null when no container runs any more and all was deleted; else why that is not so, or not known: `node not ready`. */
  unverified: string | null;
}

/** From where a log is read, and what is hidden in it besides what the session's Secret names. */
export interface LogReading {
  /** Byte of the log at which to begin. */
  from: number;
  secrets: readonly string[];
  /** Whether nothing else needs to be hidden. If not, a log whose Secret is gone is not told. */
  areAll: boolean;
  /** Called once, when all that stands in it now was handed over. */
  onCurrent?: () => void;
}

/** What a cluster does with the Jobs of sessions. Trouble with the cluster itself is `cluster_unavailable` (retryable). */
export interface ClusterJobs {
  /**
   * Makes Job and Secret unless they are there (the Job suspended first, the Secret owned by it), then lets it run. Repeating it
   * after any crash leaves one Job; one that is being deleted, or has ended, stays as it is. Answers what keeps it from that, and may
   * pass: a quota; null: it runs, or has run.
   * @throws `cluster_refused` where an object of its name is not the session's: that is left alone
   */
  start(spec: JobSpec, signal: AbortSignal): Promise<JobTrouble | null>;
  /** The Job now. */
  view(name: string): Promise<JobView>;
  /**
   * Tells `take` of each change from now on, first of what stands, until it answers true. One watch for all Jobs of a process,
   * resumed when it breaks, with a slow poll as safety.
   */
  follow(name: string, take: (view: JobView) => Promise<boolean>, signal: AbortSignal): Promise<void>;
  /**
   * Deletes Job and pods (Foreground), waits up to `patienceMs` until no container of it runs. Finalizers stay: see `release`. What is not
   * of that session, or of any of Muster's when none is named, is left alone.
   */
  end(name: string, patienceMs: number, sessionId?: string): Promise<JobEnding>;
  /**
   * Drops the finalizers of the Job and its pods: what it left was stored. Harmless when they are gone; what is not of that session is
   * left alone.
   */
  release(name: string, sessionId?: string): Promise<void>;
  /**
   * Replaces those keys of its Secret that `change` answers for its values, and has its pod take notice; `change` may be asked more
   * than once. Answers the values after that; null where the Secret is gone.
   */
  updateSecret(
    name: string,
    change: (now: Record<string, string>) => Record<string, string>,
  ): Promise<Record<string, string> | null>;
  /**
   * Hands over the log of one container, from a byte on, until the container has ended or `signal`; `take` gets whole
   * parts with the bytes at which each begins and ends, and the session's secrets masked in the text.
   */
  followLog(
    name: string,
    container: string,
    reading: LogReading,
    take: (part: { start: number; end: number; text: string }) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Every Job of Muster's in the namespace, by name, with the session that it was made for. */
  list(): Promise<JobView[]>;
}
