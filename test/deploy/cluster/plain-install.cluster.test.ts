import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type ChartSite, makeChartSite } from '../../support/kubernetes/chart-site.ts';
import { clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import type { PlainMuster } from '../../support/kubernetes/installed-plainly.ts';

let site: ChartSite;
let muster: PlainMuster;

beforeAll(async () => {
  site = await makeChartSite();
  // Rules can be made on the machine's own cluster only.
  muster = await site.installPlainly((await clusterStatus()).provider === 'own');
}, 900_000);

afterAll(() => site?.remove(), 360_000);

test('the plain manifests, policies and all, install two of everything in any namespace, by which sessions run; removed, they end what runs and leave nothing', async () => {
  expect([await muster.pods('api'), await muster.pods('worker')].map((pods) => pods.length)).toEqual([2, 2]);
  const { namespace, gate } = site;
  await muster.start('through', 'gate', { ansible_passthrough: '-e who=through' });
  await gate.untilThere(['through']);
  gate.open();
  const { status } = await muster.untilComplete('through');
  expect(status.session).toMatchObject({ succeeded: 'true' });

  gate.shut();
  await muster.start('removed', 'gate', { ansible_passthrough: '-e who=removed' });
  await gate.untilThere(['removed']);
  await muster.uninstall();
  await eventually(
    'only what the site made is left',
    async () => {
      const names = (await namespace.kubectl(['get', 'all,secrets,roles,networkpolicies', '--output', 'name'])).split(
        '\n',
      );
      const ours = names.filter((name) => /muster-(api|worker|migrate|uninstall|ingest)|cfs-/.test(name));
      return ours.length === 0;
    },
    180_000,
  );
}, 800_000);
