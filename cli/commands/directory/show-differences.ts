/** What a plan would change, by the word of the server. */
import type { DryRunAnswer } from '../../../domain/service/dry-run-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { type Format, isValueFormat } from '../../output/formats.ts';
import { memberChanges } from '../../output/member-changes.ts';
import { counted } from '../../output/names.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { becomesText, effectOf } from '../../preview.ts';
import { type Plan, type PlannedChange, subjectOf } from './plan-changes.ts';

interface Refusal {
  code: string;
  detail: string;
}

interface Difference {
  change: PlannedChange;
  /** What the server would do; null where it refuses the change as things are now. */
  effect: DryRunAnswer | null;
  refusal: Refusal | null;
  /** Records that differ by the word of the server; of a request for many some may be as the directory says. */
  count: number;
}

/** Refusals that a change before it may take away: what it names is not there yet, or still in use. */
const MAY_PASS: readonly number[] = [EXIT.usage, EXIT.notFound, EXIT.conflict];
const DONE = { created: 'create', changed: 'update', deleted: 'delete' } as const;

/**
 * Writes what differs, and returns whether anything does. Throws what the server refuses a change with, unless it may depend on a change
 * before it: that is shown as refused.
 */
export async function showDifferences(
  context: CliContext,
  api: ApiClient,
  plan: Plan,
  { output = 'table' }: { output?: Format | undefined },
): Promise<boolean> {
  const differences: Difference[] = [];
  for (const change of plan.changes) {
    const difference = await differenceOf(api, change, differences.length > 0);
    plan.unchanged += change.names.length - difference.count;
    if (difference.count > 0) differences.push(difference);
  }
  if (isValueFormat(output)) writeData(context, await renderValue(shownValue(plan, differences), output));
  else
    writeData(
      context,
      differences
        .flatMap(linesOf)
        .map((line) => `${line}\n`)
        .join(''),
    );
  const warnings = differences.flatMap(({ effect }) => effect?.warnings ?? []);
  for (const warning of [...plan.warnings, ...warnings]) say(context, warning.replace(/^(warning: )?/, 'warning: '));
  const count = differences.reduce((sum, difference) => sum + difference.count, 0);
  say(
    context,
    `${counted(count, 'record')} ${count === 1 ? 'differs' : 'differ'}, ${plan.unchanged} as in the directory`,
  );
  return differences.length > 0;
}

async function differenceOf(api: ApiClient, change: PlannedChange, isBehindOthers: boolean): Promise<Difference> {
  try {
    const effect = await effectOf(api, change.request);
    return { change, effect, refusal: null, count: Math.min(effect.changed, change.names.length) };
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    if (!isBehindOthers || error.code === 'rehearsal_unsupported' || !MAY_PASS.includes(error.exit)) {
      throw refusedChange(change, error);
    }
    const refusal = { code: error.code, detail: error.message };
    return { change, effect: null, refusal, count: change.names.length };
  }
}

/** The failure with the file and the record that it is about. */
export function refusedChange(change: PlannedChange, failure: CliFailure): CliFailure {
  const place = [change.file, subjectOf(change)].filter((part) => part !== undefined).join(': ');
  return new CliFailure(failure.code, `${place}: ${failure.message}`, failure.exit, failure.fix, failure.mistakes);
}

/** The difference in lines: each record with its members, then what becomes of components. */
function linesOf({ change, effect, refusal }: Difference): string[] {
  if (effect === null) {
    const reason = refusal === null ? '' : `: ${refusal.code}: ${refusal.detail}`;
    const subject = `${DONE[change.action]} ${subjectOf(change)}`;
    return [subject, `  refused as things are now${reason}; changes before it may take that away`];
  }
  const lines = effect.changes.flatMap(({ action, kind, name, ...values }) => [
    // The one record of options is called as its kind.
    `${action} ${kind}${name === kind ? '' : ` ${name}`}`,
    ...memberChanges(values).map((text) => `  ${text}`),
  ]);
  if (effect.changed > effect.changes.length) lines.push(`and ${effect.changed - effect.changes.length} more`);
  return [...lines, ...effect.becomes.map(becomesText)];
}

/** The differences for programs. */
function shownValue(plan: Plan, differences: readonly Difference[]): unknown {
  return {
    different: differences.length > 0,
    unchanged: plan.unchanged,
    differences: differences.map(({ change: { kind, action, names, file = null }, effect, refusal, count }) => ({
      ...{ kind, action: DONE[action], names, count, file, refusal },
      ...{ changes: effect?.changes ?? [], becomes: effect?.becomes ?? [] },
    })),
    warnings: plan.warnings,
  };
}
