/**
 * All tables as Kysely sees them, by lane; the SQL that makes them is in `migrations/`. Times are UTC, names sort by code point.
 * A new lane is one line in each of the two lists.
 */
import type { AccessTables } from './access/tables.ts';
import type { AuditTables } from './audit/tables.ts';
import type { BatchTables } from './batches/tables.ts';
import type { ComponentTables } from './components/tables.ts';
import type { ConfigurationTables } from './configurations/tables.ts';
import type { ServiceTables } from './connection/tables.ts';
import type { DeploymentTables } from './deployments/tables.ts';
import type { FleetTables } from './fleet/tables.ts';
import type { ImageTables } from './images/tables.ts';
import type { OperatorTables } from './operator/tables.ts';
import type { PropagationTables } from './propagation/tables.ts';
import type { RequestTables } from './requests/tables.ts';
import type { RunTables } from './runs/tables.ts';
import type { ScheduleTables } from './schedules/tables.ts';
import type { SecretTables } from './secrets/tables.ts';
import type { SessionTables } from './sessions/tables.ts';
import type { TrustTables } from './trust/tables.ts';
import type { WebhookTables } from './webhooks/tables.ts';

export interface Database
  extends AccessTables,
    RequestTables,
    AuditTables,
    RunTables,
    SecretTables,
    ConfigurationTables,
    ComponentTables,
    TrustTables,
    ImageTables,
    SessionTables,
    BatchTables,
    ScheduleTables,
    WebhookTables,
    PropagationTables,
    OperatorTables,
    DeploymentTables,
    FleetTables,
    ServiceTables {}
