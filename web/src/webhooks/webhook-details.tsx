import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DeliveryView, WebhookView } from '../../../domain/webhooks/webhook-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { ChangeWebhook } from './webhook-form.tsx';

/** Deliveries that are shown. */
const DELIVERIES = 50;

/** A webhook: what it was told and what became of it, and what may be asked of it. */
export function WebhookDetails({ name }: { name: string }) {
  const path = recordPath('webhooks', name);
  const read = useQuery({
    queryKey: ['webhooks', 'one', name],
    queryFn: ({ signal }) => callApi<WebhookView>(path, { signal }),
  });
  const deliveries = useQuery({
    queryKey: ['webhooks', 'deliveries', name],
    queryFn: ({ signal }) =>
      callApi<{ deliveries: DeliveryView[] }>(`${path}/deliveries?limit=${DELIVERIES}`, { signal }),
  });
  useLive('webhooks', ['webhooks', 'one', name]);
  useLive('webhooks', ['webhooks', 'deliveries', name]);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <section aria-label={`Webhook ${shownText(name)}`} aria-busy={read.isPending || undefined}>
      <h2>Webhook {shownText(name)}</h2>
      {isGone && (
        <p>
          There is no webhook {shownText(name)}: it was deleted, or there was none.{' '}
          <Link to="/audit" search={{ kind: 'webhook', name }}>
            Who deleted it
          </Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && !isGone && (
        <>
          <Commands webhook={read.data} />
          <Part title="Deliveries" read={deliveries}>
            {({ deliveries: all }) => (
              <Rows
                name="Deliveries"
                columns={COLUMNS}
                rows={all}
                keyOf={({ id }) => id}
                none="It was told nothing yet."
              />
            )}
          </Part>
        </>
      )}
    </section>
  );
}

const COLUMNS: readonly ListColumn<DeliveryView>[] = [
  { head: 'Event', cell: ({ event }) => shownText(event) },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Attempts', cell: ({ attempts }) => attempts },
  {
    head: 'Reason',
    cell: ({ last_status, last_error }) =>
      shownText([last_status, last_error].filter((part) => part !== null).join(': ')),
  },
  { head: 'Next try', cell: ({ next_try_at: at }) => (at === null ? '' : <Moment at={at} />) },
  { head: 'Since', cell: ({ created_at, delivered_at }) => <Moment at={delivered_at ?? created_at} /> },
];

function Commands({ webhook }: { webhook: WebhookView }) {
  const { name, enabled } = webhook;
  const may = useActingRefusal('admin');
  const path = recordPath('webhooks', name);
  const word = shellWord(name);
  const shared = { changes: ['webhooks'] };
  return (
    <div className="buttons">
      <PostAction
        {...shared}
        name="Test"
        refusal={may}
        path={`${path}/test`}
        record={name}
        effect="It is sent a ping."
        done="A ping is on its way."
        command={`./muster webhook test ${word}`}
      />
      <PostAction
        {...shared}
        name="Enable"
        refusal={may ?? (enabled ? 'It is enabled' : null)}
        isTold={may !== null}
        method="PATCH"
        path={path}
        body={{ enabled: true }}
        record={null}
        effect="It is told of its events again."
        done="It is enabled."
        command={`./muster webhook update ${word} --enable`}
      />
      <PostAction
        {...shared}
        name="Disable"
        refusal={may ?? (enabled ? null : 'It is disabled')}
        isTold={may !== null}
        method="PATCH"
        path={path}
        body={{ enabled: false }}
        record={null}
        effect="It is told nothing until it is enabled."
        done="It is disabled."
        command={`./muster webhook update ${word} --disable`}
      />
      <ChangeWebhook webhook={webhook} />
      <PostAction
        {...shared}
        name="Delete"
        refusal={may}
        isTold
        method="DELETE"
        path={path}
        record={null}
        effect="What it was still to be told is given up."
        done="It is deleted."
        command={`./muster webhook delete ${word}`}
      />
    </div>
  );
}
