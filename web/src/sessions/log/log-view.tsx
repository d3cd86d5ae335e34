import './log.css';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { SessionDetail } from '../../../../domain/sessions/detail-schema.ts';
import type { LogLines } from '../../../../domain/sessions/log-schema.ts';
import { Failure } from '../../shared/ui/failure.tsx';
import type { SessionSearch } from '../search.ts';
import { ChosenText } from './chosen-text.tsx';
import { LogLinesView } from './log-lines.tsx';
import { type ChosenLines, chosenOf, fragmentOf, nextOf } from './log-rows.ts';
import { type LogSteps, LogTools } from './log-tools.tsx';
import { failuresOf, type LogOf, nextFailure, nextMatch, useLogEnd, useMatches } from './use-log.ts';

/** The output of one layer in one attempt; it follows what comes until it is scrolled up. */
export function LogView({ session, search }: { session: SessionDetail; search: SessionSearch }) {
  const { id, name } = session;
  // What is looked at stays, also when the next layer begins.
  const [kept, keep] = useState<{ layer: number; attempt: number } | null>(null);
  const { layer = kept?.layer, attempt = kept?.attempt } = search;
  const read = useLogEnd(name, id, layer, attempt);
  if (read.isError && read.data === undefined) {
    return <Failure error={read.error} retry={() => void read.refetch()} />;
  }
  if (read.data === undefined) return <p aria-busy="true">The output is read.</p>;
  const { layer: shownLayer, attempt: shownAttempt } = read.data;
  return (
    <Log
      session={session}
      search={search}
      log={{ id, name, layer: shownLayer, attempt: shownAttempt }}
      end={read.data}
      keep={(isKept) => keep(isKept ? { layer: shownLayer, attempt: shownAttempt } : null)}
    />
  );
}

interface LogProps {
  session: SessionDetail;
  search: SessionSearch;
  log: LogOf;
  end: LogLines;
  /** Whether to stay with this layer when the next one begins. */
  keep(isKept: boolean): void;
}

function Log({ session, search, log, end, keep }: LogProps) {
  const { name, layer, attempt } = log;
  const { q } = search;
  const navigate = useNavigate();
  const fragment = useLocation({ select: ({ hash }) => hash });
  const chosen = chosenOf(fragment);
  const [isFollowing, setFollowing] = useState(chosen === null);
  const [left, setLeft] = useState(end.total);
  const follow = (isWanted: boolean) => {
    if (isFollowing && !isWanted) setLeft(end.total);
    setFollowing(isWanted);
    keep(!isWanted);
  };
  const go = (change: Partial<SessionSearch>, hash: string) =>
    void navigate({
      to: '/sessions/$name',
      params: { name },
      search: { ...search, ...change },
      hash,
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    });
  const choose = (lines: ChosenLines) => go({ layer, attempt }, fragmentOf(lines));
  const steps = useSteps({ log, end, q, chosen, choose });
  const href = (hash: string) =>
    `${location.pathname}?${new URLSearchParams({ id: session.id, tab: 'log', layer: String(layer), attempt: String(attempt) })}#${hash}`;
  return (
    <>
      <LogTools
        session={session}
        // While another log is read, the choice of it is shown.
        log={{ ...log, layer: search.layer ?? layer, attempt: search.attempt ?? attempt }}
        end={end}
        q={q}
        onLog={(place) => {
          follow(true);
          go(place, '');
        }}
        onSearch={(text) => go({ q: text }, fragment)}
        isFollowing={isFollowing}
        onFollow={follow}
        newLines={isFollowing ? 0 : end.total - left}
        steps={steps}
      />
      {end.total === 0 && <p>{end.complete ? 'There is no output.' : 'There is no output yet.'}</p>}
      {chosen !== null && chosen.first > end.total && (
        <p role="status" aria-label="Notice">
          {end.complete
            ? `There is no line ${chosen.first}: the last is ${end.total}.`
            : `Line ${chosen.first} is not there yet: it is waited for.`}
        </p>
      )}
      <LogLinesView
        key={`${layer} ${attempt}`}
        log={log}
        end={end}
        isFollowing={isFollowing}
        onFollow={follow}
        chosen={chosen}
        onChoose={choose}
        hrefOf={href}
        q={q}
      />
      {chosen !== null && chosen.first <= end.total && (
        <ChosenText
          log={log}
          chosen={chosen}
          total={end.total}
          address={`${location.origin}${href(fragmentOf(chosen))}`}
        />
      )}
    </>
  );
}

interface StepsOf {
  log: LogOf;
  end: LogLines;
  q: string | undefined;
  chosen: ChosenLines | null;
  choose(lines: ChosenLines): void;
}

/** Leads from match to match and from failure to failure, round the ends. */
function useSteps({ log, end, q, chosen, choose }: StepsOf): LogSteps {
  const matches = useMatches(log, q);
  const [said, say] = useState('');
  const current = chosen?.first ?? 0;
  const to = (line: number | undefined, none: string) => {
    say(line === undefined ? none : '');
    if (line !== undefined) choose({ first: line, last: line });
  };
  // One step at a time: a late answer of an earlier one leads nowhere.
  const step = useRef(new AbortController());
  // biome-ignore lint/correctness/useExhaustiveDependencies: a step is for the text that was looked for when it began
  useEffect(() => () => step.current.abort(), [q]);
  const tried = (work: (signal: AbortSignal) => Promise<void>) => {
    step.current.abort();
    step.current = new AbortController();
    const { signal } = step.current;
    work(signal).catch((error: Error) => {
      if (!signal.aborted) say(error.message);
    });
  };
  const found = matches.data;
  const numbers = found?.lines.map(({ number }) => number) ?? [];
  const match = (isBack = false) =>
    tried(async (signal) => {
      if (q === undefined) return;
      const known = nextOf(numbers, current, isBack);
      // Matches behind those that are known, and in what has come since.
      const further = known === undefined && !isBack ? await nextMatch(log, q, current, signal) : undefined;
      to(known ?? further ?? (isBack ? numbers.at(-1) : numbers[0]), 'No line has it');
    });
  const failure = (isBack = false) =>
    tried(async (signal) => {
      const { numbers: failures, hasMore } = await failuresOf(log, signal);
      const known = nextOf(failures, current, isBack);
      const further = known === undefined && !isBack && hasMore ? await nextFailure(log, current, signal) : undefined;
      const next = known ?? further ?? (isBack ? failures.at(-1) : failures[0]);
      to(next, end.complete ? 'Nothing failed' : 'Nothing has failed yet');
    });
  // What is looked for is gone to as soon as it is found, once.
  const gone = useRef(q);
  useEffect(() => {
    if (gone.current === q || (q !== undefined && found === undefined)) return;
    gone.current = q;
    if (q !== undefined) match();
  });
  const count = found === undefined ? '' : `${found.next === null ? '' : 'more than '}${numbers.length}`;
  const counted = q === undefined || count === '' ? '' : `${count} ${count === '1' ? 'line has' : 'lines have'} it`;
  const failed = matches.isError ? matches.error.message : '';
  return { said: failed || said || counted, match, failure };
}
