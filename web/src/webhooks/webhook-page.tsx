import { Link, useSearch } from '@tanstack/react-router';
import type { WebhookView } from '../../../domain/webhooks/webhook-schema.ts';
import { readingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { WebhookDetails } from './webhook-details.tsx';
import { NewWebhook } from './webhook-form.tsx';

interface WebhookPageAnswer {
  webhooks: WebhookView[];
  next: { after_id: string } | null;
}

/** Who is told? */
export function WebhookPage() {
  const { dropped, ...search } = useSearch({ from: '/webhooks' });
  const { data: me } = useMe();
  const refusal = readingRefusal(me, 'admin');
  return (
    <ListPage<WebhookPageAnswer, WebhookView>
      name="Webhooks"
      search={search}
      dropped={dropped}
      filters={[]}
      api={{ path: '/webhooks' }}
      queryKey={['webhooks']}
      topic="webhooks"
      refusal={refusal}
      rows={({ webhooks }) => webhooks}
      keyOf={({ name }) => name}
      columns={[
        {
          head: 'Webhook',
          cell: ({ name }) => (
            <Link to="/webhooks" search={{ ...search, shown: name }}>
              {shownText(name)}
            </Link>
          ),
        },
        { head: 'Address', cell: ({ url }) => shownText(url) },
        { head: 'Events', cell: ({ events }) => events.join(', ') },
        { head: 'State', cell: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
        { head: 'Waiting', cell: ({ waiting }) => waiting },
        { head: 'Written', cell: ({ updated_at }) => <Moment at={updated_at} /> },
      ]}
      order="names"
      empty={{
        narrowed: 'There are no more webhooks.',
        all: 'All webhooks',
        nothing: (
          <>
            There are no webhooks yet. <code>./muster webhook create NAME --to URL --event EVENT</code>
          </>
        ),
      }}
      command="./muster webhook list"
      above={
        refusal === null && (
          <>
            <NewWebhook />
            {search.shown !== undefined && <WebhookDetails key={search.shown} name={search.shown} />}
          </>
        )
      }
    />
  );
}
