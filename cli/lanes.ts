/** The lanes of the command line. A new lane is one line here. */
import type { CliLane } from './cli-lane.ts';
import { access } from './commands/access/index.ts';
import { audit } from './commands/audit/index.ts';
import { batches } from './commands/batches/index.ts';
import { components } from './commands/components/index.ts';
import { configurations } from './commands/configurations/index.ts';
import { deployments } from './commands/deployments/index.ts';
import { directory } from './commands/directory/index.ts';
import { fleet } from './commands/fleet/index.ts';
import { images } from './commands/images/index.ts';
import { foreign } from './commands/import/index.ts';
import { operator } from './commands/operator/index.ts';
import { propagation } from './commands/propagation/index.ts';
import { runs } from './commands/runs/index.ts';
import { schedules } from './commands/schedules/index.ts';
import { secrets } from './commands/secrets/index.ts';
import { service } from './commands/service/index.ts';
import { sessions } from './commands/sessions/index.ts';
import { stack } from './commands/stack/index.ts';
import { trust } from './commands/trust/index.ts';
import { webhooks } from './commands/webhooks/index.ts';

export const LANES: Readonly<Record<string, CliLane>> = {
  stack,
  sessions,
  components,
  schedules,
  configurations,
  images,
  batches,
  secrets,
  foreign,
  access,
  audit,
  trust,
  webhooks,
  runs,
  operator,
  propagation,
  deployments,
  fleet,
  directory,
  service,
};
