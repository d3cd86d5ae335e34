/** Pages behind proxies, on a slow line, beside a busy writer, and of a build that is not the server's any more. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, Page, Route } from 'playwright-core';
import { createToken } from '../../control/access/create-token.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { bar, browserMissing, openPage, startBrowser, tracedTest, type WatchedPage } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { startPathProxy } from '../support/path-proxy.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startSlowProxy } from '../support/slow-proxy.ts';
import { startApiProcess } from '../support/stack/api-process.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

/** Run in the page: keeps what the header says of the connection. */
const KEEP_WORDS = `(() => {
  const status = document.querySelector('[aria-label="Connection"]');
  window.words = [];
  new MutationObserver(() => window.words.push(status.textContent))
    .observe(status, { childList: true, characterData: true, subtree: true });
})()`;

describeNeeding(browserMissing() ?? stackMissing(), 'a page', () => {
  let stack: MusterStack;
  let browser: Browser;
  let seen: WatchedPage;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startMusterStack({}, 'shared', 'built'), startBrowser()]);
  }, 480_000);
  afterAll(async () => {
    await browser?.close();
    await stack?.remove();
  });
  beforeEach(async () => {
    seen = await openPage(browser, stack.url);
  });
  afterEach(() => seen.context.close());
  const test = tracedTest(() => seen);
  const live = (page: Page) => page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
  const layer = { clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) };
  const put = async (name: string) =>
    expect((await stack.call('PUT', `/v3/configurations/${name}`, { layers: [layer] })).status).toBe(200);

  test('on a line of 64 KB/s follows a writer of 100 components a second, and holds up no other', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `w${index + 1}`);
    const made = ids.map((id) => ({ id, enabled: false }));
    expect((await stack.call('PUT', '/v3/components', made)).status).toBe(200);
    const proxy = await startSlowProxy(stack.url, 64_000);
    const slow = await openPage(browser, proxy.url);
    try {
      const pages = [seen.page, slow.page];
      for (const page of pages) {
        await page.goto('/ui/components');
        await page.getByText('200 components').waitFor();
        await live(page);
        await page.evaluate(KEEP_WORDS);
      }
      let reads = 0;
      seen.page.on('request', (request) => {
        if (request.url().includes('/api/v1/components?')) reads += 1;
      });
      const began = Date.now();
      for (let turn = 0; turn < 50; turn += 1) {
        const due = new Promise((resolve) => setTimeout(resolve, 100));
        const some = ids.slice((turn % 20) * 10, (turn % 20) * 10 + 10);
        const changed = some.map((id) => ({ id, desired_config: `want-${turn}` }));
        expect((await stack.call('PATCH', '/v3/components', changed)).status).toBe(200);
        await due;
      }
      const last = [{ id: 'w1', desired_config: 'the-last' }];
      expect((await stack.call('PATCH', '/v3/components', last)).status).toBe(200);
      await Promise.all(
        pages.map((page) =>
          page
            .getByRole('row')
            .filter({ has: page.getByRole('rowheader', { name: 'w1', exact: true }) })
            .getByText('the-last', { exact: true })
            .waitFor({ timeout: bar(page === slow.page ? 10_000 : 5_000) }),
        ),
      );
      // What changed is told four times a second at most, whatever changes.
      expect(reads).toBeGreaterThan(1);
      expect(reads).toBeLessThan(((Date.now() - began) / 1_000) * 4 + 4);
      for (const page of pages) expect(await page.evaluate<string[]>('window.words')).not.toContain('Stale');
      expect(slow.faults).toEqual([]);
    } finally {
      await slow.context.close();
      await proxy.close();
    }
  }, 90_000);

  test('below a prefix of a proxy stays below it: pages, stream, sign-in and its cookie', async () => {
    const proxy = await startPathProxy('/fleet');
    const databaseUrl = await stack.databaseUrl();
    const db = openDatabase({ url: databaseUrl, poolSize: 1, name: 'test' });
    const api = await startApiProcess(databaseUrl, {
      MUSTER_DATA_DIR: stack.dataDir,
      MUSTER_AUTH: 'token',
      MUSTER_PUBLIC_URL: `${proxy.url}/`,
    });
    proxy.serve(api.base);
    await seen.context.close();
    seen = await openPage(browser, new URL(proxy.url).origin);
    try {
      const { page, context } = seen;
      const { token } = await createToken(
        { db, clock: () => new Date() },
        { actor: null },
        { role: 'admin', name: 'behind-proxy' },
      );
      await page.goto('/fleet/');
      await page.waitForURL(`${proxy.url}/ui/`);
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
      await live(page);
      expect((await context.cookies()).map(({ path }) => path)).toEqual(['/fleet/']);
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Components' }).click();
      await page.waitForURL(`${proxy.url}/ui/components`);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Components' }).waitFor();
      await live(page);
      const download = page.getByRole('link', { name: 'Download as CSV' });
      expect(await download.getAttribute('href')).toContain(`${proxy.url}/api/v1/components`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      expect(proxy.strays).toEqual([]);
    } finally {
      await seen.context.close();
      await api.stop();
      await db.destroy();
      await proxy.close();
    }
  }, 90_000);

  test('that a proxy answers in place of the API says so, and is read by itself when the API is back', async () => {
    const { page } = seen;
    const away = { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' };
    await page.route('**/api/v1/sessions?**', (route) => route.fulfill(away));
    await page.goto('/ui/sessions');
    await page.getByRole('main').getByRole('alert').getByText('The API answered 502').waitFor();
    await page.unroute('**/api/v1/sessions?**');
    await page.getByText('There are no sessions yet.').waitFor({ timeout: bar(10_000) });
    expect(await page.getByRole('alert').count()).toBe(0);
    // The browser's own words about the answers.
    seen.faults = seen.faults.filter((fault) => !fault.includes('status of 502'));
  }, 60_000);

  test('of an older build keeps an edit, says that Muster was updated, and is not left blank by files that are gone', async () => {
    await put('edited');
    const { page } = seen;
    await page.clock.install();
    await page.goto('/ui/configurations/edited');
    await live(page);
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('not saved yet');
    let answers = 0;
    const newer = async (route: Route) => {
      const response = await route.fetch();
      answers += 1;
      await route.fulfill({ response, headers: { ...response.headers(), 'muster-version': '999.0.0' } });
    };
    await page.route('**/v3/**', newer);
    await page.route(/\/api\/v1\/(?!stream)/, newer);
    const banner = page.getByRole('alert').filter({ hasText: 'Muster was updated' });
    await put('another');
    await eventually('the page has heard the newer server', () => answers > 0);
    expect(await banner.count()).toBe(0);
    await page.clock.fastForward(61_000);
    await banner.waitFor();
    expect(await description.inputValue()).toBe('not saved yet');

    await page.route('**/ui/assets/audit-page*', (route) => route.fulfill({ status: 404, body: '' }));
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { level: 1, name: 'This page is not loaded' }).waitFor();
    await page.getByText('Muster was updated, and the files of this page are gone.').waitFor();
    await page.unroute('**/ui/assets/audit-page*');
    await banner.getByRole('button', { name: 'reload' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor();
    // The page may read at any moment, and what is handed on ends with the page.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }, 60_000);
});
