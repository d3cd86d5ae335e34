/** Shapes of lane sessions on the v3 wire (cfs-api 8, 9, 10) and of Muster's own session routes. */
import { z } from 'zod';
import { RUNNERS } from '../runs/runner.ts';
import { atMost, KEY_MAX, NO_BLANK, NO_BLANK_MESSAGE, TagsSchema, TEXT_MAX, text } from '../schema.ts';

export const SESSION_NAME_MAX = 45;
export const SESSION_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
export const SESSION_STATUSES = ['pending', 'running', 'complete'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
/** Ordered: a value only moves forward (cfs-flows 1.1). */
export const SUCCEEDED = ['none', 'unknown', 'false', 'true'] as const;
export type Succeeded = (typeof SUCCEEDED)[number];
const TARGET_DEFINITIONS = ['image', 'spec', 'repo', 'dynamic'] as const;
export type TargetDefinition = (typeof TARGET_DEFINITIONS)[number];

const SessionNameSchema = z
  .string()
  .min(1)
  .max(SESSION_NAME_MAX, { abort: true })
  .regex(SESSION_NAME, 'must be a lower-case DNS name');

/** Extra keys inside the target and its groups are accepted and dropped (cfs-api 1). */
const GroupSchema = z.object({ name: z.string(), members: z.array(z.string()) });
const ImageMapSchema = z.object({ source_id: z.string(), result_name: z.string() });

/** Room for a limit or a group of 100,000 hosts, bytes. */
const HOSTS_MAX = 4 * 1024 * 1024;

const TargetBodySchema = z
  .object({
    definition: z.enum(TARGET_DEFINITIONS).optional(),
    groups: atMost(z.array(GroupSchema), { entries: 1_000, bytes: HOSTS_MAX }).optional(),
    image_map: atMost(z.array(ImageMapSchema), { entries: 1_000, bytes: 256 * 1024 }).optional(),
  })
  .meta({ id: 'TargetBody' });

export type TargetBody = z.infer<typeof TargetBodySchema>;

const TargetSchema = z
  .strictObject({
    definition: z.enum(TARGET_DEFINITIONS),
    groups: z.array(GroupSchema).nullable(),
    image_map: z.array(ImageMapSchema).nullable(),
  })
  .meta({ id: 'Target' });
export type Target = z.infer<typeof TargetSchema>;

/** What of a session is Muster's own. */
const SessionMusterSchema = z.strictObject({
  /** The playbooks only say what they would change, and the session changes no component's state. */
  check: z.boolean().optional(),
  /** At the end of a check, layers that drifted count as not configured. */
  reconfigure: z.boolean().optional(),
  /** Where its layers run: `local`, on a machine of Muster's own, or `kubernetes`, as a Job. Default: MUSTER_RUNNER. */
  runner: z.enum(RUNNERS).optional(),
});
export type SessionMuster = z.infer<typeof SessionMusterSchema>;

/** Body of POST /v3/sessions (cfs-api 9). */
export const SessionCreateSchema = z
  .strictObject({
    name: SessionNameSchema,
    configuration_name: text(1, 60),
    configuration_limit: text(0, TEXT_MAX).optional(),
    ansible_limit: text(0, HOSTS_MAX).regex(NO_BLANK, NO_BLANK_MESSAGE).optional(),
    ansible_config: text(0, KEY_MAX).optional(),
    ansible_verbosity: z.int().min(0).max(4).optional(),
    ansible_passthrough: text(0, 65_536).optional(),
    target: TargetBodySchema.optional(),
    tags: TagsSchema.optional(),
    debug_on_failure: z.boolean().optional(),
    muster: SessionMusterSchema.optional(),
  })
  .meta({ id: 'SessionCreate' });
export type SessionCreate = z.infer<typeof SessionCreateSchema>;

const ArtifactSchema = z.record(z.string(), z.unknown());

/** The record on the v3 wire; `message` is Muster's additive member (cfs-api 8). */
export const SessionSchema = z
  .strictObject({
    name: z.string(),
    configuration: z.strictObject({ name: z.string(), limit: z.string() }),
    ansible: z.strictObject({
      config: z.string(),
      limit: z.string().nullable(),
      verbosity: z.int(),
      passthrough: z.string().nullable(),
    }),
    target: TargetSchema,
    status: z.strictObject({
      artifacts: z.array(ArtifactSchema),
      session: z.strictObject({
        job: z.string().nullable(),
        ims_job: z.string().nullable(),
        /** Every image job of a session on images; absent for others. */
        ims_jobs: z.array(z.string()).optional(),
        start_time: z.string().nullable(),
        completion_time: z.string().nullable(),
        status: z.enum(SESSION_STATUSES),
        succeeded: z.enum(SUCCEEDED),
        message: z.string(),
      }),
    }),
    tags: TagsSchema,
    debug_on_failure: z.boolean(),
    logs: z.string().nullable().optional(),
    muster: SessionMusterSchema.optional(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof SessionSchema>;

/** One repository of a session as it was when the session was made; `commit` null until it is pinned at the clone. */
const SnapshotRepositorySchema = z.strictObject({
  url: z.string(),
  source: z.string().nullable(),
  commit: z.string().nullable(),
});
export type SnapshotRepository = z.infer<typeof SnapshotRepositorySchema>;

const SnapshotLayerSchema = SnapshotRepositorySchema.extend({
  /** Index in the configuration, not in the selection; the directory is `layer<index>`. */
  index: z.int(),
  name: z.string().nullable(),
  playbook: z.string(),
  /** Whether image jobs need DKMS: where any layer of the configuration says so, selected or not (cfs-flows 3.3). */
  require_dkms: z.boolean(),
});
export type SnapshotLayer = z.infer<typeof SnapshotLayerSchema>;

/** What a session will run: fixed when it is made, so that later changes of the configuration do not matter. */
export const SnapshotSchema = z
  .strictObject({
    layers: z.array(SnapshotLayerSchema),
    additional_inventory: SnapshotRepositorySchema.nullable(),
    /** Name of a built-in debugging playbook (`fail` of `debug_fail`), when no stored configuration has that name. */
    debug_playbook: z.string().nullable(),
    ansible_config: z.string(),
    /** The tenant whose configuration it was; without one it is the administrator's. */
    tenant_name: z.string().optional(),
  })
  .meta({ id: 'Snapshot' });
export type Snapshot = z.infer<typeof SnapshotSchema>;

/** Hosts that a layer is run on again: all, or those that did not succeed in the attempt before. */
export const RETRY_HOSTS = ['all', 'failed'] as const;
export type RetryHosts = (typeof RETRY_HOSTS)[number];

/** Body of POST /api/v1/sessions/{name}/retry. */
export const SessionRetrySchema = z
  .strictObject({
    hosts: z.enum(RETRY_HOSTS).optional(),
    name: SessionNameSchema.optional(),
  })
  .meta({ id: 'SessionRetry' });
export type SessionRetry = z.infer<typeof SessionRetrySchema>;

/** Body of POST /api/v1/sessions/{name}/cancel. */
export const SessionCancelSchema = z
  .strictObject({ reason: z.string().max(500).optional() })
  .meta({ id: 'SessionCancel' });
