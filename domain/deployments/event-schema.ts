/** Events of an AppContext: one for each change of a status, a state or a connectivity. */
import { z } from 'zod';
import { CONNECTIVITIES } from './connectivity.ts';
import { CONTEXT_STATES, type ContextState } from './context-state.ts';
import { GROUP_STATES } from './history.ts';
import { RSYNC_STATUSES } from './resource-status.ts';

/** Events of an AppContext that stay whatever their age. */
export const EVENTS_KEPT = 100_000;
/** Events that are younger stay however many there are, ms: their readers are on their way. */
export const EVENTS_KEPT_MS = 10 * 60_000;

const common = { seq: z.int().describe('number in the AppContext, from 1'), time: z.string() };

export const ContextEventSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      ...common,
      type: z.literal('resource').describe('the status of a resource, or its reason, has changed'),
      app: z.string(),
      cluster: z.string().describe('`<provider>+<cluster>`'),
      resource: z.string().describe('`<name>+<kind>`'),
      from: z.enum(RSYNC_STATUSES),
      status: z.enum(RSYNC_STATUSES),
      reason: z.string().nullable(),
      message: z.string().nullable(),
    }),
    z.strictObject({
      ...common,
      type: z.literal('status').describe('the AppContext has another state'),
      from: z.enum(CONTEXT_STATES),
      status: z.enum(CONTEXT_STATES),
    }),
    z.strictObject({
      ...common,
      type: z.literal('state').describe('a call has given the deployment another state'),
      state: z.enum(GROUP_STATES),
    }),
    z.strictObject({
      ...common,
      type: z.literal('connectivity').describe('a cluster answers, or does not answer any more'),
      cluster: z.string().describe('`<provider>+<cluster>`'),
      connectivity: z.enum(CONNECTIVITIES),
    }),
  ])
  .meta({ id: 'DeploymentEvent' });
export type ContextEvent = z.infer<typeof ContextEventSchema>;

/** The last message of a live stream of events. */
export interface EventsEnd {
  /** Id of the AppContext. */
  instance: string;
  /** State of the AppContext; null: it was removed. */
  status: ContextState | null;
  deleted: boolean;
}
