import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { RecordPage } from '../shared/ui/record-page.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { NodeDetails } from './node-details.tsx';
import { PlanNodes } from './plan-nodes.tsx';
import { countsText, type PlanVerb, verbRefusal, whyText } from './plan-text.ts';

/** What does this plan do, and why? */
export function PlanPage() {
  const { id } = useParams({ from: '/propagation/$id' });
  const { dropped, ...search } = useSearch({ from: '/propagation/$id' });
  const path = recordPath('propagation/plans', id);
  return (
    <RecordPage<PlanView>
      key={id}
      title={() => `Plan ${shownText(id)}`}
      path={path}
      queryKey={['plan', id]}
      topic={`plan:${id}`}
      dropped={dropped}
      gone={
        <>
          There is no plan {shownText(id)}: it was removed, or there was none. <Link to="/propagation">All plans</Link>
        </>
      }
      command={() => `./muster plan get ${shellWord(id)}`}
    >
      {(plan) => (
        <>
          <Standing plan={plan} />
          <Verbs plan={plan} />
          {search.shown !== undefined && (
            <NodeDetails key={search.shown} plan={plan} node={search.shown} after={search.after_id} />
          )}
          <PlanNodes plan={plan} search={search} />
        </>
      )}
    </RecordPage>
  );
}

function Standing({ plan }: { plan: PlanView }) {
  const { name, state, percent, summary, created_at, started_at, ended_at, cycles, suppressed } = plan;
  return (
    <>
      <section aria-label="Why">
        <h2>Why</h2>
        <p>
          <strong>{state}</strong>: {whyText(plan)}.
        </p>
      </section>
      <dl>
        <dt>Name</dt>
        <dd>{shownText(name)}</dd>
        <dt>Nodes</dt>
        <dd>
          <progress aria-label="Nodes that have ended" max={100} value={percent} /> {percent} % ended:{' '}
          {countsText(summary)}
        </dd>
        <dt>Runs</dt>
        <dd>{plan.run_number}</dd>
        <dt>Made</dt>
        <dd>
          <Moment at={created_at} />
        </dd>
        {started_at !== null && (
          <>
            <dt>Started</dt>
            <dd>
              <Moment at={started_at} />
            </dd>
          </>
        )}
        {ended_at !== null && (
          <>
            <dt>Ended</dt>
            <dd>
              <Moment at={ended_at} />
            </dd>
          </>
        )}
        {cycles.map(({ members, head, repeated }) => (
          <Fact key={head} term="Loop">
            {shownText(members.join(', '))}; {shownText(head)} goes first, twice run {shownText(repeated.join(', '))}
          </Fact>
        ))}
        {suppressed.length > 0 && <Fact term="Events left out">{suppressed.length}</Fact>}
        {plan.recovered.length > 0 && <Fact term="Mended by a second run">{shownText(plan.recovered.join(', '))}</Fact>}
        {plan.unsettled.length > 0 && (
          <Fact term="Not settled after a second run">{shownText(plan.unsettled.join(', '))}</Fact>
        )}
        {plan.follow_up.length > 0 && <Fact term="Staged by a removal">{shownText(plan.follow_up.join(', '))}</Fact>}
      </dl>
    </>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

const VERBS: readonly { verb: PlanVerb; name: string; effect: string; done: string }[] = [
  { verb: 'run', name: 'Run', effect: 'Its nodes run, in the order of its events.', done: 'It is started.' },
  {
    ...{ verb: 'pause', name: 'Pause' },
    effect: 'Nothing new of it starts. What is in progress goes on to its end.',
    done: 'It is paused.',
  },
  { verb: 'unpause', name: 'Unpause', effect: 'It goes on where it was paused.', done: 'It goes on.' },
  {
    ...{ verb: 'stop', name: 'Stop' },
    effect: 'What is in progress finishes, nothing else starts, and the plan ends.',
    done: 'It is being stopped.',
  },
  {
    ...{ verb: 'abort', name: 'Abort' },
    effect: 'What is in progress is ended too. A machine may be left half-way.',
    done: 'It is being ended.',
  },
  {
    ...{ verb: 'resume', name: 'Resume' },
    effect: 'What was skipped, blocked or not triggered is tried.',
    done: 'It goes on.',
  },
  {
    ...{ verb: 'retry', name: 'Retry' },
    effect: 'What failed is tried again, and what was blocked by it or not triggered.',
    done: 'It goes on.',
  },
  {
    ...{ verb: 'abandon', name: 'Abandon' },
    effect: 'It is given up for good. What it has not committed is free for other plans.',
    done: 'It is abandoned.',
  },
  {
    ...{ verb: 'delete', name: 'Delete' },
    effect: 'Its nodes, attempts and their output are removed too. Committed records and the history stay.',
    done: 'It is deleted.',
  },
];

function Verbs({ plan }: { plan: PlanView }) {
  const may = useActingRefusal();
  const path = recordPath('propagation/plans', plan.id);
  return (
    <div className="buttons">
      {VERBS.map(({ verb, name, effect, done }, place) => (
        <PostAction
          key={verb}
          name={name}
          refusal={may ?? verbRefusal(verb, plan)}
          isTold={place > 0}
          method={verb === 'delete' ? 'DELETE' : 'POST'}
          path={verb === 'delete' ? path : `${path}/${verb}`}
          record={`${plan.name} ${plan.id}`}
          effect={effect}
          done={done}
          changes={['plan', plan.id]}
          command={`./muster plan ${verb} ${plan.id}`}
        />
      ))}
    </div>
  );
}
