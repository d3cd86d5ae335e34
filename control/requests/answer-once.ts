import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import { ANSWER_KEPT_MS, ANSWER_MAX, isAnswerKept } from '../../domain/requests/idempotency.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  claimRequest,
  findRequest,
  holdRequest,
  removeExpiredRequests,
  storeAnswer,
} from '../../store/requests/idempotency.ts';
import type { SealKeys } from '../sealing/stored-key.ts';
import { type AnswerSeal, readAnswerSeal } from './answer-seal.ts';

/** A process that works on a request holds it for so long from its last sign of life, ms. */
const HOLD_MS = 20_000;
const RENEW_MS = 5_000;
/** How long a second request waits for the answer to the first, ms. */
const WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** Expired answers that one statement removes. */
const SWEEP_CHUNK = 1_000;

export interface AnswerOnceDependencies {
  db: Db;
  secrets: SealKeys;
  log: { warn(fields: object, message: string): void };
  clock(): Date;
}

/** Everything that makes two requests the same one, but the body. */
export interface RequestIdentity {
  key: string;
  actor: string | null;
  /** Tenant for whom it is asked, '' for none. */
  tenant: string;
  method: string;
  /** Path and query as they came. */
  url: string;
}

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** The work on a request that is to be answered once. */
export interface Operation {
  /** Id (uuid) that stays the same when the request is worked on again after a crash. */
  id: string;
  /** Ends the work with its answer; null: with none that another request could be given. Never rejects. */
  end(answer: KeptAnswer | null): Promise<void>;
}

export type Claim = { first: Operation } | { again: KeptAnswer };

export interface AnswerOnce {
  /**
   * Takes a request on, or has the answer that the first one got. A request that is worked on at this moment is waited for;
   * after 10 s it is `request_in_progress`. Throws `idempotency_key_reused` when the key came with another body.
   */
  claim(identity: RequestIdentity, body: Uint8Array): Promise<Claim>;
  /** Removes what has expired. */
  sweep(): Promise<void>;
}

/**
 * Answers a request that comes again within 24 h as it was answered first. The request is noted before anything is done
 * for it. When the process dies in between, or cannot say how it went (5xx), the next one with that key is worked on again, under the
 * same operation id, by which creates recognise their own record.
 */
export function createAnswerOnce(deps: AnswerOnceDependencies): AnswerOnce {
  const { db, secrets, log, clock } = deps;
  let known: Promise<AnswerSeal> | null = null;
  const seal = (): Promise<AnswerSeal> => {
    known ??= readAnswerSeal(secrets).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };

  async function claim(identity: RequestIdentity, body: Uint8Array): Promise<Claim> {
    const scope = scopeOf(identity);
    let current = await seal();
    let isFresh = false;
    const deadline = performance.now() + WAIT_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const fingerprint = current.fingerprint(body);
      const now = clock();
      const holder = randomUUID();
      const heldUntil = new Date(now.getTime() + HOLD_MS);
      const expiry = new Date(now.getTime() - ANSWER_KEPT_MS);
      const request = { scope, fingerprint, operation: randomUUID(), holder, now, heldUntil, expiry };
      const operation = await claimRequest(db, request);
      if (operation !== null) return { first: begin(operation, scope, holder, current) };
      const stored = await findRequest(db, scope);
      if (stored === null) continue;
      if (!stored.fingerprint.equals(fingerprint)) {
        if (isFresh) throw keyReused(identity.key);
        // The key of the seal may be another one since we have read it.
        isFresh = true;
        known = null;
        current = await seal();
        continue;
      }
      if (stored.answer !== null) return { again: await opened(stored.answer, scope, current) };
      if (performance.now() > deadline) throw inProgress(identity.key);
      await delay(pause);
    }
  }

  function begin(id: string, scope: Buffer, holder: string, current: AnswerSeal): Operation {
    const hold = (until: number) =>
      holdRequest(db, scope, holder, new Date(until)).catch((error: unknown) => {
        log.warn({ err: String(error) }, 'a request with an idempotency key cannot be held');
      });
    const renewal = setInterval(() => void hold(clock().getTime() + HOLD_MS), RENEW_MS).unref();
    return {
      id,
      end: async (answer) => {
        clearInterval(renewal);
        if (answer === null || !isAnswerKept(answer.status) || (answer.body?.length ?? 0) > ANSWER_MAX) {
          await hold(clock().getTime());
          return;
        }
        try {
          await storeAnswer(db, scope, holder, await closed(answer, scope, current));
        } catch (error) {
          log.warn({ err: String(error) }, 'the answer to a request with an idempotency key cannot be kept');
        }
      },
    };
  }

  return {
    claim,
    sweep: async () => {
      const expiry = new Date(clock().getTime() - ANSWER_KEPT_MS);
      while ((await removeExpiredRequests(db, expiry, SWEEP_CHUNK)) === SWEEP_CHUNK);
    },
  };
}

function scopeOf({ key, actor, tenant, method, url }: RequestIdentity): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([actor, tenant, method, url, key]))
    .digest();
}

async function closed({ status, headers, body }: KeptAnswer, scope: Buffer, seal: AnswerSeal) {
  const head = await seal.seal(Buffer.from(JSON.stringify({ status, headers })), scope);
  return { head, body: body === null ? null : await seal.seal(body, scope) };
}

async function opened(
  stored: { head: Buffer; body: Buffer | null },
  scope: Buffer,
  seal: AnswerSeal,
): Promise<KeptAnswer> {
  const head = JSON.parse((await seal.open(stored.head, scope)).toString()) as Omit<KeptAnswer, 'body'>;
  return { ...head, body: stored.body === null ? null : await seal.open(stored.body, scope) };
}

function keyReused(key: string) {
  return musterError(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' came with another body before; a new request needs a new key`,
  );
}

function inProgress(key: string) {
  return musterError('request_in_progress', `The first request with the Idempotency-Key '${key}' is still worked on`);
}
