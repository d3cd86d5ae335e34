/** Values of a field from `start` to `end`, each `step`th. */
export interface CronRange {
  start: number;
  end: number;
  step: number;
}

/** Days on which and minutes at which a cron expression is due; a time must meet every member of one of them. */
export interface CronCalendar {
  minute: CronRange[];
  hour: CronRange[];
  dayOfMonth: CronRange[];
  /** 1 is January. */
  month: CronRange[];
  /** 0 is Sunday. */
  dayOfWeek: CronRange[];
}

interface Field {
  name: keyof CronCalendar;
  /** For the sentence of a mistake. */
  title: string;
  min: number;
  max: number;
  /** Names of the values from `min` on. */
  words?: readonly string[];
}

const MONTH_WORDS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_WORDS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Field[] = [
  { name: 'minute', title: 'minute', min: 0, max: 59 },
  { name: 'hour', title: 'hour', min: 0, max: 23 },
  { name: 'dayOfMonth', title: 'day of month', min: 1, max: 31 },
  { name: 'month', title: 'month', min: 1, max: 12, words: MONTH_WORDS },
  // Sunday is 0 and 7.
  { name: 'dayOfWeek', title: 'day of week', min: 0, max: 7, words: DAY_WORDS },
];

const LONGEST_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** What an expression means, or what is wrong with it. */
export type Cron = { calendars: CronCalendar[] } | { mistake: string };

/**
 * A cron expression of five fields: minute, hour, day of month, month, day of week. A field is a list of `*`, a value, a
 * range `a-b`, each with a step `/n`; months and days of the week have names of three letters. As crontab(5) has it: where
 * both days are restricted (begin with no `*`) a day that meets either is meant, which takes two calendars.
 */
export function parseCron(text: string): Cron {
  const words = text.trim().split(/[ \t]+/);
  if (words.length !== FIELDS.length) {
    return {
      mistake: 'a cron expression has five fields: minute, hour, day of month, month, day of week; such as 0 3 * * mon',
    };
  }
  const calendar: CronCalendar = { minute: [], hour: [], dayOfMonth: [], month: [], dayOfWeek: [] };
  for (const [index, field] of FIELDS.entries()) {
    for (const item of (words[index] ?? '').split(',')) {
      const range = rangeOf(item, field);
      if (typeof range === 'string') return { mistake: range };
      calendar[field.name].push(range);
    }
  }
  calendar.dayOfWeek = weekFromSunday(calendar.dayOfWeek);
  const [anyDay, anyWeekday] = [words[2]?.startsWith('*'), words[4]?.startsWith('*')];
  if (anyWeekday && !someDayComes(calendar)) {
    return { mistake: `there is no day ${words[2]} in month ${words[3]}: it would never come` };
  }
  if (anyDay || anyWeekday) return { calendars: [calendar] };
  return {
    calendars: [
      { ...calendar, dayOfWeek: [{ start: 0, end: 6, step: 1 }] },
      { ...calendar, dayOfMonth: [{ start: 1, end: 31, step: 1 }] },
    ],
  };
}

function rangeOf(item: string, field: Field): CronRange | string {
  const [, first = '', last, step] = /^(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/([0-9]{1,3}))?$/i.exec(item) ?? [];
  if (first === '' || (first === '*' && last !== undefined)) {
    return `${item === '' ? 'an empty item' : item} is no ${field.title}: write *, a value, a range a-b or a step */n`;
  }
  const [min, max] = [first === '*' ? field.min : valueNamed(first, field), endOf(first, last, step, field)];
  for (const [value, word] of [
    [min, first],
    [max, last ?? first],
  ] as const) {
    if (value === undefined) return `${word} is no ${field.title}: it is ${field.min} to ${field.max}${names(field)}`;
  }
  if (min === undefined || max === undefined) return `${item} is no ${field.title}`;
  if (max < min) return `${item} ends before it begins: write the ${field.title} as two ranges`;
  const every = step === undefined ? 1 : Number(step);
  if (every < 1 || every > field.max) return `the step of ${item} is 1 to ${field.max} for a ${field.title}`;
  return { start: min, end: max, step: every };
}

/** A value with a step goes on to the end of the field. */
function endOf(first: string, last: string | undefined, step: string | undefined, field: Field): number | undefined {
  if (last !== undefined) return valueNamed(last, field);
  // Seven would be Sunday once more.
  const end = field.name === 'dayOfWeek' ? 6 : field.max;
  if (first === '*') return end;
  return step === undefined ? valueNamed(first, field) : end;
}

function valueNamed(word: string, { min, max, words }: Field): number | undefined {
  const named = words?.indexOf(word.toLowerCase()) ?? -1;
  if (named >= 0) return min + named;
  if (!/^[0-9]{1,2}$/.test(word)) return undefined;
  const value = Number(word);
  return value >= min && value <= max ? value : undefined;
}

const names = ({ words }: Field): string => (words ? ` or ${words[0]} to ${words.at(-1)}` : '');

/** The days from 0 to 6 in ranges without steps, since 7 means 0. */
function weekFromSunday(ranges: CronRange[]): CronRange[] {
  const days = [...new Set(ranges.flatMap(valuesIn).map((day) => day % 7))].sort();
  const joined: CronRange[] = [];
  for (const day of days) {
    const last = joined.at(-1);
    if (last?.end === day - 1) last.end = day;
    else joined.push({ start: day, end: day, step: 1 });
  }
  return joined;
}

function valuesIn({ start, end, step }: CronRange): number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}

function someDayComes({ dayOfMonth, month }: CronCalendar): boolean {
  const first = Math.min(...dayOfMonth.map(({ start }) => start));
  return month.flatMap(valuesIn).some((one) => first <= (LONGEST_MONTH[one - 1] ?? 31));
}
