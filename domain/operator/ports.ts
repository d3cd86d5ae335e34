/** What the rules of loading ask the world outside. */
import type { CustomResource } from './custom-resource.ts';
import type { Gvk } from './names.ts';
import type { RunDirectory } from './run-directory.ts';

/** The disk on which the home of an operator lies. */
export interface HomeFiles {
  /** Whether anything, a file or a folder, is at this absolute path. */
  exists(path: string): boolean;
}

/** A text that was read as YAML, or why it is none. */
export type YamlReading =
  | {
      /** Value of the first document, as JSON has it; null for a text without content. */
      value: unknown;
      /** Sentences on what is in the text and not in the value: further documents, tags that are not known. */
      leftOut: string[];
    }
  | { mistake: string };

/** Reads YAML 1.1 as the reference operator does; a repeated key keeps its last value. */
export type ParseYaml = (text: string) => YamlReading;

/** A resource, read or written through the API of its cluster. */
export interface ResourceClient {
  /** Returns the resource; null where there is none. Throws `cluster_unavailable`, and `cluster_refused` for what only people can change. */
  read(of: ObjectRef): Promise<CustomResource | null>;
  /**
   * Writes the status of a resource as it was read. `conflict`: it was changed meanwhile. `absent`: it is gone, or its kind has no status of
   * its own.
   */
  writeStatus(of: ObjectRef, resource: CustomResource, status: unknown): Promise<WriteAnswer>;
  /** Writes the finalizers of a resource as it was read. */
  writeFinalizers(of: ObjectRef, resource: CustomResource, finalizers: readonly string[]): Promise<WriteAnswer>;
}

export type WriteAnswer = { answer: 'written'; resource: CustomResource } | { answer: 'conflict' | 'absent' };

export interface ObjectRef extends Gvk {
  namespace: string;
  name: string;
}

/** Directories of runs on this machine. */
export interface RunDirectories {
  /** Absolute path of the private directory of a run, and of the kubeconfig in it. */
  paths(runId: string): { directory: string; kubeconfig: string };
  /** Makes the directory, only for its owner, with its files, the text of its kubeconfig and what may not show. Repeating it makes it anew. */
  make(runId: string, content: RunDirectory, kubeconfig: string, secrets: readonly string[]): Promise<void>;
  /** What ansible-runner has written as its output, masked, at most the last `maxBytes` of it; null where it has written nothing. */
  output(runId: string, maxBytes: number): Promise<string | null>;
  /** Last lines of what ansible-runner has written as its output, masked; null where it has written nothing. */
  lastLines(runId: string): Promise<string[] | null>;
  /** When the run ended, as its launcher has written it; null where it has not. */
  endedAt(runId: string): Promise<Date | null>;
  /** Removes what holds the spec, the environment and credentials. */
  tidy(runId: string): Promise<void>;
  /** Removes what ansible-runner has left of a run that is over. */
  dropArtifacts(runId: string): Promise<void>;
}

/** Words that Events of resources have as their reason. */
export const NOTICE_TYPES = {
  Reconciled: 'Normal',
  Paused: 'Normal',
  ReconcileFailed: 'Warning',
  ReconcileInterrupted: 'Warning',
  ReconcileLoop: 'Warning',
  BadAnnotation: 'Warning',
} as const;
export type NoticeReason = keyof typeof NOTICE_TYPES;

/** A resource that an Event is about. */
export type NoticeOf = ObjectRef & { uid: string };

/** Events on resources, in their cluster. */
export interface ResourceNotices {
  /** Tells of a resource, soon, at most once in 5 min for each reason; further ones are counted. Never fails and never waits. */
  tell(of: NoticeOf, reason: NoticeReason, message: string): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
}
