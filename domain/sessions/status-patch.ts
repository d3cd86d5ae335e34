import { musterError } from '../errors.ts';
import { jsonBytes } from '../json-size.ts';
import { KEY_MAX } from '../schema.ts';
import { SESSION_STATUSES, type SessionStatus, SUCCEEDED, type Succeeded } from './schema.ts';
import { parseSessionTime } from './wire-time.ts';

/** The members of a session that a patch can change. */
export interface PatchableStatus {
  status: SessionStatus;
  succeeded: Succeeded;
  job: string | null;
  ims_job: string | null;
  start_time: Date;
  completion_time: Date | null;
  artifacts: Record<string, unknown>[];
}

/** Levels below the list of artifacts; CFS's own entries are flat. */
const ARTIFACT_DEPTH = 16;

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null, false, '', 0, [] and {} never overwrite (cfs-api 10). */
const isEmpty = (value: unknown): boolean =>
  !value || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);

function objectMember(parent: Json, key: string, path: string): Json {
  const value = parent[key];
  if (value === undefined) return {};
  if (!isObject(value)) throw musterError('bad_request', 'must be an object', path);
  return value;
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw musterError('bad_request', 'must be a string', path);
  if (value.length > KEY_MAX) {
    throw musterError('bad_request', `has ${value.length} characters: at most ${KEY_MAX}`, path);
  }
  return value;
}

function time(value: unknown, path: string): Date {
  const parsed = parseSessionTime(text(value, path));
  if (parsed === null) throw musterError('bad_request', `${value} is not a time YYYY-MM-DDTHH:MM:SS`, path);
  return parsed;
}

/** The later of two values in an order; a value that is not in it changes nothing. */
function forward<T>(order: readonly T[], current: T, wanted: unknown): T {
  const place = order.indexOf(wanted as T);
  return place > order.indexOf(current) ? (order[place] as T) : current;
}

/** Whether the value nests no deeper than `levels`; walks level by level, since the depth is the sender's choice. */
function isShallow(value: unknown, levels: number): boolean {
  let layer = [value];
  for (let level = 0; layer.length > 0; level++) {
    if (level > levels) return false;
    layer = layer.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return true;
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  // A number with fraction or exponent arrives as an object.
  if (a instanceof Number || b instanceof Number) return Number(a) === Number(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

const MAX_ARTIFACTS = 1_000;
const MAX_ARTIFACT_BYTES = 256 * 1024;

function requireSize(artifacts: Json[]): void {
  const member = 'status.artifacts';
  if (artifacts.length > MAX_ARTIFACTS) {
    const detail = `A session has at most ${MAX_ARTIFACTS} artifacts: this would be ${artifacts.length}`;
    throw musterError('bad_request', detail, member);
  }
  const bytes = jsonBytes(artifacts);
  if (bytes <= MAX_ARTIFACT_BYTES) return;
  throw musterError('bad_request', `The artifacts would have ${bytes} bytes: at most ${MAX_ARTIFACT_BYTES}`, member);
}

/** Appends entries; one all of whose members an existing entry has too is left out. */
function appendArtifacts(existing: Json[], added: unknown): Json[] {
  if (isEmpty(added)) return existing;
  if (!Array.isArray(added)) throw musterError('bad_request', 'must be an array', 'status.artifacts');
  if (!isShallow(added, ARTIFACT_DEPTH)) throw musterError('bad_request', 'is nested too deeply', 'status.artifacts');
  const result = [...existing];
  for (const [index, entry] of added.entries()) {
    if (!isObject(entry)) throw musterError('bad_request', 'must be an object', `status.artifacts.${index}`);
    const known = result.some((old) =>
      Object.entries(entry).every(([key, value]) => Object.hasOwn(old, key) && sameJson(old[key], value)),
    );
    if (!known) result.push(entry);
  }
  if (result.length > existing.length) requireSize(result);
  return result;
}

/**
 * Reads the body of a v3 session patch: an object whose only member may be `status`, itself an object (cfs-api 10).
 * Throws `bad_request`.
 */
export function readStatusPatch(body: unknown): Json {
  if (!isObject(body)) throw musterError('bad_request', 'Request body is not an object');
  for (const key of Object.keys(body)) {
    if (key !== 'status') {
      throw musterError('bad_request', 'Only status can be updated after session creation', key);
    }
  }
  return objectMember(body, 'status', 'status');
}

/**
 * The session's status after a patch (cfs-api 10, cfs-flows 1.1): `status` and `succeeded` move only forward, empty values
 * never overwrite, unknown members are ignored, artifacts are appended. Throws `session_job_conflict` for a `job` when
 * one is set, even the same, unless `overwriteJob` (v2) lets it be replaced; `bad_request` for a value of a wrong type.
 * Then nothing of the patch counts.
 */
export function applyStatusPatch(
  current: PatchableStatus,
  patch: Json,
  { overwriteJob = false }: { overwriteJob?: boolean } = {},
): PatchableStatus {
  const session = isEmpty(patch.session) ? {} : objectMember(patch, 'session', 'status.session');
  const given = (key: string): boolean => Object.hasOwn(session, key) && !isEmpty(session[key]);
  const at = (key: string): string => `status.session.${key}`;
  const next: PatchableStatus = {
    ...current,
    status: forward(SESSION_STATUSES, current.status, session.status),
    succeeded: forward(SUCCEEDED, current.succeeded, session.succeeded),
    artifacts: appendArtifacts(current.artifacts, patch.artifacts),
  };
  if (given('job')) {
    const job = text(session.job, at('job'));
    if (current.job && !overwriteJob) {
      throw musterError('session_job_conflict', `The job is ${current.job} already and cannot become ${job}`);
    }
    next.job = job;
  }
  if (given('ims_job')) next.ims_job = text(session.ims_job, at('ims_job'));
  if (given('start_time')) next.start_time = time(session.start_time, at('start_time'));
  if (given('completion_time')) next.completion_time = time(session.completion_time, at('completion_time'));
  return next;
}
