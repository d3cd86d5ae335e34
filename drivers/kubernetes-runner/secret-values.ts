/** Values as a Secret carries them. */
export function encoded(values: Record<string, string>): Record<string, string> {
  return mapped(values, (value) => Buffer.from(value, 'utf8').toString('base64'));
}

/** Values that a Secret carries. */
export function decoded(data: Record<string, string>): Record<string, string> {
  return mapped(data, (value) => Buffer.from(value, 'base64').toString('utf8'));
}

function mapped(values: Record<string, string>, change: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
