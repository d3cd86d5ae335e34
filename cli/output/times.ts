/** Milliseconds since 1970 of a time on the wire; session times carry no zone and are UTC (cfs-api 8). */
export function timeOf(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** A length of time in its two largest units: `45s`, `2m05s`, `3h12m`, `4d07h`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h${two(minutes % 60)}m`;
  return `${Math.floor(hours / 24)}d${two(hours % 24)}h`;
}

/** Forms of the times in tables. */
export const TIME_FORMS = ['local', 'relative', 'iso'] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

/** A time on the wire and nothing else. */
const WIRE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;

/** A cell that is a time, in this form; every other cell as it is. */
export function timeText(text: string, form: TimeForm, now: number): string {
  const time = WIRE_TIME.test(text) ? timeOf(text) : undefined;
  if (time === undefined) return text;
  if (form === 'iso') return /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
  if (form === 'relative') return time > now ? `in ${duration(time - now)}` : `${duration(now - time)} ago`;
  const local = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())}`;
  return `${day} ${two(local.getHours())}:${two(local.getMinutes())}:${two(local.getSeconds())}`;
}
