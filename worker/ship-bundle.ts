/** Run while a container image is built: bundles the workflows, since nothing can be written where the image runs. */
import { SHIPPED_BUNDLES, workflowBundle } from './workflow-bundle.ts';

await workflowBundle(SHIPPED_BUNDLES, undefined);
