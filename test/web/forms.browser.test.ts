/** Schedules, webhooks and sources that are made and changed by forms in a browser: a real stack. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { describeInBrowser } from '../support/in-browser.ts';

const SECRET = 'hunter9hunter9hunter9';

describeInBrowser('forms', { settings: { MUSTER_AUTH: 'token' } }, (on) => {
  const { test, opened } = on;
  let token: string;

  beforeAll(async () => {
    token = (await readFile(join(on.stack.dataDir, 'admin-token'), 'utf8')).trim();
  });
  beforeEach(async () => {
    const answer = await on.seen.context.request.post('/api/v1/sign-in', { data: { token } });
    expect(answer.status()).toBe(200);
    await on.seen.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  });

  const stored = async (path: string) => {
    const answer = await on.stack.call('GET', path, undefined, { authorization: `Bearer ${token}` });
    return answer.status === 200 ? answer.body : answer.status;
  };
  async function dialogOf(page: Page, name: string): Promise<Locator> {
    await page.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name });
    await dialog.getByText('Fill in what is to be done.').waitFor();
    return dialog;
  }
  const field = (dialog: Locator, label: string) => dialog.getByLabel(label, { exact: true });
  const effect = (dialog: Locator) => dialog.getByRole('group', { name: 'Effect' });
  async function confirm(dialog: Locator): Promise<void> {
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('status', { name: 'Result' }).waitFor();
  }
  async function copied(dialog: Locator, name: string): Promise<string> {
    const copy = dialog.locator('.copy').filter({ hasText: name });
    await copy.getByRole('button', { name, exact: true }).click();
    await copy.getByText('copied', { exact: true }).waitFor();
    return on.seen.page.evaluate<string>('navigator.clipboard.readText()');
  }

  test('a schedule is made: a mistake stands at its field, and its effect is shown before', async () => {
    const page = await opened('schedules', 'Schedules');
    const dialog = await dialogOf(page, 'New schedule');
    expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    await field(dialog, 'Name').fill('nightly');
    await field(dialog, 'When').fill('0 3 * *');
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await field(dialog, 'When').getAttribute('aria-invalid')).toBe('true');
    const told = (await field(dialog, 'When').getAttribute('aria-describedby')) ?? '';
    expect(told.split(' ')).toHaveLength(2);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    await field(dialog, 'When').fill('0 3 * * mon-fri');
    await effect(dialog).getByText('1 would be made: nightly').waitFor();
    await effect(dialog).getByText('It is about all components.').waitFor();
    await field(dialog, 'Tags').fill('role=web');
    await effect(dialog).getByText('It is about all components.').waitFor({ state: 'detached' });
    await effect(dialog).getByText('1 would be made: nightly').waitFor();
    expect(await copied(dialog, 'Copy as CLI')).toBe(
      "./muster schedule create nightly --cron='0 3 * * mon-fri' --time-zone=UTC --jitter=0 --overlap=skip --catch-up=600 --reconfigure --tag=role=web",
    );
    expect(await stored('/api/v1/schedules/nightly')).toBe(404);
    await confirm(dialog);
    expect(await stored('/api/v1/schedules/nightly')).toMatchObject({
      cron: '0 3 * * mon-fri',
      action: { reconfigure: { filter: { tags: 'role=web' } } },
    });
    await dialog.getByRole('link', { name: 'nightly' }).click();
    await page.waitForURL(/shown=nightly/);
  }, 60_000);

  test('a schedule is changed by keyboard alone, and keeps what its form does not show', async () => {
    const session = { configuration_name: 'none-yet', ansible_verbosity: 2, tags: { why: 'kept' } };
    const made = await on.stack.call(
      'POST',
      '/api/v1/schedules',
      { name: 'kept', cron: '0 4 * * *', action: { session } },
      { authorization: `Bearer ${token}` },
    );
    expect(made.status).toBe(201);
    const page = await opened('schedules?shown=kept', 'Schedules');
    await page.getByRole('button', { name: 'Change', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Change' });
    await field(dialog, 'Limit').focus();
    await page.keyboard.type('n1,n2');
    await effect(dialog).getByText('1 would change: kept').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const confirmed = dialog.getByRole('button', { name: 'Confirm' });
    while (!(await confirmed.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await dialog.getByRole('status', { name: 'Result' }).waitFor();
    expect((await stored('/api/v1/schedules/kept')).action.session).toMatchObject({
      ...session,
      ansible_limit: 'n1,n2',
    });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }, 60_000);

  test('a form that is open follows what is changed elsewhere, and keeps it', async () => {
    const send = async (method: string, path: string, body: object) =>
      (await on.stack.call(method, path, body, { authorization: `Bearer ${token}` })).status;
    const action = (tags: object) => ({ reconfigure: { filter: { status: 'failed', ...tags } } });
    const made = { name: 'shared', cron: '0 5 * * *', action: action({}) };
    expect(await send('POST', '/api/v1/schedules', made)).toBe(201);
    const page = await opened('schedules?shown=shared', 'Schedules');
    const dialog = await dialogOf(page, 'Change');
    await field(dialog, 'Set desired configuration').fill('next');
    const narrowed = { action: action({ tags: 'role=web' }) };
    expect(await send('PATCH', '/api/v1/schedules/shared', narrowed)).toBe(200);
    await eventually('the form is told', async () => (await field(dialog, 'Tags').inputValue()) === 'role=web');
    await effect(dialog).getByText('1 would change: shared').waitFor();
    await confirm(dialog);
    expect((await stored('/api/v1/schedules/shared')).action.reconfigure).toEqual({
      ...{ filter: { status: 'failed', tags: 'role=web' }, desired_config: 'next' },
    });
  }, 60_000);

  test('a webhook is made and changed; its address is never shown again, and its key once', async () => {
    const page = await opened('webhooks', 'Webhooks');
    const dialog = await dialogOf(page, 'New webhook');
    await field(dialog, 'Name').fill('pager');
    await field(dialog, 'Address').fill('ftp://127.0.0.1/secret-part');
    await field(dialog, 'session.ended').check();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await field(dialog, 'Address').getAttribute('aria-invalid')).toBe('true');
    await field(dialog, 'Address').fill('http://127.0.0.1:9/secret-part');
    // The secret of its address and key is a record too.
    await effect(dialog)
      .getByText(/2 would change: .*pager/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await copied(dialog, 'Copy as CLI')).toBe(
      'printf %s "$WEBHOOK_URL" | ./muster webhook create pager --to - --event session.ended',
    );
    expect(await copied(dialog, 'Copy as curl')).not.toContain('secret-part');
    await confirm(dialog);
    const key = (await dialog.getByRole('status', { name: 'Result' }).locator('code').textContent()) ?? '';
    expect(key.length).toBeGreaterThanOrEqual(16);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Webhooks' }).getByRole('link', { name: 'pager' }).click();
    const change = await dialogOf(page, 'Change');
    await field(change, 'batch.held').check();
    await effect(change).getByText('1 would change: pager').waitFor();
    await confirm(change);
    expect((await stored('/api/v1/webhooks/pager')).events).toEqual(['session.ended', 'batch.held']);
    await page.keyboard.press('Escape');
    await change.waitFor({ state: 'detached' });
    for (const text of ['secret-part', key]) expect(await page.content()).not.toContain(text);
  }, 60_000);

  test('a source is made and changed; its credentials are in no command, and are never shown', async () => {
    const page = await opened('sources', 'Sources');
    const dialog = await dialogOf(page, 'New source');
    await field(dialog, 'Name').fill('site');
    await field(dialog, 'Repository').fill('https://git.example.test/x.git');
    await field(dialog, 'User name').fill('reader');
    await field(dialog, 'Password').fill(SECRET);
    await effect(dialog)
      .getByText(/[0-9]+ would (be made|change): .*site/)
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const command = await copied(dialog, 'Copy as CLI');
    expect(command).toMatch(
      /^jq -n '\{"name":"site",.*"password":env\.SOURCE_PASSWORD\}\}' \| \.\/muster source apply -f -$/,
    );
    expect(await copied(dialog, 'Copy as curl')).not.toContain(SECRET);
    await confirm(dialog);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('table', { name: 'Sources' }).getByRole('link', { name: 'site' }).click();
    const change = await dialogOf(page, 'Change');
    expect(await field(change, 'Password').inputValue()).toBe('');
    await field(change, 'Description').fill('of the site');
    await effect(change)
      .getByText(/would change/)
      .waitFor();
    await confirm(change);
    expect(await stored('/v3/sources/site')).toMatchObject({
      description: 'of the site',
      clone_url: 'https://git.example.test/x.git',
    });
    expect(await page.content()).not.toContain(SECRET);
  }, 60_000);

  test('a reader finds the forms disabled, with the reason', async () => {
    const made = await on.stack.call(
      'POST',
      '/api/v1/tokens',
      { role: 'reader', name: 'looks' },
      { authorization: `Bearer ${token}` },
    );
    await on.seen.context.request.post('/api/v1/sign-in', { data: { token: made.body.token } });
    for (const [path, heading, button, role] of [
      ['schedules', 'Schedules', 'New schedule', 'operator'],
      ['sources', 'Sources', 'New source', 'admin'],
    ] as const) {
      const page = await opened(path, heading);
      await page.getByText(`Your role reader may not do this: it needs ${role}`).first().waitFor();
      expect(await page.getByRole('button', { name: button, exact: true }).isDisabled()).toBe(true);
    }
  }, 60_000);
});
