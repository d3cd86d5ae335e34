/** Components in a browser: what is shown, what is chosen, and what is done to them, on a real stack. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import {
  accessibilityFaults,
  bar,
  browserMissing,
  openPage,
  startBrowser,
  tracedTest,
  type WatchedPage,
} from '../support/browser.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const LAYER = { clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) };
/** An id that hides and turns what stands beside it, and looks like markup. */
const HOSTILE = '<b>x</b>\u202egnp/%2e';

describeNeeding(browserMissing() ?? stackMissing(), 'components in the web UI', () => {
  let stack: MusterStack;
  let browser: Browser;
  let seen: WatchedPage;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startMusterStack({}, 'shared', 'built'), startBrowser()]);
    expect((await stack.call('PATCH', '/v3/options', { batcher_disable: true })).status).toBe(200);
    for (const name of ['site', 'other']) await stack.call('PUT', `/v3/configurations/${name}`, { layers: [LAYER] });
  }, 480_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.remove();
  });
  beforeEach(async () => {
    const { body } = await stack.call('POST', '/api/v1/components/actions', {
      action: 'delete',
      selection: { filter: {} },
    });
    expect(body.vanished).toEqual([]);
    const failed = { ...LAYER, status: 'failed', session_name: 'night' };
    const components = [
      { id: 'n1', desired_config: 'site', enabled: true, state: [{ ...failed, status: 'applied' }] },
      { id: 'n2', desired_config: 'site', enabled: true, error_count: 3, state: [failed], tags: { role: 'db' } },
      { id: 'n3', desired_config: 'site', enabled: true },
      { id: HOSTILE, enabled: false },
    ];
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
    seen = await openPage(browser, stack.url);
  });
  afterEach(() => seen.context.close());
  const test = tracedTest(() => seen);
  const table = () => seen.page.getByRole('table', { name: 'Components' });
  const row = (id: string) =>
    table()
      .getByRole('row')
      .filter({ has: seen.page.getByRole('link', { name: id, exact: true }) });
  const box = (id: string) => seen.page.getByRole('checkbox', { name: `Select ${id}`, exact: true });
  const button = (name: string) => seen.page.getByRole('button', { name, exact: true });
  const effect = (name: string) => seen.page.getByRole('dialog', { name }).getByRole('group', { name: 'Effect' });
  const component = async (id: string) => (await stack.call('GET', `/v3/components/${id}?state_details=true`)).body;

  describe('the list', () => {
    test('is found, has the reason of each status, and follows what changes', async () => {
      const { page } = seen;
      await page.goto('/ui/');
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Components' }).click();
      await page.getByRole('heading', { level: 1, name: 'Components' }).waitFor();
      await page.getByText('4 components', { exact: true }).waitFor();
      await row('n2').getByText('layer 1/1 site.yml failed in session night (errors 3 of 3)').waitFor();
      await row('n1').getByText('configured').first().waitFor();
      expect(await page.locator('main[aria-busy]').count()).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      await stack.call('PATCH', '/v3/components/n2', { error_count: 0 });
      await row('n2')
        .getByText('pending')
        .first()
        .waitFor({ timeout: bar(5_000) });
      await stack.call('DELETE', '/v3/components/n3');
      await page.getByText('3 components', { exact: true }).waitFor({ timeout: bar(5_000) });
    }, 60_000);

    test('is filtered, and its address says by what', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      await page.getByRole('combobox', { name: 'Status' }).selectOption('failed');
      await page.waitForURL('**/ui/components?status=failed');
      await page.getByText('1 component', { exact: true }).waitFor();
      await page.reload();
      await page.getByText('1 component', { exact: true }).waitFor();
      await page.getByRole('combobox', { name: 'Status' }).selectOption('');
      await page.getByRole('combobox', { name: 'Configuration' }).selectOption('site');
      await page.waitForURL('**/ui/components?config_name=site');
      await page.getByText('3 components', { exact: true }).waitFor();
      await page.getByRole('combobox', { name: 'Configuration' }).selectOption('');
      await page.getByRole('textbox', { name: 'Hosts' }).fill('n[1-3],!n2,gone');
      await page.keyboard.press('Enter');
      await page.getByText('2 components. Of no component: gone').waitFor();
      await page.getByRole('textbox', { name: 'Hosts' }).fill('');
      await page.getByRole('searchbox', { name: 'Filter' }).fill('none such');
      await page.keyboard.press('Enter');
      await page.getByText('No component matches the filter.').waitFor();
      await page.getByRole('link', { name: 'All components' }).click();
      await page.getByText('4 components', { exact: true }).waitFor();
    }, 60_000);

    test('says where a hostlist is wrong, and puts the caret there', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      const hosts = page.getByRole('textbox', { name: 'Hosts' });
      await hosts.fill('n1,n[3-1]');
      await page.keyboard.press('Enter');
      const alert = page.getByRole('alert');
      await alert.waitFor();
      const { body } = await stack.call('POST', '/api/v1/hostlists', { hosts: 'n1,n[3-1]' });
      expect(await alert.textContent()).toContain(`position ${body.position}`);
      expect(await hosts.getAttribute('aria-invalid')).toBe('true');
      expect(await hosts.evaluate((input) => (input as unknown as { selectionStart: number }).selectionStart)).toBe(
        body.position,
      );
      expect(await accessibilityFaults(page)).toEqual([]);
      await hosts.fill('n1');
      await page.keyboard.press('Enter');
      await page.getByText('1 component', { exact: true }).waitFor();
      expect(await hosts.getAttribute('aria-invalid')).toBeNull();
    });

    test('drops what its address does not know, with a notice', async () => {
      const { page } = seen;
      await page.goto('/ui/components?status=walking&enabled=false');
      expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('status is left out');
      await page.getByText('1 component', { exact: true }).waitFor();
    });

    test('writes hostile ids as text, and leads to them', async () => {
      const { page } = seen;
      const shown = '<b>x</b>\\u202egnp/%2e';
      await page.goto('/ui/components');
      await row(shown).getByRole('link', { name: shown }).click();
      await page.getByRole('heading', { level: 1, name: `Component ${shown}` }).waitFor();
      await page.getByText('no configuration is desired; disabled: nothing starts by itself').waitFor();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: `Component ${shown}` }).waitFor();
    });

    test('draws those rows of many that are seen, and goes through them by keys', async () => {
      const { page } = seen;
      const many = Array.from({ length: 1_200 }, (_, at) => ({
        id: `m${String(at).padStart(4, '0')}`,
        enabled: false,
      }));
      expect((await stack.call('PUT', '/v3/components', many)).status).toBe(200);
      await page.goto('/ui/components?text=m');
      await page.getByText('1200 components', { exact: true }).waitFor();
      expect(await table().getAttribute('aria-rowcount')).toBe('501');
      expect(await table().getByRole('row').count()).toBeLessThan(80);
      await row('m0000').getByRole('link').focus();
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      await page.keyboard.press('x');
      expect(await box('m0001').isChecked()).toBe(true);
      await page.getByRole('checkbox', { name: /^Keys/ }).uncheck();
      await row('m0001').getByRole('link').focus();
      await page.keyboard.press('x');
      expect(await box('m0001').isChecked()).toBe(true);
      await page.getByRole('checkbox', { name: /^Keys/ }).check();
      await page.keyboard.press('/');
      expect(await page.getByRole('searchbox', { name: 'Filter' }).evaluate((one) => one.matches(':focus'))).toBe(true);
      await table().evaluate((element) => element.parentElement?.scrollTo(0, 499 * 40));
      await row('m0499').waitFor();
      expect(await row('m0499').getAttribute('aria-rowindex')).toBe('501');
      await page.getByRole('link', { name: 'Next', exact: true }).click();
      await page.waitForURL('**after_id=m0499');
      await row('m0500').waitFor();
      await page.getByRole('link', { name: 'First', exact: true }).click();
      await row('m0000').waitFor();
    }, 60_000);

    test('has a filter by a failure that is seen, is part of the command, and is taken away', async () => {
      const { page, context } = seen;
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const failure = 'f0123456789abcde';
      await page.goto(`/ui/components?status=failed&failure=${failure}`);
      await page.getByText(`Failed with ${failure}`).waitFor();
      await button('Copy as CLI').click();
      await page.getByText('copied').waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(`failure=${failure}`);
      await button('Any failure').click();
      await page.waitForURL((url) => url.search === '?status=failed');
      await page.goto(`/ui/components?status=failed&failure=${failure}`);
      await page.getByRole('combobox', { name: 'Status' }).selectOption('pending');
      await page.waitForURL((url) => url.search === '?status=pending');
    }, 60_000);
  });

  describe('an action', () => {
    test('shows its effect before, takes a reason, and says what came of it', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      await box('n2').check();
      await box('n3').check();
      await page.getByText('2 selected').waitFor();
      await button('Reset errors').click();
      const dialog = page.getByRole('dialog', { name: 'Reset errors' });
      await effect('Reset errors').getByText('1 would change: n2. So already: 1.').waitFor();
      await effect('Reset errors').getByText('failed becomes pending: 1').waitFor();
      expect((await component('n2')).error_count).toBe(3);
      expect(await accessibilityFaults(page)).toEqual([]);
      await dialog.getByLabel('Reason').fill('the disk is new');
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).getByText('1 changed, 1 so already.').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect((await component('n2')).error_count).toBe(0);
      await row('n2').getByText('pending').first().waitFor();
      const { body } = await stack.call('GET', '/api/v1/audit?kind=component&name=n2&limit=1');
      expect(body.records[0]).toMatchObject({ action: 'update', reason: 'the disk is new' });
      await page.getByRole('link', { name: 'Audit' }).click();
      await page.getByRole('textbox', { name: 'Name' }).fill('n2');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/ui/audit?name=n2');
      const newest = page.getByRole('table', { name: 'Audit' }).getByRole('row').nth(1);
      await newest.getByText('the disk is new').waitFor();
      await newest.getByText('update component').click();
      await newest.getByText('error_count: 3 becomes 0').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }, 60_000);

    test('sets the configuration and tags, with what is odd about it', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      await box('n1').check();
      await button('Set desired configuration').click();
      const dialog = page.getByRole('dialog', { name: 'Set desired configuration' });
      expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
      await dialog.getByRole('combobox', { name: 'Configuration' }).selectOption('other');
      await effect('Set desired configuration').getByText('1 would change: n1.').waitFor();
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      expect((await component('n1')).desired_config).toBe('other');
      await button('Set tags').click();
      const tags = page.getByRole('dialog', { name: 'Set tags' });
      await tags.getByRole('textbox', { name: 'Tags' }).fill('role');
      expect(await tags.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
      await tags.getByRole('textbox', { name: 'Tags' }).fill('role=web');
      await effect('Set tags').getByText('1 would change: n1.').waitFor();
      await tags.getByRole('button', { name: 'Confirm' }).click();
      await tags.getByRole('status', { name: 'Result' }).waitFor();
      expect((await component('n1')).tags).toEqual({ role: 'web' });
    }, 60_000);

    test('on all that match changes what was selected, and not what came since', async () => {
      const { page } = seen;
      await page.goto('/ui/components?hosts=n[1-9]');
      await button('Select all 3 that match').click();
      await page.getByText('3 selected').waitFor();
      await stack.call('PUT', '/v3/components/n4', { enabled: true });
      await stack.call('DELETE', '/v3/components/n3');
      await button('Disable').click();
      await effect('Disable').getByText('2 would change: n1, n2. Gone meanwhile: 1.').waitFor();
      const dialog = page.getByRole('dialog', { name: 'Disable' });
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).getByText('1 gone meanwhile: n3').waitFor();
      expect([(await component('n1')).enabled, (await component('n4')).enabled]).toEqual([false, true]);
    }, 60_000);

    test('that deletes many wants the count typed', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      await button('Select all 4 that match').click();
      await page.getByText('4 selected').waitFor();
      await button('Delete').click();
      const dialog = page.getByRole('dialog', { name: 'Delete' });
      await effect('Delete')
        .getByText(/^4 would be deleted: /)
        .waitFor();
      const confirm = dialog.getByRole('button', { name: 'Confirm' });
      expect(await confirm.isDisabled()).toBe(true);
      await dialog.getByRole('textbox', { name: 'Type the count' }).fill('3');
      expect(await confirm.isDisabled()).toBe(true);
      await dialog.getByRole('textbox', { name: 'Type the count' }).fill('4');
      await confirm.click();
      await dialog.getByRole('status', { name: 'Result' }).getByText('4 changed, 0 so already.').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByText('There are no components yet.').waitFor();
    }, 60_000);

    test('is copied as commands', async () => {
      const { page, context } = seen;
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.goto('/ui/components?status=failed');
      await button('Select all 1 that match').click();
      await page.getByText('1 selected').waitFor();
      await button('Enable').click();
      const dialog = page.getByRole('dialog', { name: 'Enable' });
      await dialog.getByLabel('Reason').fill('it is time');
      await dialog.getByRole('button', { name: 'Copy as CLI' }).click();
      await dialog.getByText('copied').waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(
        "./muster component enable --status=failed --reason='it is time' --yes",
      );
      await dialog.getByRole('button', { name: 'Copy as curl' }).click();
      await dialog.getByText('copied').nth(1).waitFor();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(
        `-d '{"action":"enable","selection":{"filter":{"status":"failed"}}}' ${stack.url}/api/v1/components/actions`,
      );
    }, 60_000);

    test('runs a session on the selected ones, and leads to it', async () => {
      const { page } = seen;
      await page.goto('/ui/components');
      await button('Select all 4 that match').click();
      await page.getByText('4 selected').waitFor();
      expect(await button('Run session').isDisabled()).toBe(true);
      await button('Select none').click();
      await box('n1').check();
      await button('Run session').click();
      const dialog = page.getByRole('dialog', { name: 'Run session' });
      await dialog.getByRole('combobox', { name: 'Configuration' }).selectOption('site');
      await effect('Run session').getByText('Hosts: 1 (n1).').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      const name = await dialog.getByRole('textbox', { name: 'Name' }).inputValue();
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: `Session ${name}` }).waitFor();
      expect((await stack.session(name)).ansible).toMatchObject({ limit: 'n1' });
    }, 60_000);

    test('waits for a selection, and for a page that is not stale', async () => {
      const proxy = await startCutProxy(stack.url);
      try {
        await seen.context.close();
        seen = await openPage(browser, proxy.url);
        const { page } = seen;
        await page.goto('/ui/components');
        await row('n1').waitFor();
        expect(await button('Enable').isDisabled()).toBe(true);
        await page.getByText('Select components first').last().waitFor();
        await box('n1').check();
        expect(await button('Enable').isDisabled()).toBe(false);
        await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
        proxy.cut();
        await page
          .getByRole('alert')
          .filter({ hasText: 'old' })
          .waitFor({ timeout: bar(16_500) });
        expect(await button('Enable').isDisabled()).toBe(true);
        proxy.restore();
        await page
          .getByRole('status', { name: 'Connection' })
          .getByText('Live')
          .waitFor({ timeout: bar(10_000) });
        expect(await box('n1').isChecked()).toBe(true);
        expect(await button('Enable').isDisabled()).toBe(false);
        // The browser's own words about requests that did not come through.
        seen.faults = seen.faults.filter((fault) => !fault.includes('Failed to load resource'));
      } finally {
        await proxy.close();
      }
    }, 60_000);
  });

  test('one component has layers, timeline and actions, and is gone when it is deleted', async () => {
    const { page } = seen;
    await page.goto('/ui/components/n2');
    await page.getByRole('heading', { level: 1, name: 'Component n2' }).waitFor();
    const layers = page.getByRole('region', { name: 'Desired and reached' });
    await layers
      .getByRole('row')
      .filter({ hasText: 'layer 1/1 site.yml' })
      .getByText('failed', { exact: true })
      .waitFor();
    await page.getByRole('region', { name: 'Last failure' }).waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('made').first().waitFor();
    await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await button('Disable').click();
    await effect('Disable').getByText('1 would change: n2.').waitFor();
    await page.keyboard.press('Escape');
    await stack.call('DELETE', '/v3/components/n2');
    await page.getByText('There is no component n2').waitFor({ timeout: bar(5_000) });
    await page.getByRole('region', { name: 'Timeline' }).getByText('deleted').first().waitFor();
    await page.goto('/ui/components/never');
    await page.getByText('There is no component never').waitFor();
    await page.getByText('Nothing is known of it.').waitFor();
  }, 60_000);
});
