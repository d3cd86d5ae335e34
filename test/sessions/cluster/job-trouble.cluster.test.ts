import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JobSpec, JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { RunnerSettings } from '../../../drivers/kubernetes-runner/runner-settings.ts';
import { kubectl, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, type Scripts, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-trouble');
});
afterAll(() => namespace.remove());

/** What a busy node says for a moment, of any pod. */
const PASSES = /failed to sync|FailedCreatePodSandBox|NetworkNotReady|^node \S+ is not ready/;

/** The first view with a trouble that does not pass by itself, and how the Job was ended after it. */
async function troubled(
  more: Partial<RunnerSettings>,
  scripts: Scripts = {},
  { act, ...made }: Partial<JobSpec> & { act?: (name: string) => Promise<unknown> } = {},
): Promise<JobView> {
  const { jobs } = scriptedJobs(smallSettings(namespace.name, more), scripts);
  const spec = jobSpec(made);
  await jobs.start(spec, signal);
  let found: JobView | null = null;
  let acted = false;
  await jobs.follow(
    spec.name,
    async (view) => {
      if (act !== undefined && !acted && view.phase === 'running') {
        acted = true;
        await act(spec.name);
      }
      found = view;
      return view.trouble !== null && !PASSES.test(view.trouble.message);
    },
    signal,
  );
  const { unverified } = await jobs.end(spec.name, 60_000);
  expect(unverified).toBeNull();
  await jobs.release(spec.name);
  if (found === null) throw new Error('nothing was told');
  return found;
}

const saying = (code: JobTrouble['code'], kind: JobTrouble['kind'], words: RegExp) => ({
  code,
  kind,
  message: expect.stringMatching(words),
});

describe('what is told of a Job that does not run as it should', () => {
  test('an image that nobody has', async () => {
    const view = await troubled({ ansibleImage: 'localhost/muster/none:1' });
    expect(view.trouble).toEqual(
      saying('image_pull_failed', 'impossible', /container ansible: .*localhost\/muster\/none:1/),
    );
    expect(view.phase).not.toBe('failed');
  });

  test('an image that may not be pulled', async () => {
    const view = await troubled({ ansibleImage: 'localhost/muster/none:1', pullPolicy: 'Never' });
    expect(view.trouble).toEqual(saying('image_pull_failed', 'impossible', /ErrImageNeverPull/));
  });

  test('an image whose name is none', async () => {
    const view = await troubled({ utilImage: 'UPPER CASE:1' });
    expect(view.trouble).toEqual(saying('container_config_invalid', 'impossible', /git-clone: InvalidImageName/));
  });

  test('a volume of what is not there', async () => {
    const view = await troubled({}, {}, { secret: { 'credentials.json': '[]' } });
    const words = /FailedMount: .*volume "session[-a-z]*" : references non-existent secret key: token/;
    expect(view.trouble).toEqual(saying('container_config_invalid', 'impossible', words));
    expect(view.phase).toBe('waiting');
  });

  test('a pod that Kubernetes does not make', async () => {
    const view = await troubled({ serviceAccount: 'nobody' });
    const words = /FailedCreate: .*serviceaccount "nobody" not found/;
    expect(view.trouble).toEqual(saying('container_config_invalid', 'impossible', words));
    expect(view.containers).toEqual([]);
  });

  test('more memory than the limit', async () => {
    const eat = `python3 -c 'x = bytearray(512 * 1024 * 1024); print(len(x))'`;
    const view = await troubled({ limits: { cpu: '1', memory: '64Mi' } }, { ansible: eat });
    expect(view.trouble).toEqual(saying('out_of_memory', 'over', /container ansible/));
    expect(view.containers.find(({ name }) => name === 'ansible')?.exitCode).toBe(137);
  });

  test('a request that no node can meet', async () => {
    const view = await troubled({ requests: { memory: '900Gi' }, limits: { memory: '900Gi' } });
    expect(view.trouble).toEqual(saying('unschedulable', 'impossible', /Insufficient memory/));
    expect(view.phase).toBe('waiting');
  });

  test('a selector that no node has', async () => {
    const view = await troubled({ nodeSelector: { 'muster/none': 'yes' } });
    expect(view.trouble).toEqual(saying('unschedulable', 'impossible', /node affinity\/selector/));
  });

  test('cpu that others have', async () => {
    const listed = JSON.parse(await kubectl(['get', 'nodes', '-o', 'json']));
    const cores = Math.max(
      ...listed.items.map((node: { status: { allocatable: { cpu: string } } }) => Number(node.status.allocatable.cpu)),
    );
    const most = { cpu: `${cores * 1000 - 300}m`, memory: '32Mi' };
    const settings = smallSettings(namespace.name, { requests: most, limits: { cpu: String(cores), memory: '64Mi' } });
    const first = scriptedJobs(settings, { ansible: 'sleep 600' });
    const holder = jobSpec();
    await first.jobs.start(holder, signal);
    await first.jobs.follow(holder.name, async ({ phase }) => phase === 'running', signal);
    const view = await troubled({ requests: most, limits: { cpu: String(cores), memory: '64Mi' } });
    expect(view.trouble).toEqual(saying('unschedulable', 'waiting', /Insufficient cpu/));
    await first.jobs.end(holder.name, 60_000);
    await first.jobs.release(holder.name);
  });

  test('a Job that runs too long', async () => {
    const view = await troubled({}, { ansible: 'sleep 600' }, { deadlineSeconds: 2 });
    expect(view.trouble).toEqual(saying('deadline_exceeded', 'over', /deadline/));
  });

  test.each([
    ['with patience', ['--wait=false']],
    ['by force', ['--force', '--grace-period=0', '--wait=false']],
  ])('a pod that is deleted %s', async (_, flags) => {
    const act = async (name: string) => {
      await namespace.kubectl(['delete', 'pod', '-l', `batch.kubernetes.io/job-name=${name}`, ...flags]);
    };
    const view = await troubled({}, { ansible: 'trap "exit 9" TERM; sleep 600 & wait' }, { act });
    expect(view.trouble).toEqual(saying('pod_deleted', 'over', /was deleted/));
  });

  test('a pod that is evicted', async () => {
    const act = async (name: string) => {
      const [pod = ''] = (
        await namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${name}`, '-o', 'name'])
      ).split('\n');
      const own = pod.replace('pod/', '');
      const eviction = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: own, namespace: namespace.name },
      };
      const path = `/api/v1/namespaces/${namespace.name}/pods/${own}/eviction`;
      await namespace.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
    };
    const view = await troubled({}, { ansible: 'trap "exit 9" TERM; sleep 600 & wait' }, { act });
    expect(view.trouble).toEqual(saying('evicted', 'over', /Eviction/));
  });
});
