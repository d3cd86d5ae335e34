/** The fleet page in a browser: a grid of 100,000 components, what was configured by the hour, and *stop everything*. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { accessibilityFaults, keepPicture } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { describeInBrowser } from '../support/in-browser.ts';

const waiting = (gate: string) => `- hosts: all
  gather_facts: false
  tasks:
    - name: Wait for the gate
      ansible.builtin.wait_for:
        path: ${gate}
        timeout: 900
        sleep: 1
`;
const CELLS = 100_000;
/** Of ten components two each have failed, are pending, unconfigured, disabled, configured. */
const INSERT = `
  insert into components (id, desired_config, error_count, retry_policy, enabled, tags, state, updated_at)
  select 'n' || n, case when n % 10 in (0, 1, 2, 3) then 'waiting' else '' end, case when n % 10 < 2 then 3 else 0 end, 3,
    n % 10 not in (6, 7), jsonb_build_object('rack', 'r' || (n - 1) / 5000),
    case when n % 10 in (8, 9)
      then '[{"clone_url": "https://git.example.test/a.git", "playbook": "a.yml", "commit": "c", "last_updated": "2026-11-21T09:00:00Z"}]'
      else '[]' end::jsonb, now()
  from generate_series(1, $1::int) n`;

describeInBrowser('the fleet page', {}, (on) => {
  let gate: string;

  beforeAll(async () => {
    gate = join(on.stack.dataDir, 'gate');
    const repository = await on.stack.repository('site');
    await repository.commit({ 'wait.yml': waiting(gate) });
    await on.stack.configure('waiting', repository.url, ['wait.yml'], ['n1']);
  }, 480_000);
  on.beforeClose(async () => {
    if (gate !== undefined) await writeFile(gate, '');
  });
  const { test } = on;
  const figure = () => on.seen.page.getByRole('figure', { name: 'Fleet grid' });
  const cell = () => on.seen.page.getByRole('status', { name: 'Cell' });
  const said = (text: RegExp) => cell().filter({ hasText: text }).waitFor();
  const groups = () => on.seen.page.getByRole('table', { name: 'Groups' });
  const isUsable = () => on.seen.page.locator('main:not([aria-busy])').waitFor();

  test('stops everything with its effect shown and a reason, and lets it go on', async () => {
    const { page } = on.seen;
    await on.stack.create('unwanted', 'waiting');
    const runs = async () => (await on.stack.session('unwanted')).status.session.status === 'running';
    await eventually('it runs', runs, 240_000);
    await page.goto('/ui/');
    await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
    expect(await page.getByRole('button', { name: 'Go', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Stop everything' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop everything' });
    await dialog
      .getByRole('group', { name: 'Effect' })
      .getByText('1 session is cancelled (1 running, 0 waiting): unwanted.')
      .waitFor();
    expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('the cooling fails');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog
      .getByRole('status', { name: 'Result' })
      .filter({ hasText: /Everything is stopped: .*1 session/ })
      .waitFor();
    await page.keyboard.press('Escape');
    expect(await on.stack.untilComplete('unwanted')).toMatchObject({
      cancel: { reason: expect.stringContaining('the cooling fails') },
    });
    await page.getByText(/Everything is stopped since .*: the cooling fails/).waitFor();

    await page.getByRole('button', { name: 'Go', exact: true }).click();
    const back = page.getByRole('dialog', { name: 'Go' });
    await back.getByText('the cooling fails').waitFor();
    await back.getByRole('button', { name: 'Confirm' }).click();
    await back.getByRole('status', { name: 'Result' }).filter({ hasText: 'Everything goes on' }).waitFor();
    await back.getByRole('button', { name: 'Close' }).click();
    await page.getByText(/Everything is stopped since/).waitFor({ state: 'detached' });
    expect((await on.stack.call('GET', '/api/v1/stop')).body).toMatchObject({ stopped: false });
  }, 90_000);

  test('says what was configured by the hour', async () => {
    const { page } = on.seen;
    await page.goto('/ui/');
    const region = page.getByRole('region', { name: 'Throughput' });
    await region.getByText(/^In 24 hours hosts took \d+ layers; \d+ failed\.$/).waitFor();
    await region.getByText('By hour').click();
    expect(await region.getByRole('table', { name: 'By hour' }).getByRole('row').count()).toBe(25);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('has its views as commands to copy', async () => {
    const { page, context } = on.seen;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/ui/?group=rack');
    const copied = async (place: Locator, name: string) => {
      const copy = place.locator('.copy').filter({ hasText: name });
      await copy.getByRole('button', { name, exact: true }).click();
      await copy.getByText('copied', { exact: true }).waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied(page.locator('.counts'), 'Copy as CLI')).toBe('./muster fleet');
    const [grid, throughput] = ['Grid', 'Throughput'].map((name) => page.getByRole('region', { name, exact: true }));
    expect(await copied(grid as Locator, 'Copy as CLI')).toBe(
      "./muster api GET '/api/v1/fleet/grid?group=rack&fields=all'",
    );
    expect(await copied(throughput as Locator, 'Copy as curl')).toBe(
      `curl -X GET -H "Authorization: Bearer $MUSTER_TOKEN" ${on.stack.url}/api/v1/fleet/throughput`,
    );
  });

  test('without components shows no grid', async () => {
    const { page } = on.seen;
    expect((await on.stack.call('DELETE', '/v3/components/n1')).status).toBe(204);
    await page.goto('/ui/');
    await page.getByRole('region', { name: 'Grid' }).getByText('There are no components to show').waitFor();
  });

  describe('with a grid of 100,000 components', () => {
    beforeAll(async () => {
      // None of these machines is there: nothing is to begin on them.
      expect((await on.stack.call('POST', '/api/v1/batches/pause', {})).status).toBe(200);
      await on.stack.sql(INSERT, [CELLS]);
    }, 120_000);

    test('shows them all, with the same facts in a table', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await groups().getByRole('row').filter({ hasText: 'all' }).waitFor();
      expect(await groups().getByRole('row').last().getByRole('cell').allTextContents()).toEqual([
        '100000',
        '20000',
        '20000',
        '20000',
        '20000',
        '20000',
        '0',
      ]);
      await isUsable();
      const colours = await page.evaluate<string[]>(`(() => {
        const canvas = document.querySelector('figure canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Set();
        for (let at = 0; at < data.length; at += 4) seen.add(data.slice(at, at + 3).join(' '));
        return [...seen];
      })()`);
      // Light theme: configured, pending, failed, unconfigured, disabled; nothing is beside the cells.
      expect(new Set(colours.filter((colour) => colour !== '0 0 0'))).toEqual(
        new Set(['13 162 109', '196 134 15', '137 28 1', '33 37 42', '137 64 184']),
      );
      await keepPicture(page, 'fleet');
      expect(await accessibilityFaults(page)).toEqual([]);
    }, 60_000);

    test('is gone through by keys, and opens a component', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await groups().getByRole('row').filter({ hasText: 'all' }).waitFor();
      await figure().focus();
      await said(/^n1 failed/);
      // The reason comes by itself.
      await said(/^n1 failed: ./);
      await page.keyboard.press('ArrowRight');
      await said(/^n2 pending/);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('End');
      await said(/^n100000 failed/);
      await page.keyboard.press('Home');
      for (let press = 0; press < 8; press += 1) await page.keyboard.press('ArrowRight');
      await said(/^n9 configured/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Component n9' }).waitFor();
    }, 60_000);

    test('is pointed at, and opens by a click', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await groups().getByRole('row').filter({ hasText: 'all' }).waitFor();
      await figure().hover({ position: { x: 1, y: 1 } });
      await said(/^n1 failed/);
      await figure().click({ position: { x: 1, y: 1 } });
      await page.getByRole('heading', { level: 1, name: 'Component n1' }).waitFor();
    }, 60_000);

    test('changes a cell as its component does, in its place', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await groups().getByRole('row').filter({ hasText: 'all' }).waitFor();
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await figure().focus();
      await said(/^n1 failed/);
      expect((await on.stack.call('PATCH', '/v3/components/n1', { enabled: false })).status).toBe(200);
      await said(/^n1 disabled/);
      expect(await groups().getByRole('row').last().getByRole('cell').allTextContents()).toEqual([
        '100000',
        '20000',
        '20000',
        '19999',
        '20000',
        '20001',
        '0',
      ]);
      expect((await on.stack.call('PATCH', '/v3/components/n1', { enabled: true })).status).toBe(200);
      await said(/^n1 failed/);
    }, 60_000);

    test('is grouped by a tag, which its address has', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await page.getByLabel('Group by').fill('rack');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/ui/?group=rack');
      await groups().getByRole('rowheader', { name: 'r2', exact: true }).waitFor();
      const names = await groups().getByRole('rowheader').allTextContents();
      expect(names).toEqual(Array.from({ length: 20 }, (_, index) => `r${index}`));
      await figure().focus();
      await page.keyboard.press('End');
      await said(/^n100000 failed, in r19/);
      await groups().getByRole('link', { name: 'r19' }).click();
      await page.waitForURL(/\/ui\/components\?tags=rack(=|%3D)r19/);
      await page.getByText('5000 components').waitFor();
    }, 60_000);

    test('of very many groups shows the groups alone', async () => {
      const { page } = on.seen;
      await on.stack.sql(`update components set tags = tags || jsonb_build_object('serial', id)`, []);
      await page.goto('/ui/?group=serial');
      await page.getByText(`There are too many groups for a grid: ${CELLS}. The groups are shown alone.`).waitFor();
      await page.getByText(`and ${CELLS - 100} more groups`).waitFor();
      expect(await figure().count()).toBe(0);
    }, 90_000);

    test('that cannot be read says why in its panel alone, and is tried again', async () => {
      const { page } = on.seen;
      await page.route('**/fleet/grid?**', (route) =>
        route.fulfill({ status: 400, json: { title: 'Bad', detail: 'no grid' } }),
      );
      await page.goto('/ui/');
      const alert = page.getByRole('region', { name: 'Grid' }).getByRole('alert');
      await alert.getByText('no grid').waitFor();
      await page.getByRole('table', { name: 'Counts' }).waitFor();
      await page.unroute('**/fleet/grid?**');
      await alert.getByRole('button', { name: 'Retry' }).click();
      await groups().getByRole('row').filter({ hasText: 'all' }).waitFor();
    }, 60_000);
  });
});
