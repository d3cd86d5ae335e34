import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { Source } from '../../../domain/configurations/schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { withoutCredentials } from './clone-address.ts';
import { SOURCE_FILTERS } from './search.ts';
import { ChangeSource, NewSource } from './source-form.tsx';

interface SourcePageAnswer {
  sources: Source[];
  next: { after_id: string } | null;
}

/** From what? */
export function SourcePage() {
  const { dropped, ...search } = useSearch({ from: '/sources' });
  return (
    <ListPage<SourcePageAnswer, Source>
      name="Sources"
      search={search}
      dropped={dropped}
      filters={SOURCE_FILTERS}
      api={{ path: '/sources', surface: '/v3' }}
      queryKey={['sources']}
      topic="sources"
      rows={({ sources }) => sources}
      keyOf={({ name }) => name}
      columns={[
        {
          head: 'Source',
          cell: ({ name }) => (
            <Link to="/sources" search={{ ...search, shown: name }}>
              {shownText(name)}
            </Link>
          ),
        },
        { head: 'Repository', cell: ({ clone_url }) => shownText(withoutCredentials(clone_url)) },
        { head: 'Secret', cell: ({ credentials }) => shownText(credentials.secret_name) },
        { head: 'CA', cell: ({ ca_cert }) => shownText(ca_cert?.configmap_name ?? 'none') },
        { head: 'Written', cell: ({ last_updated }) => <Moment at={last_updated} /> },
      ]}
      order="names"
      empty={{
        narrowed: 'No source matches the filter.',
        all: 'All sources',
        nothing: (
          <>
            There are no sources yet. <code>./muster source apply -f FILE</code>
          </>
        ),
      }}
      command="./muster source list"
      above={
        <>
          <NewSource />
          {search.shown !== undefined && <SourceDetails key={search.shown} name={search.shown} />}
        </>
      }
    />
  );
}

/** A source, and what may be done with it. Its credentials are written, and never read. */
function SourceDetails({ name }: { name: string }) {
  // CFS clients encode the name of a source twice.
  const path = recordPath('sources', encodeURIComponent(name));
  const may = useActingRefusal('admin');
  const read = useQuery({
    queryKey: ['sources', 'one', name],
    queryFn: ({ signal }) => callApi<Source>(path, { surface: '/v3', signal }),
  });
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  const source = isGone ? undefined : read.data;
  return (
    <section aria-label={`Source ${shownText(name)}`} aria-busy={read.isPending || undefined}>
      <h2>Source {shownText(name)}</h2>
      {isGone && (
        <p>
          There is no source {shownText(name)}: it was deleted, or there was none.{' '}
          <Link to="/audit" search={{ kind: 'source', name }}>
            Who deleted it
          </Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {source && (
        <>
          <dl>
            <dt>Description</dt>
            <dd>{shownText(source.description ?? 'none')}</dd>
            <dt>Repository</dt>
            <dd>{shownText(withoutCredentials(source.clone_url))}</dd>
            <dt>Credentials</dt>
            <dd>
              secret {shownText(source.credentials.secret_name)}, never shown; write both halves:{' '}
              <code>./muster secret set {shownText(source.credentials.secret_name)} username=@FILE password=@FILE</code>
            </dd>
          </dl>
          <div className="buttons">
            <ChangeSource source={source} />
            <PostAction
              name="Delete"
              refusal={may}
              method="DELETE"
              path={path}
              surface="/v3"
              record={null}
              effect="Layers that name this source cannot be cloned any more."
              done="It is deleted."
              changes={['sources']}
              command={`./muster source delete ${shellWord(name)}`}
            />
          </div>
        </>
      )}
    </section>
  );
}
