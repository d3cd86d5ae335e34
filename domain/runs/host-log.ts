/** The log of one host, made of its task results. */

export interface HostLogEvent {
  time: Date;
  layer: number | null;
  data: Record<string, unknown>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Lines for one result: time, layer, task and result, then message, output and difference as far as there are any. */
export function hostLogText({ time, layer, data }: HostLogEvent): string {
  const item = textOf(data.item);
  const head = [
    time.toISOString(),
    ...(layer === null ? [] : [`layer ${layer + 1}`]),
    `[${textOf(data.task)}]${item === '' ? '' : ` (item=${item})`}`,
    textOf(data.result),
  ].join(' ');
  if (data.censored === true) return `${head}: (hidden by no_log)\n`;
  const message = textOf(data.message);
  const parts = [message === '' ? head : `${head}: ${message}`];
  for (const key of ['stdout', 'stderr', 'diff']) {
    const text = textOf(data[key]);
    if (text === '' || text === message) continue;
    const body = text.replace(/\n$/, '').replaceAll('\n', '\n    ');
    parts.push(`  ${key}:\n    ${body}`);
  }
  return `${parts.join('\n')}\n`;
}
