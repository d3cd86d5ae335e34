import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPlaybookJournal, type PlaybookJournal } from '../../support/ansible/playbook-journal.ts';
import { eventually } from '../../support/eventually.ts';
import {
  letsRun,
  type MomentOf,
  openSessionMoments,
  releases,
  type SessionMoments,
  type Sight,
} from '../../support/fakes/session-moments.ts';
import { freePort } from '../../support/free-port.ts';
import { imageShellsMissing } from '../../support/images/image-shells.ts';
import { type ClusterGate, openClusterGate } from '../../support/kubernetes/cluster-gate.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress, imageName } from '../../support/kubernetes/dev-cluster.ts';
import { type ImagesForPods, serveImagesForPods } from '../../support/kubernetes/images-for-pods.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openWorkerKills } from '../../support/stack/worker-kills.ts';

/** A session in whose middle the worker is killed. */
interface Step {
  name: string;
  moment: MomentOf;
  /** What is there at that moment, while the worker stands still. */
  seen: Partial<Sight>;
  end: { succeeded: string; message: string; reason: string | null };
  /** What its playbook says. */
  says: ('start' | 'end')[];
  playbook: 'noted' | 'failing';
  /** Of an image, in place of a component. */
  image: boolean;
  more: object;
  /** What is to be done as soon as its playbook runs. */
  whenItPlays?(name: string): Promise<void>;
  whileStopped?(name: string): Promise<void>;
  /** What is to be done with it when there is another worker. */
  afterwards?(name: string): Promise<void>;
}

const GOOD = { succeeded: 'true', message: '1 layer done on 1 host', reason: null };
const GOOD_OF_COMPATIBLE = { ...GOOD, message: 'complete' };
const CANCELLED = { succeeded: 'false', message: 'cancelled', reason: 'cancelled' };
const FAILED = {
  succeeded: 'false',
  message:
    'layer 1/1 failing.yml failed: 1 of 1 host failed (holding), exit status 2: ansible.builtin.fail: as asked (failing.yml:10)',
  reason: 'layer_failed',
};
const CUSTOMIZED = '1 of 1 images customized';

