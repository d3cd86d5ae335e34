import { describe, expect, test } from '@jest/globals';
import { auditView, timelineView } from '../../cli/commands/audit/audit-view.ts';
import { changeText } from '../../cli/output/change-text.ts';
import { renderList } from '../../cli/output/render.ts';
import { type AuditRecord, type TimelineEntry, TimelineEntrySchema } from '../../domain/audit/schema.ts';

const record: AuditRecord = {
  id: '1-1',
  time: '2026-11-21T10:00:00.000Z',
  actor: 'token/ops',
  action: 'update',
  kind: 'component',
  name: 'x1',
  before: { enabled: false },
  after: { enabled: true },
  request_id: 'r1',
  via: 'PATCH /v3/components/:component_id',
  reason: null,
};

describe('a change in words', () => {
  test.each([
    [{ before: { enabled: false }, after: { enabled: true } }, 'enabled: false -> true'],
    [{ before: {}, after: { retry_policy: 2 } }, 'retry_policy: nothing -> 2'],
    [{ before: { b: 1, a: null }, after: { b: 2, a: 'x' } }, 'a: null -> "x", b: 1 -> 2'],
    [{ before: null, after: { a: 1 } }, ''],
    [{ before: { a: 1 }, after: null }, ''],
    [{ before: {}, after: {} }, ''],
    [{ before: { t: 'y'.repeat(90) }, after: { t: '' } }, `t: "${'y'.repeat(59)}... -> ""`],
  ])('%j', (change, text) => {
    expect(changeText(change)).toBe(text);
  });

  test('stays on its line, whatever it holds', async () => {
    const text = await renderList(auditView, [{ ...record, name: 'a\u001b[2J\nb', actor: '\u202e' }], 'table');
    expect(text.split('\n')).toHaveLength(3);
    for (const character of ['\u001b', '\u202e']) expect(text).not.toContain(character);
  });
});

const base = { id: '1', time: '2026-11-21T10:00:00.000Z' };
const layer = {
  ...base,
  type: 'layer',
  message: null,
  session: 's1',
  session_id: 'i',
  configuration: 'site',
  layer: 0,
  clone_url: 'u',
  playbook: 'p.yml',
  commit: 'c',
  attempt: 1,
  status: 'failed',
  is_check: false,
  taken_as: 'failed',
  ok: 3,
  changed: 1,
  failures: 1,
  unreachable: 0,
  skipped: 0,
  rescued: 0,
  ignored: 0,
} as const;
const batch = {
  ...base,
  type: 'batch',
  batch: 'b',
  state: 'ended',
  configuration: 'site',
  session: 'batcher-b',
  session_id: 'i',
  tries: 1,
  result: 'failure',
  reason: 'pending_timeout',
} as const;
const { actor, action, before, after, request_id, via } = record;

test.each<[TimelineEntry, string, string]>([
  [
    { ...base, type: 'change', actor, action, before, after, request_id, via, reason: null },
    'token/ops',
    'update enabled: false -> true',
  ],
  [layer, 'session/s1', 'layer 1 p.yml failed (ok=3 changed=1 failures=1 unreachable=0), counted an error'],
  [
    { ...layer, message: 'Install: rc 100: E: gone (a.yml:3)' },
    'session/s1',
    'layer 1 p.yml failed (ok=3 changed=1 failures=1 unreachable=0), counted an error: Install: rc 100: E: gone (a.yml:3)',
  ],
  [
    { ...layer, taken_as: 'incomplete' },
    'session/s1',
    'layer 1 p.yml failed (ok=3 changed=1 failures=1 unreachable=0), taken as incomplete',
  ],
  [
    { ...layer, status: 'applied', taken_as: 'applied' },
    'session/s1',
    'layer 1 p.yml applied (ok=3 changed=1 failures=1 unreachable=0)',
  ],
  [
    { ...layer, session: null, playbook: null, is_check: true, status: 'applied', taken_as: null },
    '',
    'check of layer 1 applied (ok=3 changed=1 failures=1 unreachable=0)',
  ],
  [batch, 'session/batcher-b', 'batch of site ended, failure (pending_timeout)'],
  [{ ...batch, state: 'open', session: null, result: null, reason: null }, '', 'batch of site open'],
  [
    {
      ...base,
      type: 'drift',
      session: 'c1',
      session_id: 'i',
      configuration: 'site',
      layer: 1,
      clone_url: 'u',
      playbook: 'p.yml',
      commit: 'c',
      status: 'drifted',
      changed: 2,
    },
    'session/c1',
    'layer 2 p.yml drifted, 2 tasks would change it',
  ],
])('an entry of a timeline in words: %j', async (entry, by, what) => {
  expect(TimelineEntrySchema.parse(entry)).toEqual(entry);
  const [, line = ''] = (await renderList(timelineView, [entry], 'tsv')).split('\n');
  expect(line.split('\t').slice(0, 4)).toEqual([base.time, entry.type, by, what]);
});
