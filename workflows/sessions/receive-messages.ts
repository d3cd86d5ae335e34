/** What a session's workflow does with each message: it notes it, and the work goes by that. */
import { ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import {
  cancelSession,
  finishDebug,
  getProgress,
  leasesFree,
  type RetrySession,
  retrySession,
  slotFree,
} from './messages.ts';
import { requestCancel, type State } from './session-state.ts';

export function receiveMessages(state: State): void {
  const refuseUnlessHolding = () => {
    if (!state.holding) {
      throw ApplicationFailure.nonRetryable('the session does not hold after a failure', 'session_not_holding');
    }
  };
  setHandler(cancelSession, ({ reason }) => requestCancel(state, reason, 'cancelled'), {
    description: 'Ends the session as soon as no process of it is left. A second one changes nothing.',
  });
  setHandler(
    slotFree,
    () => {
      state.slot = true;
    },
    { description: 'A session slot may be free: the session asks for it again.' },
  );
  setHandler(
    leasesFree,
    () => {
      state.leases = true;
    },
    { description: 'Components may have been given back: the session asks for its own again.' },
  );
  setHandler(
    finishDebug,
    () => {
      state.finish = true;
    },
    {
      validator: refuseUnlessHolding,
      description: 'Ends the hold after a failure. Refused (session_not_holding) while the session does not hold.',
    },
  );
  setHandler(
    retrySession,
    (retry: RetrySession) => {
      state.retry = retry;
    },
    {
      validator: (_retry: RetrySession) => refuseUnlessHolding(),
      description:
        'Runs the failed layer again, on all hosts or those that failed. Refused (session_not_holding) while the session does not hold.',
    },
  );
  setHandler(getProgress, () => state.progress, {
    description: 'Phase, layer and attempt of the session, with a sentence on what it does or waits for.',
  });
  // A cancellation of the workflow itself, from Temporal's web UI, means the same as the command. Its record comes with the end.
  CancellationScope.current().cancelRequested.catch(() => requestCancel(state, 'cancelled in Temporal', 'cancelled'));
}
