/** A real Chromium without a screen, for measurements of the web UI. */
import { chromium, type Page } from 'playwright-core';

/** Does the work in a browser that was never used; its page begins at `origin`. */
export async function withPage<T>(origin: string, work: (page: Page) => Promise<T>): Promise<T> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'];
  // Sizes of the heap are told to a byte only so.
  args.push('--enable-precise-memory-info');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', headless: true, args });
  try {
    return await work(await browser.newPage({ baseURL: origin }));
  } finally {
    await browser.close();
  }
}
