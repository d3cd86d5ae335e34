/** How users name plans: by an id, by how it begins, or as one of the newest. */
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';

export const PLANS = '/api/v1/propagation/plans';
const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NEWEST = /^last(\d{0,4})$/;
const BEGINNING = /^[0-9a-f][0-9a-f-]{0,35}$/i;

export const planPath = (id: string): string => `${PLANS}/${segment(id)}`;
export const nodePath = (id: string, node: string): string => `${planPath(id)}/nodes/${segment(node)}`;

/** Whether a word can name a plan. */
export const namesPlan = (word: string): boolean => NEWEST.test(word) || BEGINNING.test(word);

/**
 * Returns the id of the plan that a word names: its id, the beginning of its id, `last` for the newest, `last1` for the one before.
 * Throws a `CliFailure`.
 */
export async function planId(api: ApiClient, word: string): Promise<string> {
  if (WHOLE.test(word)) return word;
  const place = NEWEST.exec(word)?.[1];
  if (place !== undefined) {
    const number = Number(place);
    const { plans } = await list(api, { limit: number + 1 });
    return plans[number]?.id ?? notFound(`there are ${plans.length} plans`);
  }
  if (!BEGINNING.test(word)) throw usage(`'${word}' names no plan: give its id, how its id begins, or last`);
  const { plans } = await list(api, { prefix: word, limit: 2 });
  if (plans.length > 1) throw usage(`the ids of several plans begin with ${word}: give more of it`);
  return plans[0]?.id ?? notFound(`there is no plan whose id begins with ${word}`);
}

const list = (api: ApiClient, query: Record<string, string | number>): Promise<{ plans: PlanView[] }> =>
  api.json({ method: 'GET', path: PLANS, query });

function notFound(detail: string): never {
  throw new CliFailure('plan_not_found', detail, EXIT.notFound);
}
