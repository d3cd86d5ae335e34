/** Queries and bodies of the routes of operators. */
import { z } from 'zod';
import { AFTER_ID_TEXT } from '../schema.ts';
import { PHASES } from './resource-words.ts';

const name = z.string().max(400);
const OPERATOR_TEXT = 'name of the operator; default: all of them';

const PageQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(1000).describe('Most records of the page.'),
  after_id: name.default('').describe(AFTER_ID_TEXT),
});

export const WatchQuerySchema = z.object({ operator: name.optional().describe(OPERATOR_TEXT) });

export const ResourceQuerySchema = PageQuerySchema.extend({
  operator: name.optional().describe(OPERATOR_TEXT),
  kind: name.optional().describe('only resources of this kind, in any case of letters'),
  namespace: name.optional().describe('only resources of this namespace; empty: those that have none'),
  name: name.optional().describe('only resources of this name'),
  phase: z
    .enum([...PHASES, ''])
    .optional()
    .describe('only resources in this phase; those that are gone are listed by it alone'),
});
export type ResourceQuery = z.infer<typeof ResourceQuerySchema>;

export const ReconcileQuerySchema = PageQuerySchema.extend({
  limit: z.int().min(1).max(1000).default(100).describe('Most records of the page.'),
});

export const ReconcileRequestSchema = z
  .strictObject({ check: z.boolean().optional().describe('not supported yet') })
  .meta({ id: 'OperatorReconcileRequest' });

export const PauseSchema = z
  .strictObject({
    until: z.iso.datetime({ offset: true }).optional().describe('default: until somebody resumes it'),
  })
  .meta({ id: 'OperatorPause' });

export const DrainSchema = z
  .strictObject({
    operator: name.optional().describe('default: the only one'),
    run: z.boolean().describe('whether each finalizer runs first; false: the finalizers go at once'),
  })
  .meta({ id: 'OperatorDrain' });
export type Drain = z.infer<typeof DrainSchema>;
