import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { Editor } from './editor.tsx';
import { History } from './history.tsx';
import { useStored } from './reads.ts';
import { CONFIGURATION_TABS, type ConfigurationSearch, type ConfigurationTab } from './search.ts';
import { Usage } from './usage.tsx';

/** One configuration: what it wants, what it was, and who uses it. */
export function ConfigurationPage() {
  const { name } = useParams({ from: '/configurations/$name' });
  const { dropped, ...search } = useSearch({ from: '/configurations/$name' });
  return <OneConfiguration key={name} name={name} search={search} dropped={dropped} />;
}

interface OneConfigurationProps {
  name: string;
  search: ConfigurationSearch;
  dropped: string[] | undefined;
}

const TAB_NAMES: Record<ConfigurationTab, string> = { layers: 'Layers', history: 'History', usage: 'Usage' };

function OneConfiguration({ name, search, dropped }: OneConfigurationProps) {
  const read = useStored(name);
  const stored = read.data ?? null;
  // What the last answer said. A read that has brought no record is pending whenever it begins anew; an open dialog stays meanwhile.
  const [answered, setAnswered] = useState<{ isGone: boolean; firstTab: ConfigurationTab }>();
  if (!read.isPending) {
    const isGone = read.error instanceof Refusal && read.error.status === 404;
    // What was deleted has a history all the same, which stays open when the configuration is restored: the result stands there.
    const firstTab = answered?.firstTab ?? (isGone && stored === null ? 'history' : 'layers');
    if (answered?.isGone !== isGone) setAnswered({ isGone, firstTab });
  }
  const isGone = answered?.isGone ?? false;
  const tab = search.tab ?? answered?.firstTab ?? 'layers';
  return (
    <main aria-busy={read.isPending || undefined}>
      <title>{`Configuration ${shownText(name)} - Muster`}</title>
      <h1>Configuration {shownText(name)}</h1>
      <DroppedNotice names={dropped} />
      {isGone && (
        <p role="status">
          There is no configuration {shownText(name)}: it was deleted, or there was none. Its history says by whom.{' '}
          <Link to="/configurations">All configurations</Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {answered !== undefined && (
        <>
          <div role="tablist" aria-label="Configuration">
            {CONFIGURATION_TABS.map((word) => (
              <Link
                key={word}
                role="tab"
                id={`tab-${word}`}
                aria-selected={word === tab}
                aria-controls={`panel-${word}`}
                to="/configurations/$name"
                params={{ name }}
                search={{ tab: word }}
              >
                {TAB_NAMES[word]}
              </Link>
            ))}
          </div>
          {/* An edit stays while other tabs are looked at. */}
          <div role="tabpanel" id="panel-layers" aria-labelledby="tab-layers" hidden={tab !== 'layers'}>
            {stored !== null && <Editor stored={stored} isGone={isGone} />}
            {stored === null && isGone && <p>There are no layers.</p>}
            {stored !== null && !isGone && (
              <CopyView
                command={`./muster configuration get ${shellWord(name)}`}
                path={recordPath('configurations', name)}
                surface="/v3"
              />
            )}
          </div>
          <div role="tabpanel" id="panel-history" aria-labelledby="tab-history" hidden={tab !== 'history'}>
            {tab === 'history' && <History name={name} search={search} stored={isGone ? null : stored} />}
          </div>
          <div role="tabpanel" id="panel-usage" aria-labelledby="tab-usage" hidden={tab !== 'usage'}>
            {tab === 'usage' && <Usage name={name} />}
          </div>
        </>
      )}
    </main>
  );
}
