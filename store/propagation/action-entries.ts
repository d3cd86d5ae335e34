import { sql } from 'kysely';
import type { TimelinePart } from '../components/timeline.ts';

/** The attempts of plans on a component, each at its end. */
export const listActionsOn: TimelinePart = (component) => ({
  from: sql`propagation_attempts t join propagation_plan_nodes n on n.plan = t.plan and n.number = t.node
    join propagation_plans p on p.id = t.plan
    where t.state = 'ended' and t.target = ${`component:${component}`}`,
  at: sql`t.ended_at`,
  type: 'action',
  key: sql`t.id::text`,
  order: sql`t.id`,
  details: sql`jsonb_build_object('plan', p.id, 'plan_name', p.name, 'node', n.id, 'attempt', t.id, 'number', t.number,
    'outcome', t.outcome, 'code', t.code, 'message', t.message)`,
});
