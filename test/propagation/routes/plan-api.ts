/** Plans over REST, driven by the very steps that their workflow takes. */
import { advance } from '../../../control/propagation/advance.ts';
import { recordAttempt } from '../../../control/propagation/record-attempt.ts';
import type { Outcome } from '../../../domain/propagation/event-schema.ts';
import { createTokenApi, type TokenApi } from '../../support/stack/token-api.ts';
import { notingTell } from '../../support/temporal/told.ts';
import { MODEL_TABLES, type ModelApi, modelApi } from './model-api.ts';

/** Tables that a test of plans begins without. */
export const PLAN_TABLES = [...MODEL_TABLES, 'propagation_plans', 'propagation_leases', 'propagation_frozen', 'audit'];

export type PlanApi = Awaited<ReturnType<typeof openPlanApi>>;

export async function openPlanApi() {
  const { tell, told } = notingTell();
  const api: TokenApi = await createTokenApi({ tell, clock: () => new Date() });
  const as = (role: 'reader' | 'operator' | 'admin'): ModelApi =>
    modelApi((...request) => api.as(api.tokens[role], ...request));
  const deps = { db: api.database.db, clock: () => new Date() };
  const plans = {
    api,
    told,
    as,
    ...as('admin'),
    db: api.database.db,
    /** Resources that hold data alone: nothing is executed for them. */
    async data(...names: string[]) {
      const files = { 'meta.yaml': 'handler: none\ninput: {v: {schema: str, value: own}}\n' };
      await plans.made('PUT', '/repositories/apps/definitions/data/1.0.0', { files });
      for (const name of names) await plans.made('POST', '/resources', { name, from: 'apps/data' });
    },
    /** Resources whose actions are executed on this machine. */
    async work(...names: string[]) {
      const inputs = { location_id: 'localhost' };
      for (const name of names) await plans.made('POST', '/resources', { name, from: 'apps/part', inputs });
    },
    async process(body: object = {}): Promise<string> {
      return (await plans.made('POST', '/changes/process', body)).id;
    },
    /** One step of a plan. Returns the attempts to watch. */
    async step(plan: string): Promise<string[]> {
      const { attempts } = await advance(deps, { plan, own: [], away: [] });
      return attempts.map(({ attempt }) => attempt);
    },
    end: (attempt: string, outcome: Outcome, more: { message?: string; verified?: boolean } = {}) =>
      recordAttempt(deps, attempt, { outcome, verified: true, ...more }),
    /** Runs a plan to its end; every attempt ends as it is said. */
    async finish(plan: string, outcome: Outcome = 'changed'): Promise<void> {
      for (let step = 0; step < 100; step++) {
        const { isOver, attempts } = await advance(deps, { plan, own: [], away: [] });
        if (isOver) return;
        for (const { attempt } of attempts) await plans.end(attempt, outcome);
      }
      throw new Error(`plan ${plan} comes to no end`);
    },
  };
  return plans;
}
