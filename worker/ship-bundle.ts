/**
 * Run while a container image is built: bundles the workflows, with tracing and without, since where the image runs nothing
 * can be written and what bundles them may be missing.
 */
import { WORKFLOW_INTERCEPTORS } from '../drivers/tracing/temporal-tracing.ts';
import { SHIPPED_BUNDLES, workflowBundle } from './workflow-bundle.ts';

await workflowBundle(SHIPPED_BUNDLES, undefined);
await workflowBundle(SHIPPED_BUNDLES, WORKFLOW_INTERCEPTORS);
