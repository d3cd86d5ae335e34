import { Link } from '@tanstack/react-router';
import type { WebhookCreated, WebhookView } from '../../../domain/webhooks/webhook-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import { FormAction } from '../shared/ui/form-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import {
  createCommand,
  newWebhook,
  updateCommand,
  WEBHOOK_VARIABLES,
  webhookFields,
  webhookPatch,
  webhookValues,
} from './webhook-draft.ts';

/** Makes a webhook. The answer is the only place where its key is shown. */
export function NewWebhook() {
  const may = useActingRefusal('admin');
  return (
    <FormAction<WebhookCreated>
      name="New webhook"
      refusal={may}
      begun={webhookValues(null)}
      fields={() => webhookFields(true)}
      request={(values) => {
        const body = newWebhook(values);
        return body && { method: 'POST', path: '/webhooks', body };
      }}
      done={({ name, secret }) => (
        <>
          <p>
            Webhook{' '}
            <Link to="/webhooks" search={{ shown: name }}>
              {shownText(name)}
            </Link>{' '}
            is made. The key of its signatures is not shown again:
          </p>
          <p>
            <code>{secret}</code>
          </p>
        </>
      )}
      changes={['webhooks']}
      cli={createCommand}
      variables={WEBHOOK_VARIABLES}
    />
  );
}

/** Changes a webhook. */
export function ChangeWebhook({ webhook }: { webhook: WebhookView }) {
  const may = useActingRefusal('admin');
  return (
    <FormAction<WebhookView>
      name="Change"
      refusal={may}
      isTold
      begun={webhookValues(webhook)}
      fields={() => webhookFields(false)}
      request={(values, begun) => {
        const body = webhookPatch(values, begun);
        return body && { method: 'PATCH', path: recordPath('webhooks', webhook.name), body };
      }}
      done={() => <p>It is changed.</p>}
      changes={['webhooks']}
      cli={updateCommand}
      variables={WEBHOOK_VARIABLES}
    />
  );
}
