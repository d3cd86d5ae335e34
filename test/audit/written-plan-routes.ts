/** Requests that write plans, and the audit records that they leave. */
import { advance } from '../../control/propagation/advance.ts';
import { recordAttempt } from '../../control/propagation/record-attempt.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import { type Expected, type Send, some, type WrittenRoute } from './written-route.ts';

const BASE = '/api/v1/propagation';
type Prepare = (api: TokenApi, send: Send) => Promise<string>;

let count = 0;

/** Makes a resource of its own with one action that is executed. */
async function makeResource(api: TokenApi, send: Send): Promise<string> {
  const name = `planned-${count++}`;
  if (count === 1) {
    await send('POST', `${BASE}/repositories`, { name: 'of-plans' });
    const files = { 'meta.yaml': 'handler: shell\n', 'actions/run.sh': 'true' };
    await send('PUT', `${BASE}/repositories/of-plans/definitions/part/1.0.0`, { files });
  }
  // Whatever else is staged, or was taken by another plan, is of no use here.
  await api.database.db.deleteFrom('propagation_staged_items').execute();
  await send('POST', `${BASE}/resources`, {
    name,
    from: 'of-plans/part',
    inputs: { location_id: 'localhost' },
  });
  return name;
}

const built: Prepare = async (api, send) => {
  const name = await makeResource(api, send);
  return (await send('POST', `${BASE}/changes/process`, { tags: `name=${name}`, name: 'made' })).id;
};
const running: Prepare = async (api, send) => {
  const id = await built(api, send);
  await send('POST', `${BASE}/plans/${id}/run`);
  return id;
};
const paused: Prepare = async (api, send) => {
  const id = await running(api, send);
  await send('POST', `${BASE}/plans/${id}/pause`);
  return id;
};
/** Starts a plan and its attempt. Returns both. */
async function going(api: TokenApi, send: Send): Promise<{ id: string; attempt: string }> {
  const id = await running(api, send);
  const { attempts } = await advance(stepsOf(api), { plan: id, own: [], away: [] });
  return { id, attempt: attempts[0]?.attempt ?? '' };
}
const stepsOf = (api: TokenApi) => ({ db: api.database.db, clock: () => api.now.value });
const lost: Prepare = async (api, send) => {
  const { id, attempt } = await going(api, send);
  await recordAttempt(stepsOf(api), attempt, { outcome: 'error', verified: false });
  await advance(stepsOf(api), { plan: id, own: [], away: [] });
  return attempt;
};
const failed: Prepare = async (api, send) => {
  const { id, attempt } = await going(api, send);
  await recordAttempt(stepsOf(api), attempt, { outcome: 'failed', verified: true });
  await advance(stepsOf(api), { plan: id, own: [], away: [] });
  return id;
};

const made = (action: string, before: unknown, after: unknown): Expected => [action, 'plan', 'made/ID', before, after];

/** A command on a plan leaves one record, which says what has changed of state and wish. */
const command = (verb: string, prepare: Prepare, before: object, after: object): Record<string, WrittenRoute> => ({
  [`POST ${BASE}/plans/:id/${verb}`]: {
    path: `${BASE}/plans/{id}/${verb}`,
    prepare,
    records: [made(verb, before, after)],
  },
});

export const PLAN_ROUTES: Record<string, WrittenRoute> = {
  [`POST ${BASE}/changes/process`]: {
    path: `${BASE}/changes/process`,
    body: { name: 'made' },
    prepare: makeResource,
    records: [made('process', null, some({ state: 'built' }))],
  },
  ...command('run', built, { state: 'built' }, { state: 'running' }),
  ...command('stop', running, { wish: null }, { wish: 'stop' }),
  ...command('abort', running, { wish: null }, { wish: 'abort' }),
  ...command('pause', running, { state: 'running' }, { state: 'paused' }),
  ...command('unpause', paused, { state: 'paused' }, { state: 'running' }),
  ...command('resume', failed, { state: 'failed' }, { state: 'running' }),
  ...command('retry', failed, { state: 'failed' }, { state: 'running' }),
  ...command('abandon', built, { state: 'built' }, { state: 'abandoned' }),
  [`DELETE ${BASE}/plans/:id`]: {
    path: `${BASE}/plans/{id}`,
    prepare: built,
    records: [made('delete', some({ state: 'built' }), null)],
  },
  [`POST ${BASE}/attempts/:id/release`]: {
    path: `${BASE}/attempts/{id}/release`,
    prepare: lost,
    records: [['release', 'attempt', 'ID', { verified: false }, { verified: true }]],
  },
  [`POST ${BASE}/changes/simulate`]: {
    path: `${BASE}/changes/simulate`,
    prepare: makeResource,
    records: [],
    nothing: 'what is staged for a plan on paper is taken back',
  },
  [`POST ${BASE}/plans/:id/simulate`]: {
    path: `${BASE}/plans/{id}/simulate`,
    prepare: built,
    records: [],
    nothing: 'a plan on paper is kept nowhere',
  },
};
