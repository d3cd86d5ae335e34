/** A webhook as a form has it. Its address and its key are written, and never read. */
import type { WebhookEvent, WebhookView } from '../../../domain/webhooks/webhook-schema.ts';
import { apiCommand, shellWord } from '../shared/commands.ts';
import { changedNames, type FormField, type FormValues, wordsOf } from '../shared/form-values.ts';

/** All of them, so that a new one is not forgotten here. */
const EVENTS: Readonly<Record<WebhookEvent, true>> = {
  'session.ended': true,
  'component.failed': true,
  'rollout.stopped': true,
  'batch.held': true,
  'plan.ended': true,
  'plan.waiting': true,
  'operator.failed': true,
  'deployment.ended': true,
  'cluster.unreachable': true,
  'cluster.back': true,
  'cluster.credential_ends': true,
};

/** Variables that commands have in the place of what is never shown. */
export const WEBHOOK_VARIABLES = { url: '$WEBHOOK_URL', secret: '$WEBHOOK_SECRET' } as const;

/** Returns the texts of a webhook; of a new one where there is none. */
export function webhookValues(webhook: WebhookView | null): FormValues {
  return {
    name: webhook?.name ?? '',
    url: '',
    events: webhook?.events.join(' ') ?? '',
    secret: '',
    allow_private_redirects: webhook?.allow_private_redirects ? 'true' : '',
    disabled: '',
  };
}

/** Returns the fields of a form; a webhook that is there has its name, and is disabled by a button of its own. */
export function webhookFields(isNew: boolean): FormField[] {
  const kept = isNew ? '' : '; empty: it stays';
  return [
    ...(isNew ? [{ name: 'name', label: 'Name', at: 'name', hint: 'lower-case letters, digits, hyphens' }] : []),
    { name: 'url', label: 'Address', at: 'url', hint: `where it is sent to, by POST; never shown whole again${kept}` },
    { name: 'events', label: 'Events', at: 'events', some: Object.keys(EVENTS) },
    {
      ...{ name: 'secret', label: 'Key of signatures', at: 'secret', kind: 'secret' as const },
      hint: isNew ? 'empty: a random one, which is shown once' : 'empty: it stays',
    },
    {
      ...{ name: 'allow_private_redirects', label: 'Redirects may lead to private addresses' },
      ...{ at: 'allow_private_redirects', kind: 'switch' as const },
    },
    ...(isNew ? [{ name: 'disabled', label: 'Disabled at first', at: 'enabled', kind: 'switch' as const }] : []),
  ];
}

/** Returns the members of a new webhook; null while it has no name, no address or no event. */
export function newWebhook(values: FormValues): object | null {
  const { name = '', url = '', events = '', secret = '' } = values;
  if (name.trim() === '' || url.trim() === '' || events === '') return null;
  return {
    name: name.trim(),
    url: url.trim(),
    events: wordsOf(events),
    ...(secret === '' ? {} : { secret }),
    ...(values.allow_private_redirects === 'true' ? { allow_private_redirects: true } : {}),
    ...(values.disabled === 'true' ? { enabled: false } : {}),
  };
}

/** Returns the members that a form changes; null where it changes none. */
export function webhookPatch(values: FormValues, begun: FormValues): object | null {
  const changed = changedNames(values, begun);
  if (changed.size === 0) return null;
  const { url = '', events = '', secret = '' } = values;
  return {
    ...(changed.has('url') ? { url: url.trim() } : {}),
    ...(changed.has('events') ? { events: wordsOf(events) } : {}),
    ...(changed.has('secret') ? { secret } : {}),
    ...(changed.has('allow_private_redirects')
      ? { allow_private_redirects: values.allow_private_redirects === 'true' }
      : {}),
  };
}

/** Returns the command that makes the webhook; what is secret comes to it by stdin. */
export function createCommand(values: FormValues): string {
  if (values.secret) return sent('POST', '/api/v1/webhooks', newWebhook(values));
  const flags = [
    '--to -',
    `--event ${values.events || 'EVENT'}`,
    ...(values.allow_private_redirects ? ['--private-redirects'] : []),
    ...(values.disabled ? ['--disable'] : []),
  ];
  const word = shellWord(values.name?.trim() || 'NAME');
  return [`printf %s "${WEBHOOK_VARIABLES.url}" | ./muster webhook create ${word}`, ...flags].join(' ');
}

/** Returns the command that changes it. */
export function updateCommand(values: FormValues, begun: FormValues): string {
  const name = begun.name ?? '';
  const changed = changedNames(values, begun);
  if (changed.has('secret')) {
    return sent('PATCH', `/api/v1/webhooks/${encodeURIComponent(name)}`, webhookPatch(values, begun));
  }
  const flags = [
    ...(changed.has('url') ? ['--to -'] : []),
    ...(changed.has('events') ? [`--event ${values.events}`] : []),
    ...(changed.has('allow_private_redirects')
      ? [values.allow_private_redirects ? '--private-redirects' : '--no-private-redirects']
      : []),
  ];
  const from = changed.has('url') ? `printf %s "${WEBHOOK_VARIABLES.url}" | ` : '';
  return [`${from}./muster webhook update ${shellWord(name)}`, ...flags].join(' ');
}

const sent = (method: string, path: string, body: object | null): string =>
  apiCommand(method, path, body ?? {}, Object.values(WEBHOOK_VARIABLES));
