import type { AuditRecord, TimelineEntry } from '../../../domain/audit/schema.ts';
import { changeText } from '../../output/change-text.ts';
import { cell, type View } from '../../output/columns.ts';
import { layerWords } from '../../output/layers.ts';

export const auditView: View<AuditRecord> = {
  noun: 'records',
  name: (record) => record.id,
  columns: [
    { title: 'TIME', value: (record) => record.time },
    { title: 'BY', value: (record) => cell(record.actor) },
    { title: 'ACTION', value: (record) => record.action },
    { title: 'KIND', value: (record) => record.kind },
    { title: 'NAME', value: (record) => record.name },
    { title: 'CHANGE', value: changeText },
    { title: 'REASON', value: (record) => cell(record.reason), wide: true },
    { title: 'VIA', value: (record) => cell(record.via), wide: true },
    { title: 'REQUEST', value: (record) => cell(record.request_id), wide: true },
  ],
};

export const timelineView: View<TimelineEntry> = {
  noun: 'entries',
  name: (entry) => entry.id,
  columns: [
    { title: 'TIME', value: (entry) => entry.time },
    { title: 'TYPE', value: (entry) => entry.type },
    { title: 'BY', value: byText },
    { title: 'WHAT', value: whatText },
    { title: 'COMMIT', value: (entry) => ('commit' in entry ? cell(entry.commit) : ''), wide: true },
    { title: 'REASON', value: (entry) => (entry.type === 'change' ? cell(entry.reason) : ''), wide: true },
    { title: 'REQUEST', value: (entry) => (entry.type === 'change' ? cell(entry.request_id) : ''), wide: true },
  ],
};

function byText(entry: TimelineEntry): string {
  if (entry.type === 'change') return cell(entry.actor);
  if (entry.type === 'action') return `plan/${entry.plan_name}`;
  return entry.session === null ? '' : `session/${entry.session}`;
}

function whatText(entry: TimelineEntry): string {
  switch (entry.type) {
    case 'change':
      return `${entry.action} ${changeText(entry)}`.trimEnd();
    case 'layer': {
      const counts = (['ok', 'changed', 'failures', 'unreachable'] as const).map((word) => `${word}=${entry[word]}`);
      const layer = `${layerWords(entry.layer, [], cell(entry.playbook))} ${entry.status} (${counts.join(' ')})`;
      const why = entry.message ? `: ${entry.message}` : '';
      return `${entry.is_check ? 'check of ' : ''}${layer}${takenText(entry)}${why}`;
    }
    case 'batch': {
      const end = entry.result === null ? '' : `, ${entry.result}${entry.reason === null ? '' : ` (${entry.reason})`}`;
      return `batch of ${cell(entry.configuration)} ${entry.state}${end}`;
    }
    case 'action': {
      const why = entry.message ? `: ${entry.message}` : '';
      const nth = entry.number === 1 ? '' : ` (attempt ${entry.number})`;
      return `action ${entry.node}${nth} ${cell(entry.outcome)}${why}`;
    }
    case 'drift':
      return `${layerWords(entry.layer, [], cell(entry.playbook))} ${entry.status}, ${entry.changed} tasks would change it`;
  }
}

function takenText({ status, taken_as }: Extract<TimelineEntry, { type: 'layer' }>): string {
  if (taken_as === 'failed') return ', counted an error';
  return taken_as === null || taken_as === status ? '' : `, taken as ${taken_as}`;
}
