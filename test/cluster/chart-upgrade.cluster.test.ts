import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ChartSite, makeChartSite } from '../support/chart-site.ts';
import { clusterStatus } from '../support/cluster-command.ts';
import { eventually } from '../support/eventually.ts';
import { type InstalledChart, ownRelease, type Release } from '../support/installed-chart.ts';
import { type PreviousRelease, previousRelease } from '../support/previous-release.ts';
import { describeNeeding } from '../support/requirement.ts';

const SETTINGS = { uninstall: { patience: 5, resources: { requests: { cpu: '20m', memory: '64Mi' } } } };
const { provider } = await clusterStatus();
const noImages =
  provider === 'existing' ? 'images of the previous release cannot be loaded into a cluster of the user' : null;

describeNeeding(noImages, 'a release that replaces another one while five sessions run', () => {
  let site: ChartSite;
  let previous: PreviousRelease;
  let muster: InstalledChart;

  beforeAll(async () => {
    previous = await previousRelease();
    site = await makeChartSite({}, SETTINGS);
    muster = await site.install(previous);
  }, 900_000);

  afterAll(async () => {
    await site?.remove();
    await previous?.remove();
  }, 180_000);

  const start = (name: string) => muster.start(name, 'gate', { ansible_passthrough: `-e who=${name}` });

  /** Sessions that run before `change` and end after it, each in the pod and with the images that it began with. */
  async function across(prefix: string, change: () => Promise<void>): Promise<void> {
    const names = [0, 1, 2, 3, 4].map((index) => `${prefix}-${index}`);
    site.gate.shut();
    for (const name of names) await start(name);
    await site.gate.untilThere(names);
    const pods = await site.sessionPods();
    expect(Object.keys(pods)).toEqual(expect.arrayContaining(names));
    await change();
    expect(await site.sessionPods()).toMatchObject(pods);
    site.gate.open();
    for (const name of names) {
      const { status } = await muster.untilComplete(name);
      expect([name, status.session]).toEqual([
        name,
        expect.objectContaining({ status: 'complete', succeeded: 'true' }),
      ]);
    }
    expect(site.gate.arrivals()).toMatchObject(Object.fromEntries(names.map((name) => [name, 1])));
  }

  /** Images that pods of API and worker run. */
  async function running(): Promise<string[]> {
    const selector = 'app.kubernetes.io/part-of=muster,app.kubernetes.io/component in (api,worker)';
    const listed = await site.namespace.kubectl([
      ...['get', 'pods', '--selector', selector],
      ...['--output', 'jsonpath={.items[*].spec.containers[*].image}'],
    ]);
    return [...new Set(listed.split(' '))];
  }

  const untilOnly = (release: Release) =>
    eventually(
      'pods of the other release are gone',
      async () => `${await running()}` === release.images.muster,
      90_000,
    );

  test('upgraded: every one of them is done, once, where it began', async () => {
    expect(await running()).toEqual([previous.images.muster]);
    await across('up', async () => {
      await muster.upgrade(ownRelease());
      await untilOnly(ownRelease());
    });
  }, 400_000);

  test('rolled back: the same, on the database that the newer release has made', async () => {
    await across('back', async () => {
      await muster.rollBack();
      await untilOnly(previous);
    });
    expect(await muster.call('GET', '/healthz')).toMatchObject({ status: 200, body: { db_status: 'ok' } });
  }, 400_000);

  test('removed while no worker is there: nothing of a session is left', async () => {
    await muster.upgrade(ownRelease());
    site.gate.shut();
    await start('alone');
    await site.gate.untilThere(['alone']);
    await site.namespace.kubectl(['scale', 'deployment/muster-worker', '--replicas=0']);
    const workers = ['get', 'pods', '--selector', 'app.kubernetes.io/component=worker', '--output', 'name'];
    await eventually('no worker is there', async () => (await site.namespace.kubectl(workers)) === '', 90_000);
    await muster.uninstall();
    const left = async () => (await site.namespace.kubectl(['get', 'all,secrets', '--output', 'name'])).split('\n');
    await eventually(
      'pods and Jobs are gone',
      async () => (await left()).every((name) => /^secret\/|^$/.test(name)),
      60_000,
    );
    expect((await left()).filter((name) => name.startsWith('secret/cfs-'))).toEqual([]);
  }, 300_000);
});
