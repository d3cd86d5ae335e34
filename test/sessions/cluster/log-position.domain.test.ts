import { describe, expect, test } from '@jest/globals';
import { createLogPosition, type LogPart, type LogPosition } from '../../../drivers/kubernetes-runner/log-position.ts';

const MIB = 1024 * 1024;
const stamp = (second: number) => `2026-11-22T10:00:${String(second).padStart(2, '0')}.000000000Z`;

/** Reads all of a log from its beginning, in chunks as a connection brings them. */
function read(position: LogPosition, log: Buffer, chunk = 64 * 1024): LogPart[] {
  position.restart();
  const parts: LogPart[] = [];
  for (let at = 0; at < log.length; at += chunk) parts.push(...position.take(log.subarray(at, at + chunk)));
  return parts;
}

/** Their text; fails when one does not begin where the one before ended. */
function textOf(parts: LogPart[], from = 0): string {
  let at = from;
  for (const { start, end } of parts) {
    expect(start).toBe(at);
    at = end;
  }
  return parts.map(({ text }) => text).join('');
}

/** Bytes of the longest part. */
const longest = (parts: LogPart[]) => Math.max(...parts.map(({ start, end }) => end - start));

describe('a position in a log', () => {
  test('hands over a line that does not end in pieces of whole characters', () => {
    const text = `${'ä'.repeat(2 * MIB)}x`;
    const log = Buffer.from(`${stamp(1)} first\n${stamp(2)} ${text}\n${stamp(3)} last\n`);
    for (const chunk of [64 * 1024, 64 * 1024 - 1]) {
      const parts = read(createLogPosition(0), log, chunk);
      expect(textOf(parts) === `first\n${text}\nlast\n`).toBe(true);
      expect(longest(parts)).toBeLessThan(1.2 * MIB);
    }
  });

  test('goes on inside of such a line, after a cut and in a new process', () => {
    const text = 'ä'.repeat(2 * MIB);
    const log = Buffer.from(`${stamp(1)} first\n${stamp(2)} ${text}\n${stamp(2)} same time\n`);
    const position = createLogPosition(0);
    const before = read(position, log.subarray(0, 3 * MIB));
    const told = before.at(-1)?.end ?? 0;
    expect(told).toBeGreaterThan(2 * MIB);
    const after = [...read(position, log), ...read(position, log)];
    expect(textOf([...before, ...after]) === `first\n${text}\nsame time\n`).toBe(true);
    const anew = read(createLogPosition(told), log);
    expect(textOf(anew, told) === after.map((part) => part.text).join('')).toBe(true);
  });

  test('tells what stands behind the last newline when the log is over', () => {
    const position = createLogPosition(0);
    const parts = read(position, Buffer.from(`${stamp(1)} first\n${stamp(2)} rest`));
    expect(textOf([...parts, ...position.finish()])).toBe('first\nrest');
    expect(position.finish()).toEqual([]);
  });
});
