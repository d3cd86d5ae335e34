import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CronRange, parseCron } from '../../domain/schedules/cron.ts';
import { timeZoneMistake } from '../../domain/schedules/time-zone.ts';

const all = (start: number, end: number, step = 1): CronRange[] => [{ start, end, step }];

const at = (cron: string) => {
  const parsed = parseCron(cron);
  if ('mistake' in parsed) throw new Error(`${cron}: ${parsed.mistake}`);
  return parsed.calendars;
};

describe('a cron expression', () => {
  const every = { hour: all(0, 23), dayOfMonth: all(1, 31), month: all(1, 12), dayOfWeek: all(0, 6) };
  test.each([
    ['* * * * *', { ...every, minute: all(0, 59) }],
    ['0 3 * * *', { ...every, minute: all(0, 0), hour: all(3, 3) }],
    ['*/15 * * * *', { ...every, minute: all(0, 59, 15) }],
    ['5/20 * * * *', { ...every, minute: all(5, 59, 20) }],
    ['10-20/5,45 * * * *', { ...every, minute: [...all(10, 20, 5), ...all(45, 45)] }],
    ['0 0 1 * *', { ...every, minute: all(0, 0), hour: all(0, 0), dayOfMonth: all(1, 1) }],
    ['0 0 * JAN-mar *', { ...every, minute: all(0, 0), hour: all(0, 0), month: all(1, 3) }],
    ['0 0 * dec *', { ...every, minute: all(0, 0), hour: all(0, 0), month: all(12, 12) }],
    ['0 0 * * mon-fri', { ...every, minute: all(0, 0), hour: all(0, 0), dayOfWeek: all(1, 5) }],
    ['0 0 * * 7', { ...every, minute: all(0, 0), hour: all(0, 0), dayOfWeek: all(0, 0) }],
    ['0 0 * * 5-7', { ...every, minute: all(0, 0), hour: all(0, 0), dayOfWeek: [...all(0, 0), ...all(5, 6)] }],
    [
      '0 0 * * */2',
      { ...every, minute: all(0, 0), hour: all(0, 0), dayOfWeek: [0, 2, 4, 6].flatMap((d) => all(d, d)) },
    ],
    ['0 0 29 2 *', { ...every, minute: all(0, 0), hour: all(0, 0), dayOfMonth: all(29, 29), month: all(2, 2) }],
    [' 0\t3  * * * ', { ...every, minute: all(0, 0), hour: all(3, 3) }],
  ])('%s', (cron, calendar) => {
    expect(at(cron)).toEqual([calendar]);
  });

  test('with both days restricted means either, as crontab has it', () => {
    const [days, weekdays, ...more] = at('0 0 1,15 * mon');
    expect(more).toEqual([]);
    expect([days?.dayOfMonth, days?.dayOfWeek]).toEqual([[...all(1, 1), ...all(15, 15)], all(0, 6)]);
    expect([weekdays?.dayOfMonth, weekdays?.dayOfWeek]).toEqual([all(1, 31), all(1, 1)]);
    // A day that never comes leaves the weekdays.
    expect(at('0 0 31 2 mon')).toHaveLength(2);
  });

  test('with a day that begins with a star means both', () => {
    expect(at('0 0 */2 * mon')).toEqual([
      { minute: all(0, 0), hour: all(0, 0), dayOfMonth: all(1, 31, 2), month: all(1, 12), dayOfWeek: all(1, 1) },
    ]);
  });

  test.each([
    ['', 'five fields'],
    ['0 3 * *', 'five fields'],
    ['0 0 3 * * *', 'five fields'],
    ['@daily', 'five fields'],
    ['60 * * * *', '60 is no minute: it is 0 to 59'],
    ['0 24 * * *', '24 is no hour: it is 0 to 23'],
    ['0 0 0 * *', '0 is no day of month: it is 1 to 31'],
    ['0 0 * 13 *', '13 is no month: it is 1 to 12 or jan to dec'],
    ['0 0 * * 8', '8 is no day of week: it is 0 to 7 or sun to sat'],
    ['0 0 * * monday', 'monday is no day of week'],
    ['0 0 * mon *', 'mon is no month'],
    ['10-5 * * * *', '10-5 ends before it begins: write the minute as two ranges'],
    ['0 0 * * fri-mon', 'fri-mon ends before it begins'],
    ['*/0 * * * *', 'the step of */0 is 1 to 59'],
    ['*/90 * * * *', 'the step of */90 is 1 to 59'],
    ['*-5 * * * *', '*-5 is no minute'],
    ['1,,2 * * * *', 'an empty item is no minute'],
    ['1, * * * *', 'an empty item is no minute'],
    ['-1 * * * *', '-1 is no minute'],
    ['1.5 * * * *', '1.5 is no minute'],
    ['0 0 L * *', 'L is no day of month'],
    ['0 0 ? * *', '? is no day of month'],
    ['0 0 * * 1#2', '1#2 is no day of week'],
    ['007 * * * *', '007 is no minute'],
    ['0 0 31 2 *', 'there is no day 31 in month 2: it would never come'],
    ['0 0 31 4,6,sep,11 *', 'it would never come'],
    ['0 0 30-31 feb */2', 'it would never come'],
  ])('%j is refused', (cron, sentence) => {
    expect(parseCron(cron)).toEqual({ mistake: expect.stringContaining(sentence) });
  });

  test('is read as it is written, whatever the numbers', () => {
    const field = (min: number, max: number) =>
      fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
    fc.assert(
      fc.property(
        field(0, 59),
        field(0, 23),
        field(1, 12),
        fc.integer({ min: 1, max: 23 }),
        (minute, hour, month, n) => {
          const [calendar] = at(`${minute.join('-')} ${hour.join('-')}/${n} * ${month.join('-')} *`);
          expect(calendar).toMatchObject({
            minute: all(minute[0] ?? 0, minute[1] ?? 0),
            hour: all(hour[0] ?? 0, hour[1] ?? 0, n),
            month: all(month[0] ?? 0, month[1] ?? 0),
          });
        },
      ),
    );
  });

  test('never throws', () => {
    const word = fc.string({ unit: fc.constantFrom(...'0123456789*/-,abcmonju?L# '), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 4, maxLength: 6 }), (words) => {
        const parsed = parseCron(words.join(' '));
        expect('mistake' in parsed ? parsed.mistake : parsed.calendars.length).toBeTruthy();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a time zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'Etc/GMT+5'])('%s', (zone) => {
    expect(timeZoneMistake(zone)).toBeNull();
  });

  test.each([
    ['Mars/Phobos', 'a name of the IANA database'],
    ['', 'a name of the IANA database'],
    ['+01:00', 'a name of the IANA database'],
    ['Europe/Berlin ', 'a name of the IANA database'],
    ['europe/berlin', 'write it as Europe/Berlin'],
    ['utc', 'write it as UTC'],
  ])('%j is refused', (zone, sentence) => {
    expect(timeZoneMistake(zone)).toContain(sentence);
  });
});
