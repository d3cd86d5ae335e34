/** Shapes of the routes of runs: what a run is on the wire. Times are ISO with ms and Z. */
import { z } from 'zod';
import { IdSchema } from './id-schema.ts';
import { RUN_STATES } from './run-states.ts';

export const RunSchema = z
  .strictObject({
    id: z.string(),
    owner: z
      .strictObject({ kind: z.string(), id: z.string(), name: z.string().nullable() })
      .nullable()
      .describe('What the run belongs to, with its name where its kind has names; null for a run of nothing'),
    layer: z.int().describe('Index of the layer of a session; 0 for any other owner'),
    attempt: z.int(),
    machine: z.string().describe('Id of the data directory with its files; `kubernetes` for a run in a Job'),
    state: z.enum(RUN_STATES),
    exit_status: z.int().nullable().describe('Null until it has ended, and for a lost run'),
    error: z.string().nullable().describe('Why Ansible ended it, in one line; null where Ansible did not say'),
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    hosts: z.int().describe('Hosts with results'),
    failed_hosts: z.int(),
  })
  .meta({ id: 'Run' });
export type RunView = z.infer<typeof RunSchema>;

/** The last message of a run's live stream. */
const RunEndSchema = RunSchema.pick({ id: true, state: true, exit_status: true, error: true }).extend({
  deleted: z.boolean(),
});
export type RunStreamEnd = z.infer<typeof RunEndSchema>;

/** What the workflow that ends a run hands to its activity. */
export const EndOneRunSchema = z.object({ runId: IdSchema });
export type EndOneRun = z.infer<typeof EndOneRunSchema>;
