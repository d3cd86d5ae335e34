/** What the automation's workflows ask of their activities. */
import type {
  BeginScheduleRun,
  PassRequest,
  ScheduleRunFailure,
  ScheduleRunRef,
  WebhookRef,
} from '../../domain/webhooks/activity-schema.ts';

export type { PassRequest, ScheduleRunRef };

export interface PassAnswer {
  /** Milliseconds until the next pass without a poke, at most. */
  waitMs: number;
  /** The instant of that pass, in milliseconds: what passes before the answer arrives is no delay. */
  nextAt: number;
  /** Milliseconds before which a poke has to wait: passes are to take a small part of the time only. */
  restMs: number;
  /** A sentence for who looks at the workflow alone. */
  summary: string;
}

export interface BatcherActivities {
  runBatcherPass(input: PassRequest): Promise<PassAnswer>;
  /** Starts the batcher if it does not run. */
  ensureBatcher(): Promise<void>;
}

/** What the run of a user's schedule asks of its activities. */
export interface ScheduleRunActivities {
  /** Records that the run of this time begins; null when there is nothing to do. */
  beginScheduleRun(input: BeginScheduleRun): Promise<ScheduleRunRef | null>;
  /** Does what the run is for; `following` when it lasts until the sessions that it made are complete. */
  performScheduleRun(input: ScheduleRunRef): Promise<'following' | 'over'>;
  /** Looks at those sessions; answers whether the run is over. */
  followScheduleRun(input: ScheduleRunRef): Promise<boolean>;
  /** Records why the run could not do what it is for. */
  failScheduleRun(input: ScheduleRunFailure): Promise<void>;
  /** Ends the run and asks for the end of its sessions. */
  cancelScheduleRun(input: ScheduleRunRef): Promise<void>;
}

export interface WebhookActivities {
  /** Tells a webhook what is due; milliseconds until the next try, null when nothing waits. */
  deliverNotifications(input: WebhookRef): Promise<{ nextMs: number | null }>;
  /** Starts what delivers to each webhook that has something due, and forgets what is old. */
  wakeWebhooks(): Promise<void>;
}
