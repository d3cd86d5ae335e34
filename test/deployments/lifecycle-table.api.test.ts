/** Every cell of the life cycle of a deployment intent group, by HTTP. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ContextState } from '../../domain/deployments/context-state.ts';
import type { GroupState } from '../../domain/deployments/history.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type Made, makeDeployment } from './placement-fixtures.ts';

let api: TestApi;
let made: Made;
let context: string;

beforeAll(async () => {
  api = await createTestApi();
  made = await makeDeployment(api.call, 'cells');
  await api.call('POST', `${made.group}/approve`);
  context = (await api.call('POST', `${made.group}/instantiate`)).body.instance;
});
afterAll(() => api.close());

/** Puts the group into a state, and its AppContext, of which one resource is still to be done and was sent. */
async function put(state: GroupState, contextState: ContextState): Promise<void> {
  const { db } = api.database;
  const owner = made.group.slice('/v2/'.length);
  await db.deleteFrom('deployment_contexts').where('owner', '=', owner).where('id', '!=', context).execute();
  await db.deleteFrom('deployment_actions').where('owner', '=', owner).execute();
  const instance = state === 'Created' || state === 'Approved' ? '' : context;
  const time = api.now.value;
  for (const [number, action] of [
    { state: 'Created' as const, instance: '' },
    { state, instance },
  ].entries()) {
    await db
      .insertInto('deployment_actions')
      .values({ owner, number, ...action, revision: 1, time, actor: null })
      .execute();
  }
  const row = { state: contextState, wanted: null, is_stopped: false };
  await db.updateTable('deployment_contexts').set(row).where('id', '=', context).execute();
  const resource = { status: 'Pending' as const, attempted: true };
  await db.updateTable('context_resources').set(resource).where('context', '=', context).execute();
}

const CALLS = ['approve', 'instantiate', 'terminate', 'stop'] as const;
const [OK, WRONG, BUSY] = ['202', 'invalid_state', 'context_busy'];
/** The state allows it, and the intents of the group keep it. */
const MAY_GO = 'has_children';

test.each<[GroupState, ContextState, ...(string | undefined)[]]>([
  ['Created', 'Terminated', OK, WRONG, WRONG, WRONG, MAY_GO],
  ['Created', 'Terminating', BUSY, WRONG, WRONG, WRONG, BUSY],
  ['Approved', 'Terminated', OK, OK, WRONG, WRONG, MAY_GO],
  ['Instantiated', 'Instantiating', WRONG, WRONG, OK, OK, WRONG],
  ['Instantiated', 'Instantiated', WRONG, WRONG, OK, WRONG, WRONG],
  ['Instantiated', 'InstantiateFailed', WRONG, WRONG, OK, WRONG, WRONG],
  ['InstantiateStopped', 'Instantiating', WRONG, WRONG, OK, WRONG, WRONG],
  ['InstantiateStopped', 'InstantiateFailed', WRONG, WRONG, OK, WRONG, WRONG],
  ['Terminated', 'PreTerminate', BUSY, BUSY, WRONG, OK, BUSY],
  ['Terminated', 'Terminating', BUSY, BUSY, WRONG, OK, BUSY],
  ['Terminated', 'Terminated', OK, OK, WRONG, WRONG, MAY_GO],
  ['Terminated', 'TerminateFailed', OK, OK, OK, WRONG, MAY_GO],
  ['TerminateStopped', 'Terminating', WRONG, BUSY, BUSY, WRONG, BUSY],
  ['TerminateStopped', 'TerminateFailed', WRONG, OK, OK, WRONG, MAY_GO],
])('%s with an AppContext %s', async (state, contextState, ...expected) => {
  const answers: string[] = [];
  for (const call of CALLS) {
    await put(state, contextState);
    const { status, body } = await api.call('POST', `${made.group}/${call}`);
    answers.push(status === 202 ? '202' : body.code);
    if (status === 202) continue;
    // A refused call changes nothing.
    const shown = await api.call('GET', `${made.group}/status?output=summary&instance=${context}`);
    expect(shown.body).toMatchObject({ state, status: contextState });
  }
  await put(state, contextState);
  answers.push((await api.call('DELETE', made.group)).body.code);
  expect(answers).toEqual(expected);
});
