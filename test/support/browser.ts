/** A real browser for the tests of the web UI, which takes note of everything that must not happen. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Only against what hangs: of a wait for the page, and of a test, ms. */
const WAIT_MS = 120_000;
const TEST_MS = 480_000;

/**
 * Returns what a bar of a page (ms) is here. Bars hold on a machine that has nothing else to do; where all suites run side by side, everything
 * takes many times longer.
 */
export const bar = (ms: number): number => (process.env.CI === 'true' ? 10 * ms : ms);

/** Run in the page, before anything of it. */
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.sample))`;

/** Run in the page: what axe finds, as texts. */
const FIND_VIOLATIONS = `axe
  .run(document, { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] } })
  .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** Why there is no browser here; null when there is one. */
export function browserMissing(): string | null {
  return existsSync(CHROMIUM) ? null : 'chromium is missing (package: chromium)';
}

/** Starts it without a screen. */
export async function startBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'];
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args, timeout: WAIT_MS });
}

export interface WatchedPage {
  page: Page;
  context: BrowserContext;
  /** Errors of the console, violations of the policy, and requests to other origins. */
  faults: string[];
}

/** Opens a page with a profile of its own. */
export async function openPage(browser: Browser, origin: string): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: origin });
  context.setDefaultTimeout(WAIT_MS);
  await context.tracing.start({ snapshots: true, screenshots: true });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // Chromium's own line about an answer of 4xx.
    const isOfAnswer = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
    if (message.type() === 'error' && !isOfAnswer) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== origin) faults.push(`request to ${url.origin}`);
  });
  await page.addInitScript(REPORT_VIOLATIONS);
  return { page, context, faults };
}

/** Returns what axe finds against WCAG 2.2 AA, in both themes. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe.source);
    const results = await page.evaluate<string[]>(FIND_VIOLATIONS);
    found.push(...results.map((text) => `${colorScheme}: ${text}`));
  }
  return found;
}

/** Pictures that the documents show: `npm run pictures` makes them anew. */
const PICTURES = join(import.meta.dirname, '..', '..', 'docs', 'images');

/** Waits until a confirmed dialog shows its result, or has gone with what it was about; closes it. */
export async function closeWithResult(page: Page, dialog: Locator): Promise<void> {
  const gone = dialog.waitFor({ state: 'detached' });
  await Promise.race([dialog.getByRole('status', { name: 'Result' }).waitFor(), gone]);
  await page.keyboard.press('Escape');
  await gone;
}

/** Keeps what is seen of the page for the documents, where this run makes their pictures. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (process.env.MUSTER_TEST_PICTURES !== '1') return;
  await mkdir(PICTURES, { recursive: true });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), scale: 'css' });
}

/** Where the trace of a test that failed is kept: `npx playwright-core show-trace FILE` shows it. */
const TRACES = join(import.meta.dirname, '..', '..', '.muster', 'traces');

/** Returns what declares a test whose page leaves a trace when it fails, also when only its faults do. */
export function tracedTest(seen: () => WatchedPage) {
  return (name: string, body: () => Promise<void>, withinMs = TEST_MS): void =>
    test(
      name,
      async () => {
        try {
          await body();
          const { faults } = seen();
          if (faults.length > 0) throw new Error(faults.join('\n'));
        } catch (error) {
          await mkdir(TRACES, { recursive: true });
          const path = join(TRACES, `${name.replace(/[^a-z0-9]+/gi, '-').slice(0, 80)}.zip`);
          const kept = await seen()
            .context.tracing.stop({ path })
            .then(
              () => `trace: ${path}`,
              (failure: Error) => `no trace: ${failure.message}`,
            );
          throw new Error(`${error instanceof Error ? error.message : error}\n${kept}`, { cause: error });
        }
      },
      Math.max(withinMs, TEST_MS),
    );
}
