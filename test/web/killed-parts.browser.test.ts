/** Pages that are open while parts of their stack are killed: nothing is loaded anew by a user. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { bar, browserMissing, openPage, startBrowser, tracedTest, type WatchedPage } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { killAndHold } from '../support/killed-part.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const waiting = (gate: string) => `- hosts: all
  gather_facts: false
  tasks:
    - name: Wait for the gate
      ansible.builtin.wait_for:
        path: ${gate}
        timeout: 900
        sleep: 1
`;
/** Bars of what a page says: stale after a cut that lasts, and true after the return, ms. */
const [STALE_WITHIN_MS, TRUE_WITHIN_MS] = [bar(16_500), bar(10_000)];

describeNeeding(browserMissing() ?? stackMissing(), 'pages that are open', () => {
  let stack: MusterStack;
  let browser: Browser;
  let seen: WatchedPage;
  let gate: string;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startMusterStack({}, 'own', 'built'), startBrowser()]);
    gate = join(stack.dataDir, 'gate');
    const repository = await stack.repository('site');
    await repository.commit({ 'wait.yml': waiting(gate) });
    await stack.configure('waiting', repository.url, ['wait.yml'], ['n1']);
  }, 480_000);
  afterAll(async () => {
    if (gate !== undefined) await writeFile(gate, '');
    await browser?.close();
    await stack?.remove();
  });
  beforeEach(async () => {
    seen = await openPage(browser, stack.url);
  });
  afterEach(() => seen.context.close());
  const test = tracedTest(() => seen);

  const connection = (page: Page) => page.getByRole('status', { name: 'Connection' });
  const live = (page: Page, timeout = bar(30_000)) => connection(page).getByText('Live').waitFor({ timeout });
  /** Opens a page that says afterwards whether it is still the same. */
  async function opened(path: string, page?: Page): Promise<Page> {
    const tab = page ?? (await seen.context.newPage());
    await tab.goto(path);
    await live(tab);
    await tab.evaluate('window.isKept = true');
    return tab;
  }
  const isKept = (page: Page) => page.evaluate<boolean>('window.isKept === true');
  /** A component that nobody is told of. */
  const add = (id: string) =>
    stack.sql(
      `insert into components (id, desired_config, error_count, retry_policy, enabled, tags, state, updated_at)
        values ($1, '', 0, 3, false, '{}', '[]', now())`,
      [id],
    );
  const untilAnswered = () =>
    eventually(
      'the API reads the database',
      async () => (await stack.call('GET', '/v3/components/n1').catch(() => null))?.status === 200,
      90_000,
    );
  async function stale(page: Page, since: number): Promise<void> {
    await page
      .getByRole('alert')
      .filter({ hasText: 'Muster cannot be reached' })
      .waitFor({
        timeout: since + STALE_WITHIN_MS - Date.now(),
      });
    expect(await connection(page).textContent()).toBe('Stale');
  }
  /** What the browser itself says about requests that did not come through. */
  const forgiven = () => {
    seen.faults = seen.faults.filter((fault) => !fault.includes('Failed to load resource'));
  };

  test('while the API is killed are stale within 16 s, true within 10 s of its return, and keep what was written', async () => {
    const list = await opened('/ui/components', seen.page);
    const [fleet, editor, reader] = [
      await opened('/ui/'),
      await opened('/ui/configurations/waiting'),
      await opened('/ui/'),
    ];
    const description = editor.getByRole('textbox', { name: 'Description' });
    await description.fill('not saved yet');
    const letGo = await killAndHold(stack, 'api');
    try {
      const since = Date.now();
      await add('while-api');
      // The files of this page were never loaded.
      await reader.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit' }).click();
      await reader.getByRole('heading', { level: 1, name: 'This page is not loaded' }).waitFor();
      await stale(list, since);
    } finally {
      letGo();
    }
    await untilAnswered();
    const back = Date.now();
    const within = () => ({ timeout: Math.max(1, back + TRUE_WITHIN_MS - Date.now()) });
    await list.getByRole('link', { name: 'while-api', exact: true }).waitFor(within());
    await fleet.bringToFront();
    await fleet.getByText('2 components, read at').waitFor(within());
    await live(list, within().timeout);
    await reader.bringToFront();
    await reader.getByRole('heading', { level: 1, name: 'Audit' }).waitFor(within());
    expect(await Promise.all([list, fleet, editor].map(isKept))).toEqual([true, true, true]);
    expect(await description.inputValue()).toBe('not saved yet');
    expect(await list.getByRole('alert').count()).toBe(0);
    forgiven();
  }, 120_000);

  test('while Postgres is killed are stale within 16 s, and true within 10 s of its return', async () => {
    const list = await opened('/ui/components', seen.page);
    const other = await opened('/ui/');
    const letGo = await killAndHold(stack, 'postgres');
    try {
      const since = Date.now();
      await other.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Configurations' }).click();
      await other.getByRole('heading', { level: 1, name: 'Configurations' }).waitFor();
      await stale(list, since);
      await other.getByRole('main').getByRole('alert').first().waitFor();
    } finally {
      letGo();
    }
    await eventually('Postgres answers', () => add('after-postgres').then(Boolean, () => false), 90_000);
    await untilAnswered();
    const back = Date.now();
    const within = () => ({ timeout: Math.max(1, back + TRUE_WITHIN_MS - Date.now()) });
    await list.getByRole('link', { name: 'after-postgres', exact: true }).waitFor(within());
    await live(list, within().timeout);
    await other.bringToFront();
    await other.getByRole('rowheader', { name: 'waiting' }).waitFor(within());
    expect(await Promise.all([list, other].map(isKept))).toEqual([true, true]);
    forgiven();
  }, 150_000);

  test('while the worker and Temporal are killed stay live, and show how sessions go on', async () => {
    await stack.create('held', 'waiting', { ansible_limit: 'n1' });
    const page = await opened('/ui/sessions/held', seen.page);
    await page
      .getByRole('region', { name: 'Steps' })
      .getByText(/layer 1\/1 wait\.yml: now/)
      .waitFor();
    await stack.kill('worker');
    await writeFile(gate, '');
    await page.getByText('The session has ended').waitFor();
    expect(await connection(page).textContent()).toBe('Live');

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
    await stack.kill('temporal');
    await stack.create('behind', 'waiting', { ansible_limit: 'n1' });
    const row = page.getByRole('table', { name: 'Sessions' }).getByRole('row').filter({ hasText: 'behind' });
    await row.waitFor({ timeout: TRUE_WITHIN_MS });
    await row.getByText('complete').first().waitFor();
    expect(await isKept(page)).toBe(true);
    forgiven();
  }, 240_000);
});
