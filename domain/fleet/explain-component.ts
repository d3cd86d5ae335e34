/** Why a component is not configured yet, and what would make it so. */
import type { Batch, Batcher } from '../batches/batch-schema.ts';
import { WHY_NOT_WORDS } from '../batches/why-not-words.ts';
import { foldHostlist } from '../components/hostlist.ts';
import type { ComponentDetail } from '../components/list-schema.ts';
import type { Explanation, ExplanationCondition } from '../explain-schema.ts';
import { shellWord } from '../text/shell-word.ts';
import type { StopState } from './stop-schema.ts';

export interface ComponentFacts {
  component: Pick<
    ComponentDetail,
    'id' | 'status' | 'why' | 'enabled' | 'desired_config' | 'error_count' | 'retry_policy' | 'session' | 'updated_at'
  >;
  /** Whether there is a configuration of the desired name. */
  isThere: boolean;
  stop: Pick<StopState, 'stopped' | 'since' | 'actor'>;
  batcher: Pick<Batcher, 'state' | 'paused_by' | 'backoff' | 'next_pass_at'>;
  /** The batch that it is in; null where it is in none. */
  batch: Pick<Batch, 'state' | 'why_not' | 'until' | 'session'> | null;
}

/** A condition with what a person can do when it does not hold, and when time alone makes it true. */
interface Judged extends ExplanationCondition {
  command: string | null;
  at?: string | null;
}

/** Returns the explanation. A component that is configured waits for nothing. */
export function explainComponent(facts: ComponentFacts): Explanation {
  const { status, why, updated_at } = facts.component;
  const state = status;
  if (status === 'configured') {
    const conditions = [{ text: why, holds: true, becomes_true_when: null }];
    return { state, since: updated_at, conditions, next: null, command: null };
  }
  const judged = [...ownConditions(facts), ...outerConditions(facts)];
  const first = judged.find(({ holds }) => !holds);
  const conditions = judged.map(({ text, holds, becomes_true_when }) => ({ text, holds, becomes_true_when }));
  const next =
    first === undefined
      ? { event: 'the next pass of the batcher takes it up', at: facts.batcher.next_pass_at }
      : { event: first.becomes_true_when ?? first.text, at: first.at ?? null };
  return { state, since: updated_at, conditions, next, command: first?.command ?? null };
}

function ownConditions({ component, isThere }: ComponentFacts): Judged[] {
  const { id, desired_config: desired, enabled, error_count: errors, retry_policy: tries, why } = component;
  const chosen = chosenBy(id);
  const set = `./muster component set ${chosen} --config NAME`;
  const isMissing = desired === '' || !isThere;
  return [
    judge(desired !== '', 'a configuration is desired', 'a desired configuration is set', set),
    ...(desired === '' ? [] : [judge(isThere, `there is a configuration ${desired}`, 'it is made', set)]),
    ...(isMissing
      ? []
      : [
          judge(
            component.status !== 'unconfigured',
            'each of its layers has a repository and a commit',
            `the configuration is completed: ${why}`,
            `./muster configuration get ${shellWord(desired)}`,
          ),
        ]),
    judge(enabled, 'it is enabled', 'it is enabled', `./muster component enable ${chosen}`),
    judge(
      tries === -1 || errors < tries,
      tries === -1 ? 'it is tried without end' : `its tries are not used up: errors ${errors} of ${tries}`,
      'its errors are reset, or its desired configuration is set',
      `./muster component reset-errors ${chosen}`,
    ),
  ];
}

function outerConditions({ component: { session }, stop, batcher, batch }: ComponentFacts): Judged[] {
  const { state, paused_by, backoff, next_pass_at } = batcher;
  const isWaiting = batch?.state === 'open' && batch.why_not !== null;
  const isSent = batch?.state === 'sent';
  const holder = session?.name ?? batch?.session?.name ?? '';
  return [
    judge(
      session === null && !isSent,
      'no session has it',
      holder === '' ? 'its session ends' : `session ${holder} ends`,
      holder === '' ? null : `./muster session get ${shellWord(holder)}`,
    ),
    judge(
      !stop.stopped,
      'not everything is stopped',
      `${stop.actor ?? 'a person'} or another lets it go on`,
      './muster go',
    ),
    judge(state !== 'disabled', 'the batcher is not disabled', 'option batcher_disable is set to false', DISABLED),
    judge(
      state !== 'paused',
      'the batcher is not paused',
      `it is resumed${paused_by === null ? '' : `; ${paused_by} paused it`}`,
      './muster batch resume',
    ),
    judge(state !== 'late', 'the batcher makes its passes', 'a worker runs', './muster status'),
    ...(state === 'backoff'
      ? [{ ...judge(false, 'the batcher is not in back-off', WHY_NOT_WORDS.backoff, null), at: backoff?.until ?? null }]
      : []),
    batch === null
      ? { ...judge(false, 'it is in a batch', 'the next pass of the batcher takes it up', null), at: next_pass_at }
      : { ...judge(!isWaiting, 'its batch may be sent', waitOf(batch), null), at: batch.until },
  ];
}

const DISABLED = './muster option set batcher_disable=false';

const waitOf = ({ why_not }: NonNullable<ComponentFacts['batch']>) => (why_not === null ? '' : WHY_NOT_WORDS[why_not]);

function judge(holds: boolean, text: string, when: string, command: string | null): Judged {
  return { text, holds, becomes_true_when: holds ? null : when, command: holds ? null : command };
}

/** The component as a word of a command. A `-` in front would be a flag. */
const chosenBy = (id: string) => shellWord(foldHostlist([id]).replace(/^-/, '\\-'));
