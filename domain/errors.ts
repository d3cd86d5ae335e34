/**
 * The one catalogue of errors. A code is the same word in a problem document (`code`), in the CLI, in logs and as the
 * type of a failed activity.
 */
import { ACCESS_ERRORS } from './access/errors.ts';
import { BATCH_ERRORS } from './batches/errors.ts';
import { COMPONENT_ERRORS } from './components/errors.ts';
import { CONFIGURATION_ERRORS } from './configurations/errors.ts';
import { DEPLOYMENT_ERRORS, DEPLOYMENT_MEANINGS } from './deployments/errors.ts';
import { type ErrorKind, type ErrorTable, joinTables } from './error-kind.ts';
import { IMAGE_ERRORS } from './images/errors.ts';
import { OPERATOR_ERRORS } from './operator/errors.ts';
import { PROPAGATION_ERRORS, PROPAGATION_MEANINGS } from './propagation/errors.ts';
import { REQUEST_ERRORS } from './requests/errors.ts';
import { RUN_ERRORS } from './runs/errors.ts';
import { SCHEDULE_ERRORS } from './schedules/errors.ts';
import { SECRET_ERRORS } from './secrets/errors.ts';
import { SERVICE_ERRORS } from './service/errors.ts';
import { SESSION_ERRORS } from './sessions/errors.ts';
import { SHARED_ERRORS } from './shared-errors.ts';
import { TRUST_ERRORS } from './trust/errors.ts';
import { WEBHOOK_ERRORS } from './webhooks/errors.ts';

/** The lanes' tables, in the order of documents. A new lane is one line here. */
export const ERROR_TABLES = {
  requests: REQUEST_ERRORS,
  access: ACCESS_ERRORS,
  service: SERVICE_ERRORS,
  components: COMPONENT_ERRORS,
  trust: TRUST_ERRORS,
  webhooks: WEBHOOK_ERRORS,
  configurations: CONFIGURATION_ERRORS,
  secrets: SECRET_ERRORS,
  sessions: SESSION_ERRORS,
  runs: RUN_ERRORS,
  schedules: SCHEDULE_ERRORS,
  batches: BATCH_ERRORS,
  images: IMAGE_ERRORS,
  propagation: PROPAGATION_ERRORS,
  shared: SHARED_ERRORS,
  operator: OPERATOR_ERRORS,
  deployments: DEPLOYMENT_ERRORS,
};

export const ERRORS = joinTables(ERROR_TABLES);

export type ErrorCode = keyof typeof ERRORS;

/** What codes of other lanes' tables mean where a lane answers them with a status of its own, by that lane. */
export const OTHER_MEANINGS: Readonly<Record<string, ErrorTable>> = {
  propagation: PROPAGATION_MEANINGS,
  deployments: DEPLOYMENT_MEANINGS,
};

/** Returns what a code means: by the status of its answer where a lane has given the code another meaning, else by the catalogue. */
export function kindOf(code: ErrorCode, status?: number): ErrorKind {
  const others = Object.values(OTHER_MEANINGS).map((table) => table[code]);
  return others.find((other) => other !== undefined && other.status === status) ?? ERRORS[code];
}

/** Whether a word is a code of the catalogue. */
export function isErrorCode(word: string | null | undefined): word is ErrorCode {
  return typeof word === 'string' && Object.hasOwn(ERRORS, word);
}

/** One of several mistakes of a request, or the place of a single one. */
export interface Mistake {
  code: ErrorCode;
  message: string;
  /** Path of the offending member. */
  field?: string;
  /** Place in a text, counted from 1. */
  line?: number;
  column?: number;
  /** Place in an expression, in characters counted from 0. */
  position?: number;
  /** What the mistake is about, sorted: the members of a loop. */
  names?: readonly string[];
}

/** An expected refusal or failure: a code of the catalogue and a sentence that names the value and the fix. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  /** The sentence for the user; the same as `message`. */
  readonly detail: string;
  /** Path of the offending field (`layers.0.commit`), where there is one. */
  readonly field: string | undefined;
  /** Every mistake, where a refusal has several or says where they are. */
  readonly errors: readonly Mistake[] | undefined;
  /** Status of the answer, where the lane that refuses has another one than the catalogue. */
  readonly status: number | undefined;

  constructor(code: ErrorCode, detail: string, field?: string, errors?: readonly Mistake[], status?: number) {
    super(detail);
    this.name = 'MusterError';
    this.code = code;
    this.detail = detail;
    this.field = field;
    this.errors = errors;
    this.status = status;
  }
}

/** Makes the error for `code`; `detail` must name the offending value. */
export function musterError(code: ErrorCode, detail: string, field?: string, errors?: readonly Mistake[]): MusterError {
  return new MusterError(code, detail, field, errors);
}

/** Whether `error` is an expected one (works across module instances, unlike `instanceof`). */
export function isMusterError(error: unknown): error is MusterError {
  return error instanceof Error && error.name === 'MusterError' && 'code' in error;
}

/** The problem document of an error (RFC 7807 with the stable `code`; cfs-api 2). */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  /** Every mistake, where there are several or where their places are known. */
  errors?: readonly Mistake[];
  /** Where the mistake is in an expression, in characters counted from 0. */
  position?: number;
}

/** Problem document of an expected error; the field, where known, ends the sentence as ` - 'path'`. */
export function problemOf(
  error: Pick<MusterError, 'code' | 'detail' | 'field'> & Partial<Pick<MusterError, 'errors' | 'status'>>,
): Problem {
  const { status, title } = kindOf(error.code, error.status);
  const detail = error.field ? `${error.detail} - '${error.field}'` : error.detail;
  const problem = { type: 'about:blank' as const, title, status, detail, code: error.code };
  const position = error.errors?.find((mistake) => mistake.position !== undefined)?.position;
  return {
    ...problem,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(position === undefined ? {} : { position }),
  };
}
