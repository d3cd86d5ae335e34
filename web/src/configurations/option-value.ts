/** Values of options, as a form has them. */

export type OptionValue = string | number | boolean | null;

/** Returns what is typed as a value of the kind that the option has; undefined while it is none. */
export function optionValue(now: OptionValue, text: string): OptionValue | undefined {
  const typed = text.trim();
  if (typeof now === 'string') return typed;
  if (typed === '') return undefined;
  if (typeof now === 'number') return /^-?[0-9]+(\.[0-9]+)?$/.test(typed) ? Number(typed) : undefined;
  if (typeof now === 'boolean') return typed === 'true' ? true : typed === 'false' ? false : undefined;
  return typed;
}
