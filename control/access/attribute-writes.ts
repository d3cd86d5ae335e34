import { type Attribution, asAction, attributed } from '../../store/connection/attribution.ts';

/** Runs `work`; the audit records of what it writes, in whatever function, name who asked and with which request. */
export function attributeWrites<T>(attribution: Attribution, work: () => T): T {
  return attributed(attribution, work);
}

/** Runs `work` of Muster itself; its audit records name the part that did it. */
export function attributeTo<T>(actor: string, work: () => T): T {
  return attributed({ actor, requestId: null, via: null }, work);
}

/** Runs `work`; what it changes is recorded as this action in place of `update`. */
export function recordAs<T>(action: string, work: () => T): T {
  return asAction(action, work);
}
