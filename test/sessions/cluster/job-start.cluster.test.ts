import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JobSpec, JobTrouble } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { ClusterRequest } from '../../../drivers/kubernetes/cluster-client.ts';
import { LABELS } from '../../../drivers/kubernetes-runner/objects.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { jobSpec, scriptedJobs, smallSettings } from '../../support/kubernetes/scripted-jobs.ts';

const signal = new AbortController().signal;
let namespace: TestNamespace;

beforeAll(async () => {
  namespace = await makeNamespace('m-c-start');
});
afterAll(() => namespace.remove());

const objects = (kinds: string) => namespace.kubectl(['get', kinds, '-o', 'name']);
const secretOf = async (name: string) => JSON.parse(await namespace.kubectl(['get', 'secret', name, '-o', 'json']));
const ended = async ({ phase }: { phase: string }) => phase === 'complete' || phase === 'failed';

describe('starting a Job, with a crash between any two steps', () => {
  const steps: [string, (request: ClusterRequest) => boolean][] = [
    ['before the Job is made', ({ method, path }) => method === 'POST' && path.endsWith('/jobs')],
    ['before the Secret is made', ({ method, path }) => method === 'POST' && path.endsWith('/secrets')],
    ['before the Job is let run', ({ method, path }) => method === 'PATCH' && path.includes('/jobs/')],
  ];

  test.each(steps)('%s: repeating it makes one Job that runs', async (_, isStep) => {
    const settings = smallSettings(namespace.name);
    const spec = jobSpec();
    const crashing = scriptedJobs(settings, {}, (request) => {
      if (isStep(request)) throw new Error('crash');
    });
    await expect(crashing.jobs.start(spec, signal)).rejects.toThrow('crash');
    expect((await crashing.jobs.view(spec.name)).phase).toMatch(/^(gone|suspended)$/);
    expect(
      await namespace.kubectl(['get', 'pods', '-l', `batch.kubernetes.io/job-name=${spec.name}`, '-o', 'name']),
    ).toBe('');
    const { jobs } = scriptedJobs(settings, {});
    await jobs.start(spec, signal);
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, ended, signal);
    expect((await jobs.view(spec.name)).phase).toBe('complete');
    const pods = await namespace.kubectl([
      'get',
      'pods',
      '-l',
      `batch.kubernetes.io/job-name=${spec.name}`,
      '-o',
      'name',
    ]);
    expect(pods.trim().split('\n')).toHaveLength(1);
    // Once it has ended, starting it once more is no second run.
    await jobs.start(spec, signal);
    expect((await jobs.view(spec.name)).phase).toBe('complete');
    await jobs.release(spec.name);
    await jobs.end(spec.name, 60_000);
  });

  test.each(steps)('%s: ending it leaves nothing', async (_, isStep) => {
    const settings = smallSettings(namespace.name);
    const spec = jobSpec();
    const crashing = scriptedJobs(settings, {}, (request) => {
      if (isStep(request)) throw new Error('crash');
    });
    await expect(crashing.jobs.start(spec, signal)).rejects.toThrow('crash');
    const { jobs } = scriptedJobs(settings, {});
    const { unverified } = await jobs.end(spec.name, 60_000);
    expect(unverified).toBeNull();
    await jobs.release(spec.name);
    await eventually('nothing is left', async () => !(await objects('jobs,pods,secrets')).includes(spec.name));
  });

  test('two that start it at once make one', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {});
    const spec = jobSpec();
    await Promise.all(Array.from({ length: 4 }, () => jobs.start(spec, signal)));
    await jobs.follow(spec.name, ended, signal);
    expect((await jobs.view(spec.name)).phase).toBe('complete');
    await jobs.release(spec.name);
    await jobs.end(spec.name, 60_000);
  });

  test('a Secret that a predecessor has left is replaced', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {});
    const spec = jobSpec();
    await namespace.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: spec.name,
        namespace: namespace.name,
        labels: { [LABELS.managedBy]: 'muster', [LABELS.session]: spec.sessionId },
      },
      data: { token: Buffer.from('of another').toString('base64') },
    });
    await jobs.start(spec, signal);
    const { data, metadata } = await secretOf(spec.name);
    expect(Buffer.from(data.token, 'base64').toString()).toBe('a-token');
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: spec.name }]);
    await jobs.end(spec.name, 60_000);
    await jobs.release(spec.name);
  });

  test('the largest times run, and every text arrives as it is', async () => {
    const odd = 'pw=a$$b $(SESSION_NAME) $x $$(POD)';
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {
      ansible: `printf '%s\\n' "$0" "$ANSIBLE_ARGS" > /dev/termination-log`,
    });
    const spec = jobSpec({
      ansibleArgs: odd,
      layersArgument: JSON.stringify([{ playbook: odd }]),
      ttlSeconds: 604_800 * 999_999_999,
      deadlineSeconds: Number.MAX_SAFE_INTEGER,
    });
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, ended, signal);
    const { phase, containers } = await jobs.view(spec.name);
    expect(phase).toBe('complete');
    const { message = '' } = containers.find(({ name }) => name === 'ansible') ?? {};
    expect(message.trimEnd().split('\n')).toEqual([spec.layersArgument, odd]);
    await jobs.release(spec.name);
    await jobs.end(spec.name, 60_000);
  });

  test('one that is being deleted stays as it is', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), { ansible: 'sleep 600' });
    const spec = jobSpec();
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, async ({ phase }) => phase === 'running', signal);
    await jobs.end(spec.name, 60_000);
    await jobs.start(spec, signal);
    expect((await jobs.view(spec.name)).phase).toBe('deleting');
    await jobs.release(spec.name);
    await eventually('it is gone', async () => (await jobs.view(spec.name)).phase === 'gone');
  });
});

