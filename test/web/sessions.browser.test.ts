/** Sessions in a browser, live: a real stack, real playbooks. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults, bar, openPage } from '../support/browser.ts';
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts';
import { eventually } from '../support/eventually.ts';
import { describeInBrowser } from '../support/in-browser.ts';

/** Goes on as soon as a file is there, so that a test decides when. */
const waiting = (gate: string) => `- hosts: all
  gather_facts: false
  tasks:
    - name: Say what is hostile
      ansible.builtin.debug:
        msg: "<img src=x onerror=alert(1)> seen"
      # The output has no word of a task that only went well.
      changed_when: true
    - name: Wait for the gate
      ansible.builtin.wait_for:
        path: ${gate}
        timeout: 900
        sleep: 1
`;
const FAILING = `- hosts: all
  gather_facts: false
  tasks:
    - name: Fail on one
      ansible.builtin.fail:
        msg: the disk is full
      when: inventory_hostname == 'n2'
`;

describeInBrowser('sessions in the web UI', {}, (on) => {
  let gate: string;

  beforeAll(async () => {
    gate = join(on.stack.dataDir, 'gate');
    const repository = await on.stack.repository('site');
    await repository.commit({ 'wait.yml': waiting(gate), 'fail.yml': FAILING });
    await on.stack.configure('waiting', repository.url, ['wait.yml'], ['n1']);
    await on.stack.configure('failing', repository.url, ['fail.yml'], ['n1', 'n2']);
  }, 480_000);
  const { test } = on;
  const connection = (page = on.seen.page) => page.getByRole('status', { name: 'Connection' });
  const live = (page = on.seen.page) => connection(page).getByText('Live').waitFor();

  describe('a session that runs', () => {
    test('is found in the list, and is followed to its end', async () => {
      const { page } = on.seen;
      await page.goto('/ui/');
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
      await live();
      await on.stack.create('followed', 'waiting');
      const row = page.getByRole('table', { name: 'Sessions' }).getByRole('row').filter({ hasText: 'followed' });
      // The reason may have the word too.
      await row.getByText('running').first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await row.getByRole('link', { name: 'followed' }).click();
      await page.getByRole('heading', { level: 1, name: 'Session followed' }).waitFor();
      await page
        .getByRole('region', { name: 'Steps' })
        .getByText(/layer 1\/1 wait\.yml: now/)
        .waitFor();
      await page.getByRole('tab', { name: 'Log' }).click();
      const output = page.getByRole('log', { name: 'Output' });
      await output.getByText('<img src=x onerror=alert(1)> seen').first().waitFor();
      expect(page.url()).toMatch(/\/ui\/sessions\/followed\?id=[0-9a-f-]{36}&tab=log$/);
      expect(await accessibilityFaults(page)).toEqual([]);
      await writeFile(gate, '');
      await output.getByText('PLAY RECAP').waitFor();
      await page.getByRole('tab', { name: 'Hosts' }).click();
      await page
        .getByRole('table', { name: 'Hosts' })
        .getByRole('row')
        .filter({ hasText: 'n1' })
        .getByText('applied', { exact: true })
        .waitFor();
      await page.getByText('The session has ended').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    }, 90_000);

    test('is cancelled with its effect shown and a reason', async () => {
      const { page } = on.seen;
      await rm(gate, { force: true });
      await on.stack.create('unwanted', 'waiting');
      await page.goto('/ui/sessions/unwanted');
      await page.getByRole('button', { name: 'Cancel' }).click();
      const dialog = page.getByRole('dialog', { name: 'Cancel' });
      const effect = dialog.getByRole('group', { name: 'Effect' });
      await effect.filter({ hasText: '1 would change: unwanted' }).waitFor();
      expect(await effect.textContent()).toMatch(/^1 would change: unwanted.*1 session: unwanted/);
      expect(await page.getByRole('button', { name: 'Finish debug' }).isDisabled()).toBe(true);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Cancel' }).click();
      await dialog.getByLabel('Reason').fill('maintenance begins');
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      const { cancel } = await on.stack.untilComplete('unwanted');
      expect(cancel).toMatchObject({ reason: 'cancelled: maintenance begins' });
      await page.getByText('maintenance begins').first().waitFor();
    }, 90_000);
  });

  test('failed hosts are retried, and the page leads to the new session', async () => {
    const { page } = on.seen;
    await on.stack.create('half', 'failing');
    await on.stack.untilComplete('half');
    await page.goto('/ui/sessions/half');
    await page
      .getByText(/the disk is full/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Retry failed hosts' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry failed hosts' });
    await dialog.getByText('1 host: n2').waitFor();
    await dialog.getByText(/^1 would be made: retry-[0-9a-f]{8}-half/).waitFor();
    await dialog.getByText('Hosts: 1 (n2).').waitFor();
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('status', { name: 'Result' }).getByRole('link').click();
    await page.getByText('Retry of').waitFor();
    await page.getByRole('link', { name: 'half', exact: true }).waitFor();
  }, 90_000);

  test('a session runs again with what it ran with, on other hosts', async () => {
    const { page } = on.seen;
    await on.stack.create('before', 'failing');
    await on.stack.untilComplete('before');
    await page.goto('/ui/sessions/before');
    await page.getByRole('button', { name: 'Run again', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Run again' });
    expect(await dialog.getByLabel('Configuration', { exact: true }).inputValue()).toBe('failing');
    await dialog.getByLabel('Name', { exact: true }).fill('afterwards');
    await dialog.getByLabel('Hosts', { exact: true }).fill('n1');
    await dialog.getByText('1 would be made: afterwards').waitFor();
    await dialog.getByText('Hosts: 1 (n1).').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('status', { name: 'Result' }).getByRole('link', { name: 'afterwards' }).waitFor();
    const { configuration, ansible } = await on.stack.untilComplete('afterwards');
    expect([configuration.name, ansible.limit]).toEqual(['failing', 'n1']);
  }, 90_000);

  test('what happened is shown by pages, failures by choice, and where the time went', async () => {
    const { page } = on.seen;
    await on.stack.create('told', 'failing');
    const { id } = await on.stack.untilComplete('told');
    await page.goto(`/ui/sessions/told?id=${id}`);
    const copies = page.getByRole('tabpanel').getByRole('button', { name: 'Copy as CLI' });
    await copies.waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.waitForURL(/tab=events/);
    const events = page.getByRole('table', { name: 'Events' });
    await events.getByRole('rowheader', { name: 'task Fail on one' }).waitFor();
    await page.locator('main [aria-busy]').waitFor({ state: 'detached' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Result' }).selectOption('failed');
    await page.waitForURL(/result=failed/);
    await events.getByRole('rowheader', { name: 'task Fail on one' }).waitFor({ state: 'detached' });
    const failed = events.getByRole('row').filter({ hasText: 'the disk is full' });
    expect(await failed.getByRole('cell').first().textContent()).toBe('n2');
    expect(await events.getByRole('row').count()).toBe(2);
    await page.getByRole('textbox', { name: 'Host' }).fill('n1');
    await page.keyboard.press('Enter');
    await page.getByText('No event matches the filter.').waitFor();
    await page.goto(`/ui/sessions/told?id=${id}&tab=events&after_id=0&result=walking`);
    expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('result is left out');
    await events.getByRole('rowheader', { name: /^play / }).waitFor();
    await page.getByRole('link', { name: 'Newest', exact: true }).waitFor();

    await page.getByRole('tab', { name: 'Timeline' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/tab=timeline/);
    const steps = page.getByRole('table', { name: 'Times of steps' });
    await steps.getByRole('rowheader', { name: 'layer 1/1 fail.yml' }).waitFor();
    await page.getByRole('table', { name: 'Times of tasks' }).getByRole('rowheader', { name: 'Fail on one' }).waitFor();
    await page.getByRole('table', { name: 'Slowest hosts' }).getByRole('rowheader', { name: 'n2' }).waitFor();
    expect(await copies.count()).toBe(2);
    expect(await accessibilityFaults(page)).toEqual([]);
  }, 90_000);

  test('a session that was deleted is gone, and one that has its name is another', async () => {
    const { page } = on.seen;
    await on.stack.create('twice', 'failing');
    const { id } = await on.stack.untilComplete('twice');
    await page.goto(`/ui/sessions/twice?id=${id}`);
    await live();
    expect((await on.stack.call('DELETE', '/v3/sessions/twice')).status).toBe(204);
    await page.getByText('There is no session twice').waitFor();
    await on.stack.create('twice', 'failing');
    await page.getByText('This session was replaced').waitFor();
    const other = (await on.stack.session('twice')).id;
    await page.getByRole('main').getByRole('link', { name: 'Session twice' }).click();
    await page.waitForURL(`**/ui/sessions/twice?id=${other}`);
    await page.getByRole('region', { name: 'Steps' }).waitFor();
  }, 90_000);

  test('a value in the address that the page does not know is dropped with a notice', async () => {
    const { page } = on.seen;
    await page.goto('/ui/sessions?status=walking&unknown=1');
    expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('status is left out');
    await page.locator('main:not([aria-busy])').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('complete');
    await page.waitForURL('**/ui/sessions?status=complete');
    await page.getByRole('searchbox', { name: 'Filter' }).fill('no such');
    await page.keyboard.press('Enter');
    await page.getByText('No session matches the filter.').waitFor();
  });

  describe('a connection that', () => {
    let proxy: CutProxy;
    beforeEach(async () => {
      proxy = await startCutProxy(on.stack.url);
    });
    afterEach(() => proxy.close());

    test('eight tabs have: one stream for all, which are live', async () => {
      await throughProxy();
      const tabs = [on.seen.page];
      while (tabs.length < 8) tabs.push(await on.seen.context.newPage());
      for (const tab of tabs) {
        await tab.goto('/ui/sessions');
        await live(tab);
      }
      await eventually('there is one stream', () => proxy.openStreams() === 1, undefined, proxy.openStreams);
      await on.stack.create('for-all', 'failing');
      for (const tab of tabs) {
        await tab.bringToFront();
        await tab.getByRole('link', { name: 'for-all' }).waitFor();
      }
      await eventually('there is one stream', () => proxy.openStreams() === 1, undefined, proxy.openStreams);
    }, 90_000);

    test('is cut, or held, makes the page stale within 16 s, and true 10 s after the return', async () => {
      await throughProxy();
      const held = await startCutProxy(on.stack.url);
      const other = await openPage(on.browser, held.url);
      const asking = await startCutProxy(on.stack.url);
      const polled = await openPage(on.browser, asking.url);
      await polled.page.addInitScript('delete globalThis.SharedWorker');
      try {
        // All wait for the same time.
        await Promise.all([
          staleAndBack(on.seen.page, proxy, 'cut'),
          staleAndBack(other.page, held, 'stall'),
          staleAndBack(polled.page, asking, 'cut', 'while-polled'),
        ]);
        expect(await on.seen.page.getByText('read every 10 s').count()).toBe(0);
        expect(await polled.page.getByText('read every 10 s').isVisible()).toBe(true);
        expect(await accessibilityFaults(polled.page)).toEqual([]);
      } finally {
        await Promise.all([other, polled].map(({ context }) => context.close()));
        await asking.close();
        await held.close();
      }
      // The browser's own words about requests that did not come through.
      on.seen.faults = on.seen.faults.filter((fault) => !fault.includes('Failed to load resource'));
    }, 60_000);

    async function staleAndBack(page: Page, between: CutProxy, how: 'cut' | 'stall', name = `while-${how}`) {
      await page.goto('/ui/sessions');
      await live(page);
      between[how]();
      await page
        .getByRole('alert')
        .filter({ hasText: 'old' })
        .waitFor({ timeout: bar(16_500) });
      expect(await connection(page).textContent()).toBe('Stale');
      await on.stack.create(name, 'failing');
      between.restore();
      await page.getByRole('link', { name }).waitFor({ timeout: bar(10_000) });
      await live(page);
      await eventually('the banner is gone', async () => (await page.getByRole('alert').count()) === 0);
    }

    /** The page comes by the proxy. */
    async function throughProxy(): Promise<void> {
      await on.seen.context.close();
      on.seen = await openPage(on.browser, proxy.url);
    }
  });
});
