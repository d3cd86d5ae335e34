/** The lanes of a worker, from below. A new lane is one line here. */
import { batches } from './lanes/batches.ts';
import { components } from './lanes/components.ts';
import { deployments } from './lanes/deployments.ts';
import { images } from './lanes/images.ts';
import { propagation } from './lanes/propagation.ts';
import { runs } from './lanes/runs.ts';
import { schedules } from './lanes/schedules.ts';
import { sessions } from './lanes/sessions.ts';
import { trust } from './lanes/trust.ts';
import { webhooks } from './lanes/webhooks.ts';
import type { WorkerLane } from './shared/open-shared.ts';

export const LANES: Readonly<Record<string, WorkerLane>> = {
  runs,
  components,
  trust,
  images,
  sessions,
  batches,
  schedules,
  webhooks,
  propagation,
  deployments,
};