describe('objects of others under its name', () => {
  const metadataOf = (name: string) => ({
    name,
    namespace: namespace.name,
    labels: { [LABELS.session]: 'of-another' },
  });

  test('a Secret stays as it is, whether the Job is started, ended or released', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {});
    const spec = jobSpec();
    await namespace.apply({ apiVersion: 'v1', kind: 'Secret', metadata: metadataOf(spec.name), data: { key: 'b2xk' } });
    await expect(jobs.start(spec, signal)).rejects.toMatchObject({
      code: 'cluster_refused',
      detail: expect.stringMatching(/^there is a Secret cfs-\S+ in namespace \S+ that is not this session's/),
    });
    expect((await jobs.end(spec.name, 60_000, spec.sessionId)).unverified).toBeNull();
    await jobs.release(spec.name, spec.sessionId);
    await eventually('the Job is gone', async () => (await jobs.view(spec.name)).phase === 'gone');
    expect(await secretOf(spec.name)).toMatchObject({ data: { key: 'b2xk' } });
  });

  test('a Job with its pod stays as it is', async () => {
    const settings = smallSettings(namespace.name);
    const { jobs } = scriptedJobs(settings, {});
    const spec = jobSpec();
    const container = {
      name: 'main',
      image: settings.utilImage,
      imagePullPolicy: 'IfNotPresent',
      command: ['/bin/sh', '-c', 'sleep 600'],
    };
    await namespace.apply({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: metadataOf(spec.name),
      spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
    });
    const running = async () =>
      (await namespace.kubectl([
        'get',
        'pods',
        '-l',
        `${LABELS.job}=${spec.name}`,
        '-o',
        'jsonpath={..status.phase}',
      ])) === 'Running';
    await eventually('its pod runs', running);
    await expect(jobs.start(spec, signal)).rejects.toMatchObject({ code: 'cluster_refused' });
    expect(await jobs.end(spec.name, 60_000, spec.sessionId)).toMatchObject({
      view: { phase: 'gone' },
      unverified: null,
    });
    await jobs.release(spec.name, spec.sessionId);
    expect(await running()).toBe(true);
    const { metadata } = JSON.parse(await namespace.kubectl(['get', 'job', spec.name, '-o', 'json']));
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(metadata.labels[LABELS.released]).toBeUndefined();
    await namespace.kubectl(['delete', 'job', spec.name, '--wait=false']);
  });
});

describe.each(['jobs.batch', 'secrets'])('a quota of %s without room', (kind) => {
  test('is told of in the words of the cluster; with room again the same start makes the Job run', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {});
    const tell = async (spec: JobSpec) => {
      const trouble = await jobs.start(spec, signal).catch(() => null);
      if (trouble !== null) return trouble;
      // The API server had not heard of the quota yet.
      await jobs.end(spec.name, 60_000);
      await jobs.release(spec.name);
      return null;
    };
    await namespace.kubectl(['create', 'quota', 'none', `--hard=count/${kind}=0`]);
    let spec = jobSpec();
    let trouble: JobTrouble | null = null;
    try {
      await eventually('the quota counts', async () => {
        spec = jobSpec();
        trouble = await tell(spec);
        return trouble !== null;
      });
      expect(trouble).toEqual({
        code: 'unschedulable',
        kind: 'impossible',
        message: expect.stringMatching(
          new RegExp(
            `^exceeded quota: none, requested: count/${kind}=1, used: count/${kind}=\\d+, limited: count/${kind}=0$`,
          ),
        ),
      });
      expect((await jobs.view(spec.name)).phase).toBe(kind === 'secrets' ? 'suspended' : 'gone');
    } finally {
      await namespace.kubectl(['delete', 'quota', 'none']);
    }
    await eventually('there is room', async () => (await jobs.start(spec, signal)) === null);
    await jobs.follow(spec.name, ended, signal);
    expect((await jobs.view(spec.name)).phase).toBe('complete');
    await jobs.release(spec.name);
    await jobs.end(spec.name, 60_000);
  });
});

describe('the Secret of a Job', () => {
  test('changes what containers see, and its words are never told', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {
      ansible: 'until grep -q renewed /muster/session/certificate 2>/dev/null; do sleep 0.2; done',
    });
    const spec = jobSpec({ secret: { token: 'a-token', certificate: 'first' } });
    await jobs.start(spec, signal);
    await jobs.follow(spec.name, async ({ phase }) => phase === 'running', signal);
    await jobs.updateSecret(spec.name, () => ({ certificate: 'renewed' }));
    expect(Object.keys((await secretOf(spec.name)).data).sort()).toEqual(['certificate', 'token']);
    await jobs.follow(spec.name, ended, signal);
    expect((await jobs.view(spec.name)).phase).toBe('complete');
    await jobs.release(spec.name);
    await jobs.end(spec.name, 60_000);
    await jobs.updateSecret(spec.name, () => ({ certificate: 'too late' }));
  });

  test('that the cluster refuses fails the start without a word of it, and leaves a Job that ends', async () => {
    const { jobs } = scriptedJobs(smallSettings(namespace.name), {});
    const spec = jobSpec({ secret: { token: 'a-token', 'not a key!': 'hidden-words' } });
    const refused = await jobs.start(spec, signal).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'cluster_refused' });
    expect(String(refused)).not.toMatch(/hidden|not a key/);
    await jobs.end(spec.name, 60_000);
    await jobs.release(spec.name);
  });
});