describeNeeding(imageShellsMissing(), 'a worker that is killed -9', () => {
  let cluster: ClusterStack;
  let sessions: JobSessions;
  let gate: ClusterGate;
  let images: ImagesForPods;
  let journal: PlaybookJournal;
  let at: SessionMoments;

  beforeAll(async () => {
    gate = await openClusterGate();
    journal = await openPlaybookJournal();
    images = await serveImagesForPods();
    const port = await freePort();
    cluster = await startClusterStack({
      MUSTER_RUNNER_KUBECONFIG: gate.kubeconfig,
      MUSTER_IMS_URL: images.url,
      MUSTER_RUNNER_API_URL: `http://${hostAddress()}:${port}`,
      MUSTER_API_PORT: String(port),
      MUSTER_API_HOST: '0.0.0.0',
      MUSTER_ALLOWED_HOSTS: hostAddress(),
      MUSTER_TRUST_GATEWAY: '1',
    });
    sessions = openJobSessions(cluster);
    at = openSessionMoments(cluster, { gate, images, journal });
    const repository = await cluster.stack.repository('config');
    await repository.commit({
      'noted.yml': journal.playbook(),
      'failing.yml': journal.playbook('ansible.builtin.fail: { msg: as asked }'),
    });
    for (const playbook of ['noted', 'failing']) {
      await cluster.stack.configure(playbook, cluster.repositoryUrl('config'), [`${playbook}.yml`], []);
    }
  }, 600_000);

  afterAll(async () => {
    await cluster?.remove();
    await gate?.close();
    await images?.close();
    journal?.close();
  }, 240_000);

  const step = (name: string, moment: MomentOf, seen: Partial<Sight>, more: Partial<Step> = {}): Step => ({
    ...{ name, moment, seen, end: GOOD, says: ['start', 'end'], playbook: 'noted', image: false, more: {} },
    ...more,
  });
  const onImage = (name: string, moment: MomentOf, seen: Partial<Sight>, more: Partial<Step> = {}): Step => {
    const { end = GOOD } = more;
    const message = end.succeeded === 'true' ? `${end.message}; ${CUSTOMIZED}` : end.message;
    return step(name, moment, seen, { ...more, image: true, end: { ...end, message } });
  };

  const askForCancel = async (name: string) => {
    expect((await cluster.stack.call('POST', `/api/v1/sessions/${name}/cancel`)).status).toBe(202);
  };
  /** The playbook runs and does not go on after the kill either. */
  const playingOn: MomentOf = (name) => ({ ...at.playing(name), letGo: () => undefined });
  const endless: Pick<Step, 'end' | 'says'> = { end: CANCELLED, says: ['start'] };
  const cancelled: Partial<Step> = {
    ...endless,
    async whenItPlays(name) {
      journal.keep(name);
      await journal.until(`start-${name}`);
      await askForCancel(name);
    },
  };

  /** Runs a session for each of the steps, all at once, and kills the worker at the moment of each. */
  async function killAtEach(steps: Step[]) {
    const { stack } = cluster;
    const hosts = steps.filter(({ image }) => !image).map(({ name }) => name);
    await stack.configure('noted', cluster.repositoryUrl('config'), ['noted.yml'], hosts);
    journal.forget();
    const kills = openWorkerKills(stack);
    const seen = new Map<string, Partial<Sight>>();
    const reached = steps.map(async ({ name, moment, whenItPlays, whileStopped, afterwards, ...step }) => {
      const killed = kills.killAt(moment(name), async () => {
        await whileStopped?.(name);
        const sight = await at.see(name);
        seen.set(name, Object.fromEntries(Object.entries(sight).filter(([key]) => key in step.seen)));
      });
      await Promise.all([killed, whenItPlays?.(name)]);
      await afterwards?.(name);
    });
    await Promise.all(
      steps.map(({ name, playbook, image, more }) =>
        stack.create(name, playbook, { ...(image ? images.targetOf(name) : { ansible_limit: name }), ...more }),
      ),
    );
    const ending = Promise.all(steps.map(({ name }) => endOf(name)));
    const [ends] = await Promise.all([ending, ...reached]);
    return steps.map(({ name }, index) => ({ name, seen: seen.get(name), end: ends[index] }));
  }

  /** How a session ended. A busy node may end containers later than the session waits for them: then the clean-up verifies it. */
  async function endOf(name: string) {
    const end = await sessions.ended(name, 300_000);
    return { ...end, message: end.message.replace(/; not verified: node \S+ has not ended its containers$/, '') };
  }

  /** Each moment was as it should be, each session ended as it should, and each playbook ran once. */
  async function expectAsTold(steps: Step[], outcome: Awaited<ReturnType<typeof killAtEach>>): Promise<void> {
    const found = outcome.map(async (one) => ({ ...one, output: await outputIfOther(one.name, steps, one.end) }));
    expect(await Promise.all(found)).toEqual(steps.map(({ name, seen, end }) => ({ name, seen, end, output: null })));
    expect(journal.said()).toEqual(steps.flatMap(({ name, says }) => says.map((word) => `${word}-${name}`)).sort());
    for (const { name, image, end } of steps) {
      if (!image) continue;
      const made = end.succeeded === 'true';
      expect([name, images.jobsOf(name).map(({ status }) => status)]).toEqual([name, made ? ['success'] : []]);
      expect(images.resultsOf(name)).toEqual(made ? [`${name}_cfs_${name}`] : []);
      expect(await images.fileOf(name, 'played')).toBe('played\n');
    }
  }

  /** What the playbook of a session wrote, when it did not end as told. */
  async function outputIfOther(name: string, steps: Step[], end: object | undefined): Promise<string | null> {
    if (JSON.stringify(end) === JSON.stringify(steps.find((one) => one.name === name)?.end)) return null;
    const { body } = await cluster.stack.call('GET', `/api/v1/sessions/${name}/logs?limit=1000`);
    return body.logs.map((entry: { text: string }) => entry.text).join('');
  }

  /** Nothing is kept of the sessions' Jobs but what Kubernetes keeps, and nothing at all once they are deleted. */
  async function expectNothingLeft(steps: Step[]): Promise<void> {
    const { stack } = cluster;
    const left: string[] = [];
    for (const { name } of steps) {
      const job = await sessions.jobOf(name);
      await sessions.untilReleased(job);
      expect((await stack.session(name)).attempts).toHaveLength(1);
      expect((await stack.call('DELETE', `/v3/sessions/${name}`)).status).toBe(204);
      left.push(job);
    }
    await sessions.sweep();
    for (const job of left) await sessions.untilGone(job, 180_000);
    expect(await cluster.leftovers()).toEqual([]);
    expect(images.service.keys.size).toBe(0);
    expect(await stack.sql(`select name from secrets where name like 'muster-image-%'`)).toEqual([]);
  }

  test('at every step of a session: each runs once and succeeds, and nothing is left', async () => {
    const steps = [
      step('prepared', at.atCluster('before', 'POST', 'jobs'), { job: 'none', phase: 'clone' }),
      step('job-made', at.atCluster('after', 'POST', 'jobs'), { job: 'suspended', secret: false }),
      step('secret-made', at.atCluster('after', 'POST', 'secrets'), { job: 'suspended', secret: true }),
      step('let-run', at.atCluster('after', 'PATCH', 'jobs', letsRun), { job: 'let run', action: null }),
      step('ordered', at.told, { action: 'run', ended: false }),
      step('playing', at.playing, { action: 'run', ended: false }),
      step('finishing', at.finishing, { action: 'finish', released: false, podKept: true }),
      step('end-stored', at.atCluster('before', 'PATCH', 'pods', releases), { ended: true, podKept: true }),
      step('pod-released', at.atCluster('after', 'PATCH', 'pods', releases), { podKept: false, jobKept: true }),
      step('job-released', at.atCluster('after', 'PATCH', 'jobs', releases), { jobKept: false, released: false }),
      onImage('image-key-made', at.atImages('after', 'POST', 'public-keys'), { keys: 1, keyKnown: false }),
      onImage('image-asked', at.atImages('after', 'POST', 'jobs'), {
        imageJobs: ['waiting_on_user'],
        imageJobKnown: false,
      }),
      onImage('image-open', at.atImages('before', 'DELETE', 'public-keys', 'waiting_on_user'), {
        image: 'open',
        keys: 1,
        job: 'none',
      }),
      onImage('image-marked', at.atImages('before', 'GET', 'jobs', 'success'), {
        imageJobs: ['success'],
        artifacts: 0,
      }),
      onImage('image-made', at.atImages('before', 'DELETE', 'public-keys', 'success'), {
        image: 'customized',
        artifacts: 1,
        ended: true,
      }),
    ];
    await expectAsTold(steps, await killAtEach(steps));
    await expectNothingLeft(steps);
  }, 900_000);

  test('at every step of a cancel, and of a hold: each ends as it was told to, once, and nothing is left', async () => {
    const steps = [
      step(
        'cancel-asked',
        playingOn,
        { cancelAsked: true, job: 'let run' },
        { ...endless, whileStopped: askForCancel },
      ),
      step('cancel-before', at.atCluster('before', 'DELETE', 'jobs'), { job: 'let run', ended: false }, cancelled),
      step('cancel-deleted', at.atCluster('after', 'DELETE', 'jobs'), { job: 'deleted', ended: false }, cancelled),
      step('cancel-read', at.atCluster('before', 'PATCH', 'pods', releases), { ended: true, podKept: true }, cancelled),
      // Who follows the Job may have noted that it is gone by then.
      step('cancel-released', at.atCluster('after', 'PATCH', 'jobs', releases), { jobKept: false }, cancelled),
      onImage(
        'image-cancel',
        at.atImages('before', 'DELETE', 'jobs'),
        { imageJobs: ['waiting_on_user'], ended: true },
        cancelled,
      ),
      onImage('image-cancelled', at.atImages('after', 'DELETE', 'jobs'), { imageJobs: [], image: 'open' }, cancelled),
      step(
        'holding',
        at.holding,
        { phase: 'hold', action: 'run' },
        {
          playbook: 'failing',
          more: { debug_on_failure: true },
          says: ['start'],
          end: FAILED,
          afterwards: finishDebug,
        },
      ),
    ];
    await expectAsTold(steps, await killAtEach(steps));
    await expectNothingLeft(steps);
  }, 900_000);

  /** Ends the hold of a session. It is answered 503 until the new worker is there to do it. */
  async function finishDebug(name: string): Promise<void> {
    expect((await cluster.stack.session(name)).phase).toBe('hold');
    await eventually(
      `the hold of ${name} is ended`,
      async () => {
        const { status } = await cluster.stack.call('POST', `/api/v1/sessions/${name}/finish-debug`);
        return status === 202 || status === 409;
      },
      180_000,
    );
  }

  test('at every step of a session in profile compatible: each ends as it was told to, once, and nothing is left', async () => {
    const { stack } = cluster;
    await stack.stop();
    stack.env.MUSTER_RUNNER_PROFILE = 'compatible';
    stack.env.MUSTER_RUNNER_AEE_IMAGE = imageName('compatible-runner');
    await stack.start();
    const good = { end: GOOD_OF_COMPATIBLE };
    const steps = [
      step('c-job-made', at.atCluster('after', 'POST', 'jobs'), { job: 'suspended', secret: false }, good),
      step('c-let-run', at.atCluster('after', 'PATCH', 'jobs', letsRun), { job: 'let run' }, good),
      step('c-playing', at.playing, { job: 'let run', ended: false }, good),
      step('c-end-stored', at.atCluster('before', 'PATCH', 'pods', releases), { ended: true, podKept: true }, good),
      step(
        'c-job-released',
        at.atCluster('after', 'PATCH', 'jobs', releases),
        { jobKept: false, released: false },
        good,
      ),
      step(
        'c-cancel-asked',
        playingOn,
        { cancelAsked: true, job: 'let run' },
        { ...endless, whileStopped: askForCancel },
      ),
      step('c-cancel-deleted', at.atCluster('after', 'DELETE', 'jobs'), { job: 'deleted', ended: false }, cancelled),
      step(
        'c-cancel-read',
        at.atCluster('before', 'PATCH', 'pods', releases),
        { ended: true, podKept: true },
        cancelled,
      ),
      onImage('c-image-playing', at.playing, { image: 'open', ended: false }, good),
      onImage(
        'c-image-marked',
        at.atImages('before', 'GET', 'jobs', 'success'),
        { imageJobs: ['success'], artifacts: 0 },
        good,
      ),
    ];
    const outcome = await killAtEach(steps);
    await expectAsTold(steps, outcome);
    for (const { name, end } of steps) {
      const { body } = await stack.call('GET', `/api/v1/sessions/${name}/logs?limit=1000`);
      const log: string = body.logs.map(({ text }: { text: string }) => text).join('');
      const times = log.split('Running noted.yml of layer 0').length - 1;
      // Such a log is its pod's: a cancel may take the one along with the other while there is no worker, but never brings it twice.
      expect([name, end === CANCELLED && times === 0 ? 1 : times]).toEqual([name, 1]);
    }
    await expectNothingLeft(steps);
  }, 900_000);
});
