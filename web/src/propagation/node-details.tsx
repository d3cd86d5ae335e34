import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { AttemptView } from '../../../domain/propagation/plan-request-schema.ts';
import type { Explanation } from '../../../domain/propagation/plan-schema.ts';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { NewestOutput } from '../runs/newest-output.tsx';
import { callApi, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { incomingText, originText } from './plan-text.ts';

interface NodeDetailsProps {
  plan: PlanView;
  /** Its id. */
  node: string;
  /** Where the page of the table begins. */
  after: string | undefined;
}

/** Why a node stands in its plan, what became of it, what ran for it, and what is near it. */
export function NodeDetails({ plan: { id, state }, node, after }: NodeDetailsProps) {
  const path = recordPath(`propagation/plans/${encodeURIComponent(id)}/nodes`, node);
  const explained = useQuery({
    queryKey: ['plan', id, 'explain', node, state],
    queryFn: ({ signal }) => callApi<Explanation>(`${path}/explain`, { signal }),
    placeholderData: (before) => before,
  });
  const attempts = useQuery({
    queryKey: ['plan', id, 'attempts', node, state],
    queryFn: ({ signal }) => callApi<{ attempts: AttemptView[] }>(`${path}/attempts`, { signal }),
    placeholderData: (before) => before,
  });
  const near = useQuery({
    queryKey: ['plan', id, 'near', node, state],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({ around: node, depth: '1' });
      return callApi<string>(`${recordPath('propagation/plans', id)}/graph?${query}`, { signal, isText: true });
    },
    placeholderData: (before) => before,
  });
  return (
    <section aria-label={`Node ${shownText(node)}`}>
      <h2>Node {shownText(node)}</h2>
      <p>
        <Link to="/propagation/$id" params={{ id }} search={{ after_id: after }}>
          Close the node
        </Link>
      </p>
      <Part title="Explain" read={explained}>
        {(explanation) => <Explained explanation={explanation} />}
      </Part>
      <Part title="Attempts" read={attempts}>
        {({ attempts: all }) => {
          const newest = all.at(-1);
          return (
            <>
              <Rows
                name="Attempts"
                columns={COLUMNS}
                rows={all}
                keyOf={(attempt) => attempt.id}
                none="Nothing ran for it."
              />
              {newest !== undefined && newest.run !== null && (
                <NewestOutput
                  path={`${recordPath('propagation/attempts', newest.id)}/logs`}
                  queryKey={['plan', id, 'output', newest.id]}
                  topic={newest.state === 'open' ? `attempt:${newest.id}` : null}
                />
              )}
            </>
          );
        }}
      </Part>
      <Part title="Near it" read={near}>
        {(tree) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
          <section className="diff" aria-label="Graph near it" tabIndex={0}>
            <pre>
              {tree
                .split('\n')
                .map((line) => shownText(line.replaceAll('\t', '    ')))
                .join('\n')}
            </pre>
          </section>
        )}
      </Part>
      <CopyCommand name="Copy explain as CLI" text={`./muster plan explain ${id} ${shellWord(node)}`} />
    </section>
  );
}

function Explained({ explanation }: { explanation: Explanation }) {
  const { origin, chain, incoming, decision } = explanation;
  const { status, reason, triggered_by: by, blocked_by: blocked } = decision;
  return (
    <>
      <p>
        {originText(origin)}. It is <strong>{status}</strong>
        {reason !== undefined && ` (${reason})`}
        {by.length > 0 && `, triggered by ${shownText(by.map(({ node }) => node).join(', '))}`}
        {blocked.length > 0 && `, blocked by ${shownText(blocked.join(', '))}`}.
      </p>
      {chain !== null && chain.length > 0 && (
        <ol aria-label="Way of events">
          {chain.map(({ from, event, to }) => (
            <li key={`${from} ${to}`}>{shownText(`${from} ${event} ${to}`)}</li>
          ))}
        </ol>
      )}
      {incoming.length > 0 && (
        <ul aria-label="Events into it">
          {incoming.map((edge) => (
            <li key={`${edge.from.join(' ')} ${edge.type} ${edge.on}`}>{shownText(incomingText(edge))}</li>
          ))}
        </ul>
      )}
    </>
  );
}

const COLUMNS: readonly ListColumn<AttemptView>[] = [
  { head: 'Attempt', cell: ({ number }) => number },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Outcome', cell: ({ outcome }) => outcome ?? '' },
  { head: 'Message', cell: ({ message, code }) => shownText([message, code].filter(Boolean).join('; ')) },
  { head: 'Leases', cell: ({ leases }) => leases ?? 'none' },
  { head: 'Started', cell: ({ started_at: at }) => (at === null ? 'not yet' : <Moment at={at} />) },
  { head: 'Ended', cell: ({ ended_at: at }) => (at === null ? '' : <Moment at={at} />) },
];
