import type {
  AbsentConfiguration,
  Batch,
  BatchDetail,
  Batcher,
  BatcherDetail,
  BatchKey,
} from '../../../domain/batches/batch-schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { counted, someOf } from '../../output/names.ts';
import { fieldList } from '../../output/table.ts';
import { duration, timeOf } from '../../output/times.ts';

/** `3 window, 1 lease`. */
function reasonsCell(reasons: Partial<Record<string, number>>): string {
  return Object.entries(reasons)
    .map(([why, count]) => `${count} ${why}`)
    .join(', ');
}

/** Why it is not sent, and for how long yet; how it ended; what its session does. */
function standing(batch: Batch): string {
  if (batch.state === 'ended') return `${batch.result}: ${cell(batch.reason)}`;
  if (batch.state === 'sent') return batch.session?.status ?? 'session is gone';
  if (batch.why_not === 'controller') return `${waitText(batch)}: ${cell(batch.refusal)}`;
  if (batch.refusal !== null) return `refused: ${batch.refusal}`;
  if (batch.why_not === null) return 'due';
  return waitText(batch);
}

function waitText({ why_not, seconds_left }: Batch): string {
  return seconds_left === null ? cell(why_not) : `${why_not}, ${duration(Math.ceil(seconds_left) * 1000)} left`;
}

const since = (time: string, now: number): string => duration(now - (timeOf(time) ?? now));

/** How batches are listed; `now` in milliseconds since 1970. */
export const batchView = (now: number): View<Batch> => ({
  noun: 'batches',
  name: (batch) => batch.id,
  columns: [
    { title: 'ID', value: (batch) => batch.id },
    { title: 'CONFIGURATION', value: (batch) => batch.configuration },
    { title: 'LAYERS', value: (batch) => batch.layers },
    { title: 'COMPONENTS', value: (batch) => cell(batch.components) },
    { title: 'AGE', value: (batch) => since(batch.opened_at, now) },
    { title: 'STATE', value: (batch) => batch.state },
    { title: 'WHY', value: standing },
    { title: 'SESSION', value: (batch) => cell(batch.session?.name) },
    { title: 'KEY', value: (batch) => batch.key, wide: true },
    { title: 'LEASED', value: (batch) => cell(batch.leased), wide: true },
    { title: 'TRIES', value: (batch) => cell(batch.tries), wide: true },
    { title: 'PROBE', value: (batch) => (batch.probe ? 'yes' : 'no'), wide: true },
  ],
});

export const batchKeyView: View<BatchKey> = {
  noun: 'keys',
  name: ({ key }) => key,
  columns: [
    { title: 'KEY', value: ({ key }) => key },
    { title: 'OPEN', value: ({ open }) => cell(open) },
    { title: 'SENT', value: ({ sent }) => cell(sent) },
    { title: 'COMPONENTS', value: ({ components }) => cell(components) },
    { title: 'WHY NOT', value: ({ why_not }) => reasonsCell(why_not) },
    { title: 'FAILURES', value: ({ failures_in_a_row }) => cell(failures_in_a_row) },
    { title: 'BACK-OFF UNTIL', value: ({ backoff }) => cell(backoff?.until) },
    { title: 'HELD BY', value: ({ controller }) => cell(controller?.reason) },
    { title: 'PAUSED', value: ({ paused, paused_by }) => (paused ? `by ${paused_by ?? 'somebody'}` : '') },
  ],
};

/** A batch for people, with its components. */
export function batchDetails(batch: BatchDetail): string {
  return fieldList([
    ['id', batch.id],
    ['key', batch.key],
    ['configuration', batch.configuration],
    ['layers', batch.layers],
    ['state', batch.state],
    ['why', standing(batch)],
    ['opened', batch.opened_at],
    ['sent', cell(batch.sent_at)],
    ['session', cell(batch.session?.name)],
    ['ended', cell(batch.ended_at)],
    ['tries', cell(batch.tries)],
    ['leased', cell(batch.leased)],
    ['components', batch.members === null ? 'not known any more' : batch.members.join(', ')],
  ]);
}

/** The batcher in one line. */
export function batcherLine(batcher: Batcher): string {
  const { state, backoff, open, sent, held_keys, held_reason } = batcher;
  const held = backoff === null ? '' : ` until ${backoff.until}${backoff.probe === null ? '' : ', a probe is out'}`;
  const words: Record<Batcher['state'], string> = {
    working: 'working',
    backoff: `back-off${held}`,
    paused: `paused by ${batcher.paused_by ?? 'somebody'}`,
    disabled: 'disabled by option batcher_disable',
    late: `no pass since ${batcher.last_pass_at ?? 'the start'}`,
  };
  const faults = held_keys === 0 ? '' : `; ${held_keys} held by a fault of the controller: ${cell(held_reason)}`;
  return `${words[state]}; ${open} open and ${sent} sent batches${faults}`;
}

/** Which components wait for a configuration that is not there. */
function absentText({ configuration, components, ids }: AbsentConfiguration): string {
  const wait = components === 1 ? 'wants it' : 'want it';
  return `there is no configuration ${cell(configuration)}, and ${counted(components, 'component')} ${wait} (${someOf(ids, ', ', components)})`;
}

/** The same with what the open ones wait for. */
export function batcherSummary(batcher: BatcherDetail): string {
  const {
    due,
    waits,
    leased_components: leased,
    failed_components: failed,
    absent_configurations: absent,
    results,
    last_pass_at,
    last_pass_ms,
  } = batcher;
  const parts = [
    batcherLine(batcher),
    due > 0 ? `${due} due` : '',
    reasonsCell(waits),
    leased > 0 ? `${leased} components in other sessions` : '',
    failed > 0
      ? `${failed} components have used up their tries (component list --status failed, component reset-errors)`
      : '',
    ...(absent ?? []).map(absentText),
    `${results.failed} of the last ${results.remembered} failed`,
    last_pass_at === null ? '' : `last pass ${last_pass_at} (${last_pass_ms} ms)`,
  ];
  return `batcher: ${parts.filter((part) => part !== '').join('; ')}`;
}
