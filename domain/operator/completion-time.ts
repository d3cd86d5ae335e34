/** The time of the end of a playbook, as the reference operator writes it. */
const CREATED = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})?$/;
const FRACTION_DIGITS = 8;

/** Returns the `created` of an event in UTC with at most eight digits of a second and no zeros behind them; null for another text. */
export function completionTime(created: unknown): string | null {
  const [, seconds, fraction = '', offset = 'Z'] = (typeof created === 'string' && CREATED.exec(created)) || [];
  if (seconds === undefined) return null;
  const time = new Date(`${seconds}${offset}`);
  if (Number.isNaN(time.getTime())) return null;
  const digits = fraction.slice(0, FRACTION_DIGITS).replace(/0+$/, '');
  return `${time.toISOString().slice(0, 19)}${digits === '' ? '' : `.${digits}`}+00:00`;
}
