import { describe, expect, test } from '@jest/globals';
import type { ContainerState, JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { exitCodesOf, isJobOver, isLeftRunning, jobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import type { JobStep, StepReport } from '../../../domain/sessions/job-schema.ts';
import { layersArgument } from '../../../domain/sessions/layers-argument.ts';

const container = (name: string, exitCode: number | null, reason = ''): ContainerState => ({
  name,
  state: exitCode === null ? 'waiting' : 'terminated',
  reason,
  message: '',
  exitCode,
});

const view = (more: Partial<JobView>): JobView => ({
  name: 'cfs-1',
  sessionId: 's',
  phase: 'failed',
  reason: '',
  message: '',
  containers: [],
  trouble: null,
  ...more,
});

const trouble = (code: JobTrouble['code'], message: string): JobTrouble => ({ code, message, kind: 'over' });
const failed = (message: string, code?: string): StepReport => ({
  state: 'failed',
  message,
  ...(code === undefined ? {} : { code }),
});

describe('the end of a Job', () => {
  const rows: [string, Partial<JobView>, Partial<Record<JobStep, StepReport>>, string, string | null, RegExp][] = [
    ['complete', { phase: 'complete' }, {}, 'true', null, /complete/],
    ['gone with all it knew', { phase: 'gone' }, {}, 'unknown', 'job_lost', /vanished/],
    [
      'deleted in the middle',
      { phase: 'deleting', containers: [container('ansible', 143)] },
      {},
      'false',
      'job_deleted',
      /deleted/,
    ],
    [
      'deleted when all had succeeded',
      { phase: 'deleting', containers: [container('git-clone', 0), container('ansible', 0)] },
      {},
      'true',
      null,
      /complete/,
    ],
    [
      'failed by a proxy of the cluster alone',
      { containers: [container('git-clone', 0), container('ansible', 0), container('istio-proxy', 143)] },
      {},
      'true',
      null,
      /complete/,
    ],
    [
      'deleted with a proxy alone',
      { phase: 'deleting', containers: [container('proxy', 0)] },
      {},
      'false',
      'job_deleted',
      /deleted/,
    ],
    [
      'out of memory',
      { trouble: trouble('out_of_memory', 'ansible ran out of memory') },
      {},
      'false',
      'out_of_memory',
      /memory/,
    ],
    [
      'what Kubernetes says comes before what a step says',
      { trouble: trouble('evicted', 'the node ran out of disk') },
      { clone: failed('no space left', 'clone_failed') },
      'false',
      'evicted',
      /disk/,
    ],
    [
      'a step that says why',
      { containers: [container('git-clone', 1)] },
      { clone: failed('layer 0: wrong password', 'repository_auth_failed') },
      'false',
      'repository_auth_failed',
      /clone failed: layer 0: wrong password/,
    ],
    [
      'a playbook of which nobody knows how it ended',
      { containers: [container('ansible', 1)] },
      { ansible: failed('the process is gone', 'run_lost') },
      'unknown',
      'run_lost',
      /ansible failed: the process is gone/,
    ],
    [
      'a code that nobody knows',
      {},
      { inventory: failed('odd', 'what') },
      'false',
      'runner_failed',
      /inventory failed: odd/,
    ],
    [
      'the first container that failed',
      { containers: [container('git-clone', 0), container('inventory', 1), container('ansible', 1)] },
      {},
      'false',
      'runner_failed',
      /container inventory ended with exit status 1/,
    ],
    [
      'playbooks that failed',
      { containers: [container('inventory', 0), container('ansible', 4, 'Error')] },
      {},
      'false',
      'layer_failed',
      /container ansible ended with exit status 4$/,
    ],
    [
      'a container that left a last message',
      { containers: [{ ...container('inventory', 3, 'Error'), message: 'no such file\n' }] },
      {},
      'false',
      'runner_failed',
      /container inventory ended with exit status 3: no such file$/,
    ],
    [
      'nothing but Kubernetes words',
      { reason: 'BackoffLimitExceeded', message: 'limit' },
      {},
      'false',
      'runner_failed',
      /BackoffLimitExceeded: limit/,
    ],
  ];
  test.each(rows)('%s', (_name, more, steps, succeeded, code, message) => {
    const outcome = jobOutcome(view(more), steps);
    expect(outcome).toMatchObject({ succeeded, code });
    expect(outcome.message).toMatch(message);
  });

  test.each([
    ['suspended', false],
    ['waiting', false],
    ['running', false],
    ['complete', true],
    ['failed', true],
    ['deleting', true],
    ['gone', true],
  ] as const)('a %s Job is over: %s', (phase, over) => {
    expect(isJobOver(view({ phase }))).toBe(over);
  });

  test.each<[string, boolean, Partial<JobView>]>([
    ['a proxy alone goes on', true, { containers: [container('ansible', 2), container('proxy', null)] }],
    ['one of its own goes on', false, { containers: [container('ansible', null), container('proxy', null)] }],
    ['nothing goes on', false, { containers: [container('ansible', 0), container('proxy', 0)] }],
    ['nothing of its own is known', false, { containers: [container('proxy', null)] }],
    ['it is over', false, { phase: 'failed', containers: [container('ansible', 2), container('proxy', null)] }],
  ])('it is left running: %s, %s', (_what, isLeft, more) => {
    expect(isLeftRunning(view({ phase: 'running', ...more }))).toBe(isLeft);
  });

  test('exit codes by container', () => {
    const containers = [container('git-clone', 0), container('ansible', null)];
    expect(exitCodesOf(view({ containers }))).toEqual({ 'git-clone': 0, ansible: null });
  });
});

describe('the argument of the ansible container', () => {
  const layer = {
    index: 3,
    name: 'base',
    url: 'https://git/x',
    source: 's',
    commit: 'c'.repeat(40),
    playbook: 'site.yml',
    require_dkms: false,
  };
  const snapshot = { layers: [layer], additional_inventory: null, debug_playbook: null, ansible_config: 'cfg' };

  test.each(['restricted', 'compatible'] as const)(
    'names each layer by its index as text, with the URL of its source, in profile %s',
    (profile) => {
      expect(JSON.parse(layersArgument(snapshot, profile))).toEqual([
        { name: 'base', clone_url: 'https://git/x', playbook: 'site.yml', commit: 'c'.repeat(40), layer: '3' },
      ]);
    },
  );

  test.each([
    ['https://u:s3cret@git.x/a.git', 'https://git.x/a.git'],
    ['https://s3cret@git.x:8443/a.git', 'https://git.x:8443/a.git'],
    ['https://s3cret:x-oauth-basic@git.x/a.git', 'https://git.x/a.git'],
    ['http://u:a/s3cret@git.x/a.git', 'http://git.x/a.git'],
    ['ssh://u:s3cret@git.x/a.git', 'ssh://git.x/a.git'],
    ['git@git.x:a.git', 'git@git.x:a.git'],
  ])('has no credentials but for an image that records state by the URL: %s', (url, shown) => {
    const given = { ...snapshot, layers: [{ ...layer, url }] };
    expect(JSON.parse(layersArgument(given, 'restricted'))).toMatchObject([{ clone_url: shown }]);
    expect(JSON.parse(layersArgument(given, 'compatible'))).toMatchObject([{ clone_url: url }]);
  });

  test('of a debugging session is the built-in playbook', () => {
    expect(JSON.parse(layersArgument({ ...snapshot, layers: [], debug_playbook: 'noop' }, 'restricted'))).toEqual([
      { layer: '_debug', clone_url: '', playbook: 'noop.yaml', commit: '' },
    ]);
  });
});
