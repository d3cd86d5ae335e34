/** The lanes of the API, in the order of its documents. A new lane is one line here. */
import { access } from './routes/access/index.ts';
import { audit } from './routes/audit/index.ts';
import { batches } from './routes/batches/index.ts';
import { components } from './routes/components/index.ts';
import { configurations } from './routes/configurations/index.ts';
import { deployments } from './routes/deployments/index.ts';
import { fleet } from './routes/fleet/index.ts';
import { images } from './routes/images/index.ts';
import { operator } from './routes/operator/index.ts';
import { propagation } from './routes/propagation/index.ts';
import { runs } from './routes/runs/index.ts';
import { schedules } from './routes/schedules/index.ts';
import { secrets } from './routes/secrets/index.ts';
import { service } from './routes/service/index.ts';
import { sessions } from './routes/sessions/index.ts';
import { trust } from './routes/trust/index.ts';
import { webhooks } from './routes/webhooks/index.ts';
import type { ApiLane } from './shared/api-shared.ts';

export const LANES: Readonly<Record<string, ApiLane>> = {
  service,
  configurations,
  components,
  secrets,
  sessions,
  schedules,
  access,
  webhooks,
  trust,
  audit,
  batches,
  images,
  runs,
  propagation,
  deployments,
  fleet,
  operator,
};
