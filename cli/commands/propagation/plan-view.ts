/** Plans, their nodes and transitions as the command line shows them. */
import type { NodeEvent } from '../../../domain/propagation/plan-request-schema.ts';
import type { PlanNodeView, PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { someOf } from '../../output/names.ts';
import { fieldList } from '../../output/table.ts';
import { summaryLine } from './plan-words.ts';

export const planView: View<PlanView> = {
  noun: 'plans',
  name: ({ id }) => id,
  columns: [
    { title: 'ID', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'DONE', value: ({ percent }) => `${percent} %` },
    { title: 'NODES', value: ({ summary }) => summaryLine(summary), wide: true },
    { title: 'MADE', value: ({ created_at }) => created_at },
  ],
};

export const nodeView: View<PlanNodeView> = {
  noun: 'nodes',
  name: ({ id }) => id,
  columns: [
    { title: 'NODE', value: ({ id }) => id },
    { title: 'ORIGIN', value: ({ origin }) => origin },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'OUTCOME', value: ({ outcome }) => cell(outcome) },
    { title: 'ATTEMPTS', value: ({ attempts }) => cell(attempts) },
    { title: 'TARGET', value: ({ target }) => cell(target) },
    { title: 'WEIGHT', value: ({ weight }) => cell(weight), wide: true },
    { title: 'REASON', value: ({ message, reason, blocked_by }) => message ?? reason ?? someOf(blocked_by) },
  ],
};

export const nodeEventView: View<NodeEvent> = {
  noun: 'events',
  name: ({ node }) => node,
  columns: [
    { title: 'TIME', value: ({ time }) => time },
    { title: 'NODE', value: ({ node }) => node },
    { title: 'FROM', value: ({ from }) => from },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'OUTCOME', value: ({ outcome }) => cell(outcome) },
    { title: 'MESSAGE', value: ({ message, reason }) => message ?? reason ?? '' },
  ],
};

/** Returns what `plan get` shows. */
export function planDetails(plan: PlanView): string {
  const { cycles, recovered, unsettled, follow_up, suppressed } = plan;
  const list = (title: string, names: readonly string[]): [string, string][] =>
    names.length === 0 ? [] : [[title, someOf(names)]];
  return fieldList([
    ['Id', plan.id],
    ['Name', plan.name],
    ['State', plan.wish === null ? plan.state : `${plan.state}, to ${plan.wish}`],
    ['Nodes', `${summaryLine(plan.summary)} (${plan.percent} %)`],
    ['Runs', cell(plan.run_number)],
    ['Made', plan.created_at],
    ['Started', cell(plan.started_at)],
    ['Ended', cell(plan.ended_at)],
    ...cycles.map(({ head, repeated }): [string, string] => [
      'Loop',
      `${head} goes first, ${repeated.length === 0 ? 'nothing runs twice' : `run twice: ${someOf(repeated)}`}`,
    ]),
    ...list(
      'Suppressed',
      suppressed.map(({ parent, child, reason }) => `${parent} to ${child} (${reason})`),
    ),
    ...list('Recovered', recovered),
    ...list('Unsettled', unsettled),
    ...list('Follow up', follow_up),
  ]);
}
