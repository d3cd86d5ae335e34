import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { OperatorResourceView } from '../../../domain/operator/view-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { recordPath } from '../shared/api-call.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { RecordPage } from '../shared/ui/record-page.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { ReconcileDetails } from './reconcile-details.tsx';
import { Reconciles } from './reconciles.tsx';
import { nameOf, type ResourceVerb, resourceCommand, verbRefusal, whyText } from './resource-text.ts';

/** What does this resource do, and why? */
export function ResourcePage() {
  const { id } = useParams({ from: '/operator/$id' });
  const { dropped, ...search } = useSearch({ from: '/operator/$id' });
  return (
    <RecordPage<OperatorResourceView>
      key={id}
      title={(found) => `Resource ${shownText(found === undefined ? id : `${found.kind} ${nameOf(found)}`)}`}
      path={recordPath('operator/resources', id)}
      queryKey={['operator', 'resource', id]}
      topic={`operator:${id}`}
      dropped={dropped}
      gone={
        <>
          There is no resource with the id {shownText(id)}: its record was removed, or there was none.{' '}
          <Link to="/operator">All custom resources</Link>
        </>
      }
      command={(found) => (found === undefined ? './muster operator list' : resourceCommand('get', found))}
    >
      {(resource) => (
        <>
          <Standing resource={resource} />
          <Verbs resource={resource} />
          {search.shown !== undefined && <ReconcileDetails key={search.shown} id={search.shown} />}
          <Reconciles resource={id} search={search} />
        </>
      )}
    </RecordPage>
  );
}

function Standing({ resource }: { resource: OperatorResourceView }) {
  const { phase, reason, next_attempt_at: next, paused_until: until, operator, group, version, kind } = resource;
  return (
    <>
      <section aria-label="Why">
        <h2>Why</h2>
        <p>
          <strong>{phase}</strong>: {whyText(resource)}.{reason !== null && ` ${shownText(reason)}`}
        </p>
      </section>
      <dl>
        <dt>Next attempt</dt>
        <dd>{next === null ? 'at its next change' : <Moment at={next} />}</dd>
        <dt>Failures in a row</dt>
        <dd>{resource.failures_in_a_row}</dd>
        {until !== null && (
          <>
            <dt>Paused until</dt>
            <dd>
              <Moment at={until} />
            </dd>
          </>
        )}
        <dt>Operator</dt>
        <dd>
          <Link to="/operator" search={{ operator }}>
            {shownText(operator)}
          </Link>
        </dd>
        <dt>Kind</dt>
        <dd>{shownText(`${kind} (${group === '' ? version : `${group}/${version}`})`)}</dd>
        <dt>Generation</dt>
        <dd>{resource.generation}</dd>
        <dt>UID</dt>
        <dd>{shownText(resource.uid)}</dd>
      </dl>
    </>
  );
}

const VERBS: readonly { verb: ResourceVerb; name: string; effect: string; done: string }[] = [
  {
    ...{ verb: 'reconcile', name: 'Reconcile' },
    effect: 'It reconciles as soon as a slot is free; a reconcile that runs is followed by another one.',
    done: 'It is to reconcile now.',
  },
  {
    ...{ verb: 'cancel', name: 'Cancel' },
    effect: 'The reconcile that runs is ended, or the one that waits is dropped. It is not tried again by itself.',
    done: 'The reconcile is being cancelled.',
  },
  {
    ...{ verb: 'pause', name: 'Pause' },
    effect: 'No further reconcile of it begins until it is resumed. A reconcile that runs goes on to its end.',
    done: 'It is paused.',
  },
  {
    ...{ verb: 'resume', name: 'Resume' },
    effect: 'What became due while it was paused reconciles now.',
    done: 'It runs again.',
  },
];

function Verbs({ resource }: { resource: OperatorResourceView }) {
  const may = useActingRefusal();
  return (
    <div className="buttons">
      {VERBS.map(({ verb, name, effect, done }, place) => (
        <PostAction
          key={verb}
          name={name}
          refusal={may ?? verbRefusal(verb, resource)}
          isTold={may !== null && place > 0}
          path={`${recordPath('operator/resources', resource.id)}/${verb}`}
          record={`${resource.kind} ${nameOf(resource)}`}
          effect={effect}
          done={done}
          changes={['operator']}
          command={resourceCommand(verb, resource)}
        />
      ))}
    </div>
  );
}
