/** What a session's pod and the ingest port say to each other (runner protocol, version 2). */
import { z } from 'zod';

/** Version that a pod names in the header `muster-runner-protocol`; without the header it speaks version 1, which is `/runs` alone. */
export const RUNNER_PROTOCOLS = ['1', '2'] as const;
export const RUNNER_PROTOCOL_HEADER = 'muster-runner-protocol';

export const JOB_STEPS = ['clone', 'inventory', 'ansible', 'teardown'] as const;
export type JobStep = (typeof JOB_STEPS)[number];

const MESSAGE_MAX = 4_000;

/** A step as its container tells it; `code` is one of the error catalogue. The `message` of a step that has started says why it tries again. */
export const StepReportSchema = z.strictObject({
  state: z.enum(['started', 'done', 'failed']),
  code: z.string().max(100).optional(),
  message: z.string().max(MESSAGE_MAX).optional(),
  warnings: z.array(z.string().max(MESSAGE_MAX)).max(100).optional(),
});
export type StepReport = z.infer<typeof StepReportSchema>;

/** Files below `/inventory` that the `inventory` container writes, by relative path. */
export interface PreparedInventoryFiles {
  files: Record<string, string>;
}

/** One run that the `ansible` container is to execute. */
export interface RunOrder {
  id: string;
  layer: number;
  attempt: number;
  playbook: string;
  /** One of the built-in debugging playbooks. */
  debug: boolean;
  /** Words after the playbook. */
  arguments: string[];
  /** Text of the file that a limit of many hosts goes by, or null. */
  limit_file: string | null;
  /** Texts of the files of extra variables that `arguments` name, by path; absent: none. */
  files?: Record<string, string>;
  /** Complete but for PATH, HOME and the language. */
  environment: Record<string, string>;
  cwd: string;
  log_max: number;
  /**
   * The pod waits until its Secret has this number or a larger one: the end of the certificate, seconds since 1970, or more where
   * something else has changed since; absent: it takes what it has.
   */
  certificate_until?: number;
}

/** What the `ansible` container is to do next. */
export type JobOrder = { action: 'run'; run: RunOrder } | { action: 'finish'; exit_code: number };

/** Whether the workflow has ended the images' work, and how the `teardown` container is to exit. */
export interface TeardownState {
  done: boolean;
  exit_code: number;
}

/** The order for a pod of an older release, which writes no such files: each stands in its argument again, where it means the same. */
export function withoutFiles(order: RunOrder): RunOrder {
  const { files, ...rest } = order;
  if (files === undefined) return order;
  const texts = new Map(Object.entries(files).map(([path, text]) => [`--extra-vars=@${path}`, `--extra-vars=${text}`]));
  return { ...rest, arguments: order.arguments.map((word) => texts.get(word) ?? word) };
}
