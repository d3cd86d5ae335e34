import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Configuration } from '../../../domain/configurations/schema.ts';
import { callApi } from '../shared/api-call.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { Editor } from './editor.tsx';
import { CONFIGURATIONS } from './reads.ts';
import { CONFIGURATION_FILTERS, type ConfigurationListSearch } from './search.ts';
import { type DesiredCount, shareText } from './share-text.ts';

interface ConfigurationPageAnswer {
  configurations: Configuration[];
  next: { after_id: string } | null;
}

/** What is wanted, in the order of names. */
export function ConfigurationListPage() {
  const { dropped, new: isNew = false, ...search } = useSearch({ from: '/configurations' });
  const navigate = useNavigate({ from: '/configurations' });
  const counts = useQuery({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => callApi<{ by_configuration: DesiredCount[] }>('/fleet', { signal }),
  });
  useLive('fleet', ['fleet']);
  return (
    <ListPage<ConfigurationPageAnswer, Configuration>
      name="Configurations"
      search={search}
      dropped={dropped}
      filters={CONFIGURATION_FILTERS}
      api={{ path: '/configurations', surface: '/v3' }}
      queryKey={[CONFIGURATIONS]}
      topic={CONFIGURATIONS}
      rows={({ configurations }) => configurations}
      keyOf={({ name }) => name}
      columns={[
        {
          head: 'Configuration',
          cell: ({ name }) => (
            <Link to="/configurations/$name" params={{ name }}>
              {shownText(name)}
            </Link>
          ),
        },
        { head: 'Layers', cell: ({ layers }) => layers.length },
        {
          head: 'Configured',
          cell: ({ name }) => (counts.isError ? 'not known' : shareText(name, counts.data?.by_configuration)),
        },
        { head: 'Rollout policy', cell: ({ muster }) => (muster?.rollout === undefined ? 'none' : 'yes') },
        { head: 'Written', cell: ({ last_updated }) => <Moment at={last_updated} /> },
      ]}
      order="names"
      empty={{
        narrowed: 'No configuration matches the filter.',
        all: 'All configurations',
        nothing: (
          <>
            There are no configurations yet. <code>./muster configuration apply -f FILE</code>
          </>
        ),
      }}
      command="./muster configuration list"
      instead={isNew ? <NewConfiguration search={search} /> : undefined}
      beside={
        <button type="button" onClick={() => void navigate({ search: { ...search, new: true } })}>
          New configuration
        </button>
      }
    />
  );
}

function NewConfiguration({ search }: { search: ConfigurationListSearch }) {
  return (
    <section aria-label="New configuration">
      <h2>New configuration</h2>
      <Editor stored={null} />
      <p>
        <Link to="/configurations" search={search}>
          Close the form
        </Link>
      </p>
    </section>
  );
}
