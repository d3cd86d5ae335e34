/** What a reboot means for what is reported of a component (cfs-flows 8.13). */
import { musterError } from '../errors.ts';
import type { Component, ComponentBody } from './schema.ts';
import { splitCommit } from './state-layers.ts';

/** What the server knows beside the record when a component is patched. */
export interface BootFacts {
  /** When the component last booted, or null when it never said so. */
  bootedAt: Date | null;
  /** When the session that `state_append` names was let in, or null when it names none of ours. */
  sessionSince: Date | null;
  now: Date;
  /** Whether the body tells of a boot. */
  boots: boolean;
}

/** Whether the body names a boot that is not stored yet. */
export function namesNewBoot(stored: Pick<Component, 'muster'>, body: ComponentBody): boolean {
  return body.muster !== undefined && body.muster.boot !== stored.muster?.boot;
}

/**
 * Whether the body tells of a boot: it names a new one, or it is the report of CFS's own reporter, which knows no boots: it clears the
 * state and enables the component. A person who clears the state alone orders that it is configured again, no more.
 */
export function tellsBoot(stored: Pick<Component, 'muster'>, body: ComponentBody): boolean {
  if (body.muster !== undefined) return namesNewBoot(stored, body);
  return body.state?.length === 0 && body.enabled === true;
}

/**
 * Whether a report comes from a session that was let in before the component booted: what it speaks of may be gone. At the
 * very same moment it may be too.
 */
export function isBeforeBoot(sessionSince: Date | null, bootedAt: Date | null): boolean {
  return sessionSince !== null && bootedAt !== null && sessionSince.getTime() <= bootedAt.getTime();
}

/** `bad_request` for a patch that tells of a boot and not what is left of the state; else a later report would be taken for its repetition. */
export function requireStateWithBoot(body: ComponentBody): void {
  if (body.muster === undefined || body.state !== undefined) return;
  throw musterError('bad_request', `'muster.boot' needs 'state' beside it: [] clears what was reached`, 'muster.boot');
}

/**
 * What the patch means for this component: the same boot again clears nothing that was reached since then, and a report of a
 * session from before the boot says that its layer is incomplete, and nothing about errors.
 */
export function patchAfterBoot(stored: Component, body: ComponentBody, facts: BootFacts): ComponentBody {
  return withoutOldReport(withoutRepetition(stored, body), {
    ...facts,
    bootedAt: facts.boots ? facts.now : facts.bootedAt,
  });
}

function withoutRepetition(stored: Component, body: ComponentBody): ComponentBody {
  const isRepetition = body.muster !== undefined && !namesNewBoot(stored, body) && body.state?.length === 0;
  if (!isRepetition) return body;
  const { state: _, ...rest } = body;
  return rest;
}

function withoutOldReport(body: ComponentBody, { sessionSince, bootedAt }: BootFacts): ComponentBody {
  if (body.state_append === undefined || !isBeforeBoot(sessionSince, bootedAt)) return body;
  const { error_count: _, state_append, ...rest } = body;
  const { commit } = splitCommit(state_append.commit);
  return { ...rest, state_append: { ...state_append, commit: `${commit}_incomplete` } };
}
