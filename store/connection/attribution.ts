/**
 * Who asks for a write, and with which request, for the audit records that the database makes of it. It travels in a comment in
 * front of each statement: that costs no round trip, needs no transaction, and no writer can leave it out.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CompiledQuery,
  PostgresDialect,
  PostgresQueryCompiler,
  type QueryId,
  type RootOperationNode,
} from 'kysely';

export interface Attribution {
  /** Who asks; null where nobody is known. */
  actor: string | null;
  /** Id of the request, for the log. */
  requestId: string | null;
  /** Method and route of the request. */
  via: string | null;
  /** Why, in the words of who asks; null or absent where nothing was said. */
  reason?: string | null;
}

interface Current extends Partial<Attribution> {
  action?: string;
  comment: string;
}

const current = new AsyncLocalStorage<Current>();

/** Runs `work`; what it writes, and what it starts, is recorded as asked for so. */
export function attributed<T>({ actor, requestId, via, reason = null }: Attribution, work: () => T): T {
  return current.run(withComment({ actor, requestId, via, reason }), work);
}

/** Runs `work`; the changes that it makes are recorded under this word in place of `update`. */
export function asAction<T>(action: string, work: () => T): T {
  return current.run(withComment({ ...current.getStore(), action }), work);
}

/** Runs `work`; its audit records name this one as who asked, and the request as before. */
export function withActor<T>(actor: string, work: () => T): T {
  const { requestId = null, via = null, ...others } = current.getStore() ?? { comment: '' };
  return current.run(withComment({ ...others, requestId, via, actor }), work);
}

/** Runs `work`; its audit records have this reason. */
export function withReason<T>(reason: string, work: () => T): T {
  return current.run(withComment({ ...current.getStore(), reason }), work);
}

/** Without what JSON of Postgres cannot hold; base64, so that no text ends the comment. */
function withComment({ actor, requestId, via, reason, action }: Omit<Current, 'comment'>): Current {
  const why = reason ?? undefined;
  const told = {
    actor: actor?.toWellFormed().replaceAll('\0', '') ?? actor,
    request: requestId,
    via,
    action,
    reason: why,
  };
  const kept = { ...(action === undefined ? {} : { action }), ...(why === undefined ? {} : { reason: why }) };
  return { actor, requestId, via, ...kept, comment: commentOf(told) };
}

function commentOf(told: object): string {
  return `/*muster ${Buffer.from(JSON.stringify(told)).toString('base64')}*/ `;
}

/** Statements that say who asked for them. */
export class AttributingCompiler extends PostgresQueryCompiler {
  override compileQuery(node: RootOperationNode, queryId: QueryId): CompiledQuery {
    const compiled = super.compileQuery(node, queryId);
    // Of a select too: it may be one with an insert inside.
    const comment = current.getStore()?.comment;
    return comment === undefined ? compiled : { ...compiled, sql: comment + compiled.sql };
  }
}

/** Postgres, with statements that say who asked for them. */
export class AttributingDialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new AttributingCompiler();
  }
}
