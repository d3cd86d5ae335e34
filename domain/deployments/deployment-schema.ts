/** Shapes of deployments on Muster's own surface. */
import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../schema.ts';
import { CONTEXT_STATES } from './context-state.ts';
import { GROUP_STATES } from './history.ts';

export const DEPLOYMENT_NAME_TEXT =
  'name of the deployment; `<project>+<composite-app>+<version>+<name>` where it was made under `/v2`';

const LinksSchema = z.object({
  self: z.string(),
  status: z.string(),
  intent_group: z.string().describe('the same as EMCO shows it'),
});

export const DeploymentViewSchema = z
  .object({
    name: z.string().describe(DEPLOYMENT_NAME_TEXT),
    description: z.string(),
    state: z.enum(GROUP_STATES).describe('what was asked for'),
    status: z.enum(CONTEXT_STATES).nullable().describe('state of the AppContext: how far it got; null without one'),
    instance: z.string().nullable().describe('id of the AppContext'),
    revision: z.int().describe('counted up with each AppContext'),
    apps: z.array(z.string()).describe('in the order in which they were added'),
    counts: z.record(z.string(), z.int()).describe('resources of the AppContext by their status'),
    ready: z
      .boolean()
      .nullable()
      .describe('whether everything is there and ready; null without an AppContext, and in lists'),
    is_removed: z.boolean().describe('it goes away by itself once its objects are deleted'),
    created_at: z.string(),
    changed_at: z.string().describe('time of the last entry of its history'),
    changed_by: z.string().nullable(),
    links: LinksSchema,
  })
  .meta({ id: 'Deployment' });
export type DeploymentView = z.infer<typeof DeploymentViewSchema>;

export const RemovedDeploymentSchema = z
  .object({
    name: z.string(),
    is_gone: z.boolean().describe('false: its objects are being deleted first, and then it goes by itself'),
  })
  .meta({ id: 'RemovedDeployment' });

export const DeploymentListQuerySchema = z.object({
  limit: z.int().min(1).max(1000).default(100).describe(LIMIT_TEXT),
  after_id: z.string().max(600).default('').describe(AFTER_ID_TEXT),
});
