import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { databaseTime, forgetLeftProcesses } from '../../store/operator/operators.ts';
import { listAbandoned, OPERATOR_CHANNEL, takeUntoldPauses } from '../../store/operator/requests.ts';
import { runGivenUp } from '../../workflows/operator/messages.ts';
import { type FollowChannelOptions, followChannel } from '../changes/follow-channel.ts';
import type { OperatorSite } from './operator-site.ts';
import { reconcileWorkflowId, wantedDispatcher } from './wanted-workflows.ts';

/** A pod that is gone stays on record so long (ms). */
const FORGET_MS = 60 * 60_000;

type RequestSite = Pick<OperatorSite, 'db' | 'clock' | 'operator' | 'tell' | 'client' | 'log' | 'notices'>;

/**
 * Turns what people have asked for into work: the dispatcher looks for what is due, a reconcile that is cancelled while its machine is away is
 * given up, as is each of a pod that is gone, and an Event tells of a pause. Each of several processes may do it: the second finds nothing to
 * do. Runs that are cancelled are ended by their own machine.
 */
export async function serveRequests(site: RequestSite): Promise<void> {
  const { db, clock, operator, tell, client, log, notices } = site;
  await tell([wantedDispatcher(operator)]);
  const now = clock();
  const signs = (await databaseTime(db)).getTime();
  for (const { id, uid, version } of await listAbandoned(db, operator, new Date(signs - SEEN_MS))) {
    await client.workflow
      .getHandle(reconcileWorkflowId(operator, { uid, version }))
      .signal(runGivenUp)
      .catch((error: unknown) => {
        log.warn(
          { reconcile: id, err: messageOf(error) },
          'Temporal was not told that a run is given up; it is told again',
        );
      });
  }
  await forgetLeftProcesses(db, operator, new Date(signs - FORGET_MS));
  for (const { by, until, ...of } of await takeUntoldPauses(db, operator, now)) {
    const words = [by === null ? '' : `by ${by}`, until === null ? '' : `until ${until.toISOString()}`];
    notices.tell(of, 'Paused', ['Reconciliation is paused', ...words].filter((word) => word !== '').join(' '));
  }
}

/** Serves requests as soon as they are announced. Returns how to stop. */
export function followRequests(
  site: RequestSite,
  { database, log }: Pick<FollowChannelOptions, 'database' | 'log'>,
): () => Promise<void> {
  return followChannel({
    database,
    log,
    name: `muster-operator-${site.operator}-requests`.slice(0, 60),
    channel: OPERATOR_CHANNEL,
    act: () => serveRequests(site),
  });
}
