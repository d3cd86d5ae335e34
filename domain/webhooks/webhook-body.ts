import { maskUrlCredentials } from '../text/mask-url.ts';

export interface Notification {
  id: string;
  event: string;
  data: Record<string, unknown>;
  createdAt: Date;
}

/** The JSON that a receiver gets; passwords in URLs are masked, wherever they stand. */
export function webhookBody({ id, event, data, createdAt }: Notification): string {
  return JSON.stringify({ id, event, time: createdAt.toISOString(), data: masked(data) });
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskUrlCredentials(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member)]));
}
