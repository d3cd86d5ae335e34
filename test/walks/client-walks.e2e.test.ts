import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';
import { acceptanceTests, acceptanceTestsV2 } from './acceptance-tests.ts';
import { batcher } from './batcher.ts';
import { bootOrchestration } from './boot-orchestration.ts';
import { commandLine, commandLineV2 } from './command-line.ts';
import { hardwareSync, hardwareSyncV2, stateReporter } from './node-agents.ts';
import { playWalk, type Values } from './play-walk.ts';
import { raceTests, raceTestsV2 } from './race-tests.ts';
import { sessionOperator, sessionOperatorV2 } from './session-operator.ts';
import { statusPlugin, statusPluginV2 } from './status-plugin.ts';
import type { Walk } from './walk.ts';

/** Clients whose sessions run, or that need none. */
const RUNNING: Walk[] = [
  batcher,
  hardwareSync,
  stateReporter,
  statusPlugin,
  bootOrchestration,
  hardwareSyncV2,
  statusPluginV2,
];
/** Clients whose sessions must wait: the only place is taken. */
const WAITING: Walk[] = [
  commandLine,
  sessionOperator,
  acceptanceTests,
  raceTests,
  commandLineV2,
  sessionOperatorV2,
  acceptanceTestsV2,
  raceTestsV2,
];

/** Of one walk: it may wait twice, for a session that runs and for its end, ms. */
const PATIENCE = 420_000;

describeNeeding(stackMissing(), 'clients of CFS', () => {
  let stack: MusterStack;
  const values: Values = { configuration: 'walk', endless: 'walk-endless' };

  beforeAll(async () => {
    // The names by which clients inside a cluster, and outside its gateway, call the service.
    stack = await startMusterStack({ MUSTER_ALLOWED_HOSTS: 'cray-cfs-api,api-gw-service-nmn.local' });
    // The components of the walks are pending: the stack's own batches would start sessions for them, in the only place.
    expect((await stack.call('POST', '/api/v1/batches/pause')).status).toBe(200);
    const repository = await stack.repository('walk');
    const play = '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.ping:\n';
    values.repository = repository.url;
    values.commit = await repository.commit({
      'site.yml': play,
      'net.yml': play,
      'endless.yml':
        '- hosts: localhost\n  gather_facts: false\n  tasks:\n    - ansible.builtin.wait_for: {timeout: 3600}\n',
    });
    await stack.configure('walk', repository.url, ['site.yml', 'net.yml'], ['walk-any']);
    await stack.configure('walk-endless', repository.url, ['endless.yml'], []);
  }, PATIENCE);
  afterAll(async () => {
    await stack?.remove();
  });

  test.each(RUNNING.map((walk) => [walk.client, walk] as const))(
    '%s',
    async (_, walk) => {
      await playWalk(stack.url, walk, values);
    },
    PATIENCE,
  );

  test(
    'the only place for a session is taken',
    async () => {
      await stack.create('blocker', 'walk-endless');
      await stack.call('PATCH', '/v3/options', { max_running_sessions: 1 });
      const running = async () => (await stack.session('blocker')).status.session.status === 'running';
      expect(await eventually('the blocker runs', running, 90_000)).toBe(true);
    },
    PATIENCE,
  );

  test.each(WAITING.map((walk) => [walk.client, walk] as const))(
    '%s',
    async (_, walk) => {
      await playWalk(stack.url, walk, values);
    },
    PATIENCE,
  );
});
