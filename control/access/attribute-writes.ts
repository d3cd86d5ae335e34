import { keptReason } from '../../domain/reason.ts';
import { type Attribution, asAction, attributed, withActor, withReason } from '../../store/connection/attribution.ts';

/** Runs `work`; the audit records of what it writes, in whatever function, name who asked and with which request. */
export function attributeWrites<T>(attribution: Attribution, work: () => T): T {
  return attributed(attribution, work);
}

/** Runs `work` of a request that says who asks by what it does; its audit records name this one. */
export function attributeAs<T>(actor: string, work: () => T): T {
  return withActor(actor, work);
}

/** Runs `work` of Muster itself; its audit records name the part that did it. */
export function attributeTo<T>(actor: string, work: () => T): T {
  return attributed({ actor, requestId: null, via: null }, work);
}

/** Runs `work`; its audit records say why, in the words of a body. Without a reason there, that of the header stays. */
export function recordReason<T>(reason: string | null | undefined, work: () => T): T {
  const kept = keptReason(reason);
  return kept === null ? work() : withReason(kept, work);
}

/** Runs `work`; what it changes is recorded as this action in place of `update`. */
export function recordAs<T>(action: string, work: () => T): T {
  return asAction(action, work);
}
