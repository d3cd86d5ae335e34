/** Task events of a session in words. */
import type { SessionEvent } from '../../../domain/runs/stream-schema.ts';

/** Characters of a message that are shown in a row; the whole is in the log of its host. */
const MESSAGE_MOST = 300;

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns what an event is about: its task, its play, or the kind of event. */
export function eventName(event: SessionEvent): string {
  const { type, item } = event;
  const about = textOf(event.task) || textOf(event.play);
  if (type === 'host_result') return `${about}${textOf(item) === '' ? '' : ` (item ${textOf(item)})`}`;
  if (type === 'task_start') return `task ${about}`;
  return type === 'play_start' ? `play ${about}` : type.replaceAll('_', ' ');
}

/** Returns what an event says beside its result; nothing where its task hides it. */
export function eventMessage(event: SessionEvent): string {
  if (event.censored === true) return 'hidden by no_log';
  const said = [event.reason, event.message, event.stderr, event.stdout].map(textOf).find((text) => text !== '') ?? '';
  return said.length > MESSAGE_MOST ? `${said.slice(0, MESSAGE_MOST)}…` : said;
}

/** Returns the layer of an event as people count it, with its attempt. */
export function eventPlace({ layer, attempt }: Pick<SessionEvent, 'layer' | 'attempt'>): string {
  if (layer === null) return '';
  return `${layer + 1}${attempt === null || attempt === 1 ? '' : `, attempt ${attempt}`}`;
}
