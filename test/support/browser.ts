/** A real browser for the tests of the web UI, which takes note of everything that must not happen. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

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
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args });
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
