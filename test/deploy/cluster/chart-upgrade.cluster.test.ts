import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { imageShellsMissing } from '../../support/images/image-shells.ts';
import { type ChartSite, makeChartSite } from '../../support/kubernetes/chart-site.ts';
import { clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import { hostAddress, kubeconfigPath } from '../../support/kubernetes/dev-cluster.ts';
import { CHART, helm, type Manifest } from '../../support/kubernetes/helm.ts';
import { type ImagesForPods, serveImagesForPods } from '../../support/kubernetes/images-for-pods.ts';
import { type InstalledChart, ownRelease, type Release } from '../../support/kubernetes/installed-chart.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type PreviousRelease, previousRelease } from '../../support/stack/previous-release.ts';

const OUTSIDE = 'muster.example.com';
/** Nobody is asked for a token: a gateway in front does that, and says who asks. */
const SETTINGS = {
  access: { mode: 'gateway', actorHeader: 'X-User' },
  ingress: { enabled: true, host: OUTSIDE },
  uninstall: { patience: 5, resources: { requests: { cpu: '20m', memory: '64Mi' } } },
};
const FAILING = '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.fail: { msg: as asked }\n';
const { provider } = await clusterStatus();
const noImages =
  provider === 'existing' ? 'images of the previous release cannot be loaded into a cluster of the user' : null;

describeNeeding(
  noImages ?? imageShellsMissing(),
  'a release that replaces another one while sessions are on their way',
  () => {
    let site: ChartSite;
    let previous: PreviousRelease;
    let muster: InstalledChart;
    let images: ImagesForPods;
    let way: TcpProxy;

    beforeAll(async () => {
      previous = await previousRelease();
      images = await serveImagesForPods();
      way = await openProxy(new URL(images.url).host, hostAddress());
      site = await makeChartSite({ 'failing.yml': FAILING }, SETTINGS);
      Object.assign(site.values.settings as object, { MUSTER_IMS_URL: `http://${way.address}/v2` });
      muster = await site.install(previous);
    }, 900_000);

    afterAll(async () => {
      await site?.remove();
      await way?.cut();
      await images?.close();
      await previous?.remove();
    }, 360_000);

    const start = (name: string, more: object = {}) =>
      muster.start(name, 'gate', { ansible_passthrough: `-e who=${name}`, ...more });
    /** Asks again: behind a Service a request may meet a replica that has just gone. */
    const asked = (wanted: readonly number[], ...request: Parameters<InstalledChart['call']>) =>
      eventually(`${request[0]} ${request[1]} is answered ${wanted}`, async () => {
        const answer = await muster.call(...request).catch(() => null);
        return answer !== null && wanted.includes(answer.status) ? answer : null;
      });
    const limit = (max_running_sessions: number) => asked([200], 'PATCH', '/v3/options', { max_running_sessions });
    const phaseOf = async (name: string) => (await asked([200], 'GET', `/api/v1/sessions/${name}`)).body.phase;
    const untilIn = (phase: string, name: string) =>
      eventually(`${name} is in phase ${phase}`, async () => (await phaseOf(name)) === phase, 180_000);
    /** From now on new jobs on images are not begun with; those that wait, and new ones, once it is called with true. */
    const workOnImages = (does: boolean) => {
      images.service.begin = (job) => {
        if (does) job.status = 'waiting_on_user';
      };
      for (const job of images.service.jobs.values()) if (job.status === 'creating') images.service.begin(job);
    };

    /**
     * Sessions on their way before `change` that end after it, each in the pod and with the images that it began with: five in a
     * layer, and one each that is kept after a failure, that waits for its image, and that waits for its turn.
     */
    async function across(prefix: string, change: () => Promise<void>): Promise<void> {
      const running = [0, 1, 2, 3, 4].map((index) => `${prefix}-${index}`);
      const [held, onImage, queued] = ['held', 'image', 'queued'].map((what) => `${prefix}-${what}`) as [
        string,
        string,
        string,
      ];
      const waiting = { [held]: 'hold', [onImage]: 'images', [queued]: 'queued' };
      site.gate.shut();
      workOnImages(false);
      for (const name of running) await start(name);
      await muster.start(held, 'failing', { debug_on_failure: true });
      await start(onImage, images.targetOf(onImage));
      await eventually('a job on its image is there', () => images.jobsOf(onImage).length > 0, 180_000);
      await limit(1);
      await start(queued);
      await site.gate.untilThere(running);
      for (const [name, phase] of Object.entries(waiting)) await untilIn(phase, name);
      // Pods of those before are there for a while.
      const podsNow = async () =>
        Object.fromEntries(Object.entries(await site.sessionPods()).filter(([name]) => name.startsWith(prefix)));
      const pods = await podsNow();
      expect(Object.keys(pods).sort()).toEqual([...running, held].sort());

      await change();
      expect(await podsNow()).toEqual(pods);
      const phases = Object.keys(waiting).map(async (name) => [name, await phaseOf(name)]);
      expect(Object.fromEntries(await Promise.all(phases))).toEqual(waiting);

      site.gate.open();
      workOnImages(true);
      await limit(50);
      // 409: it was told already, by a request whose answer was lost.
      await asked([202, 409], 'POST', `/api/v1/sessions/${held}/finish-debug`);
      const done = [...running, onImage, queued];
      for (const name of [...done, held]) {
        const { status } = await muster.untilComplete(name);
        expect([name, status.session]).toEqual([
          name,
          expect.objectContaining({ status: 'complete', succeeded: String(name !== held) }),
        ]);
      }
      expect(site.gate.arrivals()).toMatchObject(Object.fromEntries(done.map((name) => [name, 1])));
      expect([images.jobsOf(onImage).length, images.resultsOf(onImage).length]).toEqual([1, 1]);
    }

    /** Images that pods of API and worker run. */
    async function running(): Promise<string[]> {
      const selector = 'app.kubernetes.io/part-of=muster,app.kubernetes.io/component in (api,worker)';
      const listed = await site.namespace.read<{ items: Manifest[] }>(
        `pods?labelSelector=${encodeURIComponent(selector)}`,
      );
      return [...new Set((listed?.items ?? []).flatMap(({ spec }) => spec.containers).map(({ image }) => image))];
    }

    const untilOnly = (release: Release) =>
      eventually(
        'pods of the other release are gone',
        async () => `${await running()}` === release.images.muster,
        180_000,
      );

    test('upgraded: every one of them is done, once, where it began', async () => {
      expect(await running()).toEqual([previous.images.muster]);
      await across('up', async () => {
        await muster.upgrade(ownRelease());
        await untilOnly(ownRelease());
      });
    }, 800_000);

    test('no upgrade takes the Jobs out of the namespace of the release', async () => {
      const { name } = site.namespace;
      const where = ['--namespace', name, '--kubeconfig', kubeconfigPath(), '--dry-run=server'];
      const to = (space: string) =>
        helm(['upgrade', 'muster', CHART, ...where, '--reuse-values', '--set', `runner.namespace=${space}`]);
      await expect(to('elsewhere')).rejects.toThrow(
        `runner.namespace: the Jobs of this release are in namespace ${name},`,
      );
      await to(name);
    });

    test('behind a gateway nobody is asked for a token, and it says who asks for which of its names', async () => {
      const headers = { authorization: '', host: OUTSIDE, 'x-user': 'ann' };
      const answer = await muster.call('PATCH', '/v3/components/node0', { enabled: true }, headers);
      expect(answer.status).toBe(200);
      const { body } = await muster.call('GET', '/api/v1/audit?kind=component&name=node0', undefined, headers);
      expect(JSON.stringify(body)).toContain('"ann"');
      const other = await muster.call('GET', '/v3/options', undefined, { ...headers, host: 'other.example.com' });
      expect(other.status).toBe(421);
      const ingress = await site.namespace.kubectl([
        'get',
        'ingress',
        'muster',
        '-o',
        'jsonpath={.spec.rules[*].host}',
      ]);
      expect(ingress).toBe(OUTSIDE);
    });

    test('rolled back: the same, on the database that the newer release has made', async () => {
      await across('back', async () => {
        await muster.rollBack();
        await untilOnly(previous);
      });
      expect(await muster.call('GET', '/healthz')).toMatchObject({ status: 200, body: { db_status: 'ok' } });
    }, 800_000);

    test('removed while no worker is there: nothing of a session is left', async () => {
      await muster.upgrade(ownRelease());
      site.gate.shut();
      await start('alone');
      await site.gate.untilThere(['alone']);
      await site.namespace.kubectl(['scale', 'deployment/muster-worker', '--replicas=0']);
      const workers = 'pods?labelSelector=app.kubernetes.io/component=worker';
      await eventually('no worker is there', async () => (await site.namespace.names(workers)).length === 0, 180_000);
      await muster.uninstall();
      const left = async () => (await site.namespace.kubectl(['get', 'all,secrets', '--output', 'name'])).split('\n');
      // The Secrets of Jobs follow their Jobs.
      await eventually(
        'pods, Jobs and their Secrets are gone',
        async () => (await left()).every((name) => /^secret\/(?!cfs-)|^$/.test(name)),
        180_000,
        left,
      );
    }, 600_000);
  },
);
