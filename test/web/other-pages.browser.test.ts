/** Batches, schedules, images, sources, webhooks, access and system in a browser: a real stack. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { accessibilityFaults, closeWithResult } from '../support/browser.ts';
import { describeInBrowser } from '../support/in-browser.ts';

/** Markup, and a character that turns what stands behind it. */
const HOSTILE = '../<img src=x onerror=alert(1)>\u202e';
const SHOWN = '../<img src=x onerror=alert(1)>\\u202e';

describeInBrowser('the other pages', { settings: { MUSTER_AUTH: 'token' } }, (on) => {
  let token: string;

  beforeAll(async () => {
    token = (await readFile(join(on.stack.dataDir, 'admin-token'), 'utf8')).trim();
  }, 480_000);
  beforeEach(async () => {
    await signIn(token);
  });
  const { test, opened } = on;

  async function signIn(as: string): Promise<void> {
    const answer = await on.seen.context.request.post('/api/v1/sign-in', { data: { token: as } });
    expect(answer.status()).toBe(200);
  }

  async function good(method: string, path: string, body?: unknown) {
    const answer = await on.stack.call(method, path, body, { authorization: `Bearer ${token}` });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  const table = (page: Page, name: string): Locator => page.getByRole('table', { name, exact: true });
  const region = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
  /** Opens the dialog of a button, sees its effect, confirms it, and sees the result. */
  async function act(page: Page, name: string, effect: RegExp, within: Page | Locator = page): Promise<void> {
    await within.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name });
    const found = dialog.getByRole('group', { name: 'Effect' });
    await found.getByText(/[0-9]+ would/).waitFor();
    const text = (await found.textContent()) ?? '';
    expect(text).toMatch(effect);
    const count = dialog.getByRole('textbox', { name: 'Type the count' });
    if ((await count.count()) > 0) await count.fill(/([0-9]+) would/.exec(text)?.[1] ?? '');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await closeWithResult(page, dialog);
  }

  test('batches say until when they wait, and are paused and resumed', async () => {
    await good('PATCH', '/v3/options', { batch_window: 600, batcher_check_interval: 2 });
    const layers = [{ clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    await good('PUT', '/v3/configurations/waiting', { layers });
    await good('PUT', '/v3/components', [{ id: 'waits', desired_config: 'waiting', enabled: true }]);
    const page = await opened('batches', 'Batches');
    await region(page, 'Batcher').getByText('working').waitFor();
    const row = table(page, 'Batches').getByRole('row').filter({ hasText: 'waiting' });
    await row.getByText('its window ends, or it is full').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Pause', /1 would change/);
    await region(page, 'Batcher').getByText('nothing is sent until it is resumed').waitFor();
    await act(page, 'Resume', /1 would change/);
    await region(page, 'Batcher').getByText('working').waitFor();
    await act(page, 'Run a pass', /There is no dry run of this/);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('ended');
    await page.getByText('No batch matches the filter.').waitFor();
    await page.goto('/ui/batches?state=walking');
    expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('state is left out');
  }, 120_000);

  test('schedules show times and runs, and are triggered, paused and resumed', async () => {
    const action = { refresh: { configurations: ['none-of-these'] } };
    const description = HOSTILE;
    await good('POST', '/api/v1/schedules', { name: 'nightly', description, cron: '0 3 * * *', action });
    const page = await opened('schedules', 'Schedules');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/shown=nightly/);
    const one = region(page, 'Schedule nightly');
    await one.getByText(SHOWN).waitFor();
    await region(page, 'Next times').getByRole('listitem').nth(4).waitFor();
    await act(page, 'Trigger', /1 would change: nightly/);
    await table(page, 'Runs').getByRole('row').nth(1).waitFor();
    await act(page, 'Pause', /1 would change: nightly/);
    await one.getByText('It is paused: these times will pass.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Resume', /1 would change: nightly/);
    await page.goto('/ui/schedules?shown=none');
    await page.getByText('There is no schedule none').waitFor();
  }, 90_000);

  test('images are listed with their jobs, looked at and deleted', async () => {
    const { id } = await good('POST', '/apis/ims/images', { name: 'compute-1' });
    const page = await opened('images', 'Images');
    await table(page, 'Images').getByRole('link', { name: 'compute-1' }).click();
    await page.waitForURL(`**/ui/images?shown=${id}`);
    await region(page, 'Image').getByText('an import').waitFor();
    await region(page, 'Image jobs').getByText('No image was customised yet.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Delete', /1 would be deleted: compute-1. There is no dry run/);
    await region(page, 'Image').getByText('There is no image with this id').waitFor();
    await page.getByText('There are no images yet.').waitFor();
  }, 60_000);

  test('sources never show credentials, whatever they are called', async () => {
    await good('POST', '/v3/sources', {
      name: HOSTILE,
      clone_url: 'https://git.example.test/x.git',
      credentials: { username: 'reader', password: 'hunter7hunter7' },
    });
    const page = await opened('sources', 'Sources');
    await table(page, 'Sources').getByRole('link', { name: SHOWN }).click();
    const one = region(page, `Source ${SHOWN}`);
    await one.getByText('never shown').waitFor();
    expect(await page.content()).not.toContain('hunter7');
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Delete', /would be deleted/);
    await page.getByText('There are no sources yet.').waitFor();
    await page.goto('/ui/sources?in_use=maybe');
    expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('in_use is left out');
  }, 60_000);

  test('webhooks are tested, disabled, enabled and deleted, and show what they were told', async () => {
    const url = 'http://127.0.0.1:9/secret-part';
    await good('POST', '/api/v1/webhooks', { name: 'pager', url, events: ['session.ended'] });
    const page = await opened('webhooks', 'Webhooks');
    await table(page, 'Webhooks').getByRole('link', { name: 'pager' }).click();
    await page.waitForURL(/shown=pager/);
    await act(page, 'Test', /1 would change: pager/);
    await table(page, 'Deliveries').getByRole('rowheader', { name: 'ping' }).waitFor();
    expect(await page.content()).not.toContain('secret-part');
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Disable', /1 would change: pager/);
    await table(page, 'Webhooks').getByText('disabled').waitFor();
    await act(page, 'Enable', /1 would change: pager/);
    await act(page, 'Delete', /2 would be deleted: .*pager/);
    await page.getByText('There are no webhooks yet.').waitFor();
    await region(page, 'Webhook pager').getByText('There is no webhook pager').waitFor();
  }, 60_000);

  test('access shows a token once, revokes it, and names secrets without their values', async () => {
    await good('PUT', '/api/v1/secrets/shop-login/password', { value: 'hunter8hunter8' });
    const page = await opened('access', 'Access');
    await page.getByRole('button', { name: 'Create token', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await dialog.getByLabel('Name').fill('ci');
    await dialog.getByLabel('Role').selectOption('operator');
    await dialog.getByText(/[0-9]+ would/).waitFor();
    expect(await dialog.getByRole('group', { name: 'Effect' }).textContent()).toContain('1 would be made: ci');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    const made = (await dialog.getByRole('status', { name: 'Result' }).locator('code').textContent()) ?? '';
    expect(made.length).toBeGreaterThan(20);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = table(page, 'Access').getByRole('row').filter({ hasText: 'ci' }).first();
    await row.getByText('operator').waitFor();
    expect(await page.content()).not.toContain(made);
    await page.getByRole('table', { name: 'Secrets' }).getByRole('link', { name: 'shop-login' }).click();
    await region(page, 'Secret shop-login').getByText('Nothing uses it.').waitFor();
    expect(await page.content()).not.toContain('hunter8');
    expect(await accessibilityFaults(page)).toEqual([]);
    await act(page, 'Revoke', /1 would change: ci/, row);
    await row.waitFor({ state: 'detached' });
  }, 60_000);

  test('system says what is well, and sets an option after its effect', async () => {
    const page = await opened('system', 'System');
    await table(page, 'System').getByRole('row').filter({ hasText: 'Database' }).getByText('ok').waitFor();
    await table(page, 'System')
      .getByRole('row')
      .filter({ hasText: 'disk' })
      .getByText(/ are free at /)
      .waitFor();
    await table(page, 'Processes').getByRole('row').filter({ hasText: 'worker' }).first().waitFor();
    await table(page, 'Queues').getByRole('row').filter({ hasText: 'outbox' }).waitFor();
    await table(page, 'Gauges').getByRole('rowheader', { name: 'muster_queue_length' }).waitFor();
    await region(page, 'Disk')
      .getByText(/ of [0-9.]+ [KMGT]iB/)
      .waitFor();
    await region(page, 'Database')
      .getByText(/^[0-9]+ of [0-9]+$/)
      .waitFor();
    await table(page, 'Options').getByRole('rowheader', { name: 'batch_size' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Set option', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Set option' });
    await dialog.getByLabel('Option').selectOption('batch_size');
    await dialog.getByLabel('Value').fill('many');
    expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Value').fill('17');
    await dialog.getByText(/1 would change/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm' }).focus();
    await page.keyboard.press('Enter');
    await dialog.getByRole('status', { name: 'Result' }).waitFor();
    expect((await good('GET', '/api/v1/options')).batch_size).toBe(17);
    await page.keyboard.press('Escape');
    await table(page, 'Options').getByRole('row').filter({ hasText: 'batch_size' }).getByText('17').waitFor();
  }, 60_000);

  test('keys lead to pages and to their help, where a theme is chosen, and are switched off', async () => {
    const page = await opened('system', 'System');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Help' });
    await dialog.getByRole('table', { name: 'Keys' }).getByRole('rowheader', { name: 'g s' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const scheme = () => page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
    for (const [theme, shown] of [
      ['dark', 'dark'],
      ['light', 'light'],
    ] as const) {
      await dialog.getByLabel('Theme').selectOption(theme);
      expect(await scheme()).toBe(shown);
    }
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Batches' }).waitFor();
    expect(await scheme()).toBe('light');
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await dialog.getByLabel('Theme').selectOption('system');
    expect(await scheme()).toBe('light dark');
    await dialog.getByRole('checkbox', { name: 'Keys of one letter' }).uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    expect([await dialog.count(), new URL(page.url()).pathname]).toEqual([0, '/ui/batches']);
  }, 60_000);

  test('lists are told of what is made while they are seen', async () => {
    const credentials = { username: 'reader', password: 'hunter7hunter7' };
    const source = { name: 'told', clone_url: 'https://git.example.test/t.git', credentials };
    const webhook = { name: 'told', url: 'http://127.0.0.1:9/told', events: ['session.ended'] };
    // The page of the audit has the writes before: its own has another name.
    for (const [path, heading, method, url, body, name] of [
      ['sources', 'Sources', 'POST', '/v3/sources', source, 'told'],
      ['webhooks', 'Webhooks', 'POST', '/api/v1/webhooks', webhook, 'told'],
      ['access', 'Access', 'POST', '/api/v1/tokens', { role: 'reader', name: 'told' }, 'told'],
      ['audit', 'Audit', 'PUT', '/v3/configurations/audited-last', { layers: [] }, 'audited-last'],
    ] as const) {
      const page = await opened(path, heading);
      const row = table(page, heading).getByRole('row').filter({ hasText: name });
      expect(await row.count()).toBe(0);
      await good(method, url, body);
      await row.first().waitFor();
    }
  }, 60_000);

  test('a reader is told what it may not read or do, and no request is sent that would be refused', async () => {
    const reader = await good('POST', '/api/v1/tokens', { role: 'reader', name: 'looks' });
    await signIn(reader.token);
    for (const [path, heading] of [
      ['webhooks?shown=x', 'Webhooks'],
      ['access?shown=x', 'Access'],
    ] as const) {
      const page = await opened(path, heading);
      await page.getByText('Your role reader may not read this: it needs admin').waitFor();
    }
    const page = await opened('system', 'System');
    expect(await page.getByRole('button', { name: 'Set option', exact: true }).isDisabled()).toBe(true);
    await page.goto('/ui/batches');
    await page.getByText('Your role reader may not do this: it needs operator').first().waitFor();
    for (const name of ['Pause', 'Resume', 'Run a pass']) {
      expect(await page.getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
    }
  }, 60_000);
});
