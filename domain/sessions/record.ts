import type { Session, SessionMuster, SessionStatus, Snapshot, Succeeded, Target } from './schema.ts';
import { toSessionTime } from './wire-time.ts';

/** A session as the wire records need it; the store's row has these members and more. */
export interface SessionRecord {
  id: string;
  name: string;
  configuration_name: string;
  configuration_limit: string;
  ansible_config: string;
  ansible_limit: string | null;
  ansible_verbosity: number;
  ansible_passthrough: string | null;
  target: Target;
  tags: Record<string, string>;
  debug_on_failure: boolean;
  status: SessionStatus;
  succeeded: Succeeded;
  job: string | null;
  ims_job: string | null;
  ims_jobs: string[];
  artifacts: Record<string, unknown>[];
  start_time: Date;
  completion_time: Date | null;
  message: string;
  snapshot: Snapshot;
  muster: SessionMuster | null;
}

/** The v3 record (cfs-api 8); `logs` null where links are not shown. */
export function toSession(record: SessionRecord, logs: string | null): Session {
  return {
    name: record.name,
    configuration: { name: record.configuration_name, limit: record.configuration_limit },
    ansible: {
      config: record.ansible_config,
      limit: record.ansible_limit,
      verbosity: record.ansible_verbosity,
      passthrough: record.ansible_passthrough,
    },
    target: {
      definition: record.target.definition,
      groups: record.target.groups ?? null,
      image_map: record.target.image_map ?? null,
    },
    status: {
      artifacts: record.artifacts,
      session: {
        job: record.job,
        ims_job: record.ims_job,
        ...(record.target.definition === 'image' ? { ims_jobs: record.ims_jobs } : {}),
        start_time: toSessionTime(record.start_time),
        completion_time: toSessionTime(record.completion_time),
        status: record.status,
        succeeded: record.succeeded,
        message: record.message,
      },
    },
    tags: record.tags,
    debug_on_failure: record.debug_on_failure,
    logs,
    ...(record.muster === null ? {} : { muster: record.muster }),
  };
}

/** Bases of links to logs. */
export interface LogBases {
  /** `MUSTER_ARA_URL`, without slash at the end. */
  ara: string | undefined;
  /** Base of the API itself, without slash at the end. */
  api: string;
}

/** Where a session's logs are: ARA where there is one, else the API's own page (cfs-flows 1.9). */
export function logsLink(name: string, bases: LogBases): string {
  return bases.ara === undefined ? `${bases.api}/api/v1/sessions/${name}/logs` : `${bases.ara}/?label=${name}`;
}
