import { Link, useSearch } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Batch, BatcherDetail } from '../../../domain/batches/batch-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { shellWord } from '../shared/commands.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { BATCHER_WHY, WAITS_UNTIL } from './batch-text.ts';
import { BATCH_FILTERS } from './search.ts';

interface BatchPageAnswer {
  batcher: BatcherDetail;
  batches: Batch[];
  next: { after_id: string } | null;
}

/** Why not yet? */
export function BatchPage() {
  const { dropped, ...search } = useSearch({ from: '/batches' });
  const key = typeof search.key === 'string' ? search.key : undefined;
  return (
    <ListPage<BatchPageAnswer, Batch>
      name="Batches"
      search={search}
      dropped={dropped}
      filters={BATCH_FILTERS}
      api={{ path: '/batches' }}
      queryKey={['batches']}
      topic="batches"
      rows={({ batches }) => batches}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      order="newest"
      empty={{
        narrowed: 'No batch matches the filter.',
        all: 'All batches that have not ended',
        nothing: 'No component waits to be configured by itself: there are no batches that have not ended.',
      }}
      command="./muster batch list"
      above={<Commands batchKey={key} />}
      head={({ batcher }) => <Batcher batcher={batcher} />}
    />
  );
}

/** How the batcher is, and why. */
function Batcher({ batcher }: { batcher: BatcherDetail }) {
  const { state, paused_by, paused_at, backoff, next_pass_at, held_keys, held_reason, absent_configurations } = batcher;
  return (
    <section aria-label="Batcher">
      <h2>Batcher</h2>
      <p>
        <strong>{state}</strong>: {BATCHER_WHY[state]}
        {paused_at !== null && (
          <>
            , since <Moment at={paused_at} />
            {paused_by !== null && ` by ${shownText(paused_by)}`}
          </>
        )}
        .
      </p>
      <dl>
        <dt>Next pass</dt>
        <dd>{next_pass_at === null ? 'none' : <Moment at={next_pass_at} />}</dd>
        {backoff !== null && (
          <>
            <dt>Back-off ends</dt>
            <dd>
              <Moment at={backoff.until} />
            </dd>
          </>
        )}
        <dt>Batches</dt>
        <dd>
          {batcher.open} open, {batcher.due} of them due, {batcher.sent} sent
        </dd>
        {held_keys > 0 && (
          <>
            <dt>Held keys</dt>
            <dd>
              {held_keys}: {shownText(held_reason ?? '')}
            </dd>
          </>
        )}
        {batcher.failed_components > 0 && (
          <>
            <dt>Not tried any more</dt>
            <dd>
              <Link to="/components" search={{ status: 'failed', enabled: true }}>
                {batcher.failed_components} components
              </Link>
            </dd>
          </>
        )}
        {absent_configurations.map(({ configuration, components }) => (
          <Fragment key={configuration}>
            <dt>Absent configuration</dt>
            <dd>
              {shownText(configuration)}: {components} {components === 1 ? 'component wants' : 'components want'} it
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

const COLUMNS: readonly ListColumn<Batch>[] = [
  {
    head: 'Batch',
    cell: ({ id, key }) => (
      <Link to="/batches" search={{ key }} title={id}>
        {shownText(key)}
      </Link>
    ),
  },
  {
    head: 'Configuration',
    cell: ({ configuration }) => (
      <Link to="/configurations/$name" params={{ name: configuration }}>
        {shownText(configuration)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state, result }) => (result === null ? state : `${state} (${result})`) },
  { head: 'Components', cell: ({ components }) => components ?? 'not known' },
  {
    head: 'Waits until',
    cell: ({ state, why_not, until }) => {
      if (state !== 'open') return '';
      if (why_not === null) return 'the next pass';
      return (
        <>
          {WAITS_UNTIL[why_not]}
          {until !== null && (
            <>
              , <Moment at={until} />
            </>
          )}
        </>
      );
    },
  },
  { head: 'Reason', cell: ({ reason, refusal }) => shownText(reason ?? refusal ?? '') },
  {
    head: 'Session',
    cell: ({ session }) =>
      session !== null && (
        <Link to="/sessions/$name" params={{ name: session.name }} search={{ id: session.id }}>
          {shownText(session.name)}
        </Link>
      ),
  },
  { head: 'Since', cell: ({ opened_at, sent_at, ended_at }) => <Moment at={ended_at ?? sent_at ?? opened_at} /> },
];

/** What may be asked of the batcher: of all batches, or of those of one key. */
function Commands({ batchKey }: { batchKey: string | undefined }) {
  const may = useActingRefusal();
  const body = batchKey === undefined ? {} : { key: batchKey };
  const which = batchKey === undefined ? '' : ` --key=${shellWord(batchKey)}`;
  const whose = batchKey === undefined ? 'No batch' : `No batch of the key ${shownText(batchKey)}`;
  return (
    <div className="buttons">
      <PostAction
        name="Pause"
        refusal={may}
        path="/batches/pause"
        body={body}
        record={null}
        effect={`${whose} is sent any more until it is resumed. Sessions that run go on.`}
        done="Batches are not sent any more."
        changes={['batches']}
        command={`./muster batch pause${which}`}
      />
      <PostAction
        name="Resume"
        refusal={may}
        isTold
        path="/batches/resume"
        body={body}
        record={null}
        effect="Batches that are due are sent with the next pass."
        done="Batches are sent again."
        changes={['batches']}
        command={`./muster batch resume${which}`}
      />
      <PostAction
        name="Run a pass"
        refusal={may}
        isTold
        path="/batches/tick"
        record="batcher"
        effect="The batcher looks at all components now, and sends what is due."
        done="A pass was asked for."
        changes={['batches']}
        command="./muster batch tick"
      />
    </div>
  );
}
