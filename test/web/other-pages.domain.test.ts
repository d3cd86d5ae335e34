/** What the pages of schedules, access and system make of records. */
import { describe, expect, test } from '@jest/globals';
import { actingRefusal, readingRefusal } from '../../web/src/access/may.ts';
import { optionValue } from '../../web/src/configurations/option-value.ts';
import { newestText } from '../../web/src/runs/newest-text.ts';
import { actionText, resultText, runText } from '../../web/src/schedules/schedule-text.ts';
import { connectionsText, gaugeRows } from '../../web/src/service/system-text.ts';
import { webLink } from '../../web/src/service/web-link.ts';
import { sizeText } from '../../web/src/shared/size-text.ts';

describe('who may', () => {
  test.each([
    ['admin', 'admin', null],
    ['operator', 'admin', 'Your role operator may not do this: it needs admin'],
    ['operator', 'operator', null],
    ['reader', 'operator', 'Your role reader may not do this: it needs operator'],
    ['node', 'operator', 'Your role node may not do this: it needs operator'],
  ] as const)('act as %s where %s is needed: %j', (role, least, refusal) => {
    expect(actingRefusal({ role }, 'live', least)).toBe(refusal);
    expect(readingRefusal({ role }, least)).toBe(refusal?.replace('do', 'read') ?? null);
  });
});

describe('a schedule', () => {
  test.each([
    [{ reconfigure: { filter: {} } }, 'reconfigure all components'],
    [{ reconfigure: { filter: { tags: 'role=web' } } }, 'reconfigure components with tags role=web'],
    [{ check: { filter: {}, reconfigure: true } }, 'check all components for drift, and reconfigure what drifted'],
    [{ refresh: {} }, 'resolve the branches of all configurations anew'],
    [{ refresh: { configurations: ['a', 'b'] } }, 'resolve the branches of a, b anew'],
  ])('%j: %j', (action, text) => expect(actionText(action)).toBe(text));

  test('has runs in words', () => {
    expect(runText({ state: 'failed', error: { code: 'x', detail: 'no way' } })).toBe('failed: no way');
    expect(resultText({ result: null })).toBe('');
    expect(resultText({ result: { components: { count: 2, ids: [] }, sessions: ['s1', 's2'] } })).toBe(
      '2 components; sessions s1, s2',
    );
  });
});

describe('an option', () => {
  test.each([
    [3, '17', 17],
    [3, 'many', undefined],
    [3, '', undefined],
    [true, 'false', false],
    [true, 'no', undefined],
    ['INFO', ' DEBUG ', 'DEBUG'],
    ['INFO', '', ''],
  ] as const)('that is %j is %j typed: %j', (now, text, value) => expect(optionValue(now, text)).toBe(value));
});

describe('an address', () => {
  test.each([
    ['https://a.example/x', 'https://a.example/x'],
    ['javascript:alert(1)', null],
    ['nothing', null],
  ])('%j is the link %j', (address, link) => expect(webLink(address)).toBe(link));
});

describe('the system', () => {
  test.each([
    [null, ''],
    [0, '0 KiB'],
    [1_025, '2 KiB'],
    [1024 ** 2, '1.0 MiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [3 * 1024 ** 5, '3072.0 TiB'],
  ])('%j bytes are %j', (bytes, text) => expect(sizeText(bytes)).toBe(text));

  test('has its connections and gauges in numbers, where they are known', () => {
    const database = { ok: true, reason: null, size: 1, schema: '0001' };
    const text = (connections: number | null, max_connections: number | null) =>
      connectionsText({ ...database, connections, max_connections });
    expect([text(7, 100), text(7, null), text(null, null)]).toEqual(['7 of 100', '7', 'not known']);
    expect(gaugeRows(null)).toEqual([]);
    expect(gaugeRows({ queue_length: 0, event_lag_seconds: 1.26, drift_oldest_check_seconds: null })).toEqual([
      ['muster_queue_length', '0'],
      ['muster_event_lag_seconds', '1.3'],
      ['muster_drift_oldest_check_seconds', ''],
    ]);
  });
});

describe('the newest output', () => {
  test('is text of lines', () => {
    expect(newestText([])).toBe('');
    expect(newestText(['one\ntw', 'o\r\n', '\tthree\u202e\n'])).toBe('one\ntwo\n    three\\u202e');
  });

  test('has an end of any output that a page can draw', () => {
    const lines = newestText(Array.from({ length: 5_000 }, (_, index) => `${index}\n`)).split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([1_000, '4000', '4999']);
    const long = newestText(Array.from({ length: 200 }, (_, index) => `${index % 10}`.repeat(256 * 1024)));
    expect([long.length, long.replaceAll('9', '')]).toEqual([200_000, '']);
  });
});
