/** What all tests of the web UI share: a real stack and a browser of their own, and for each test a page that is watched. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { browserMissing, openPage, startBrowser, tracedTest, type WatchedPage } from './browser.ts';
import { describeNeeding } from './requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from './stack/muster-stack.ts';

const START_MS = 480_000;

interface InBrowser {
  /** There from the first `beforeAll` on. */
  readonly stack: MusterStack;
  readonly browser: Browser;
  /** Another one for each test; a test that replaces it closes the one before. */
  seen: WatchedPage;
  /** Declares a test of the page: it fails too when the page has a fault. */
  readonly test: ReturnType<typeof tracedTest>;
  /** Runs `work` when all tests have run, while the stack is still there. */
  beforeClose(work: () => Promise<unknown>): void;
  /** Waits until a page says that it is live. */
  live(page?: Page): Promise<void>;
  /** Opens a page of the UI and waits until it can be used, and is live. */
  opened(path: string, heading: string): Promise<Page>;
}

interface StackWanted {
  settings?: Record<string, string>;
  servers?: 'own' | 'shared';
  /** What else of the machine is missing; null: nothing. */
  missing?: string | null;
}

/** Declares tests against a stack in a browser. Without either they are skipped, or fail where nothing may be missing. */
export function describeInBrowser(title: string, wanted: StackWanted, body: (on: InBrowser) => void): void {
  const { settings = {}, servers = 'shared', missing = null } = wanted;
  describeNeeding(browserMissing() ?? stackMissing() ?? missing, title, () => {
    const given: { stack?: MusterStack; browser?: Browser; seen?: WatchedPage } = {};
    const last: (() => Promise<unknown>)[] = [];
    const there = <T>(one: T | undefined): T => {
      if (one === undefined) throw new Error('it is there from the first beforeAll on');
      return one;
    };
    const on: InBrowser = {
      get stack() {
        return there(given.stack);
      },
      get browser() {
        return there(given.browser);
      },
      get seen() {
        return there(given.seen);
      },
      set seen(page) {
        given.seen = page;
      },
      test: tracedTest(() => there(given.seen)),
      beforeClose: (work) => void last.push(work),
      live: (page = on.seen.page) => page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor(),
      opened: async (path, heading) => {
        const { page } = on.seen;
        await page.goto(`/ui/${path}`);
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
        await page.locator('main:not([aria-busy])').waitFor();
        await on.live();
        return page;
      },
    };
    beforeAll(async () => {
      const stack = startMusterStack(settings, servers, 'built').then((made) => {
        given.stack = made;
      });
      const browser = startBrowser().then((made) => {
        given.browser = made;
      });
      await Promise.all([stack, browser]);
    }, START_MS);
    afterAll(async () => {
      if (given.stack !== undefined) for (const work of last) await work();
      await given.browser?.close();
      await given.stack?.remove();
    });
    beforeEach(async () => {
      given.seen = await openPage(on.browser, on.stack.url);
    });
    afterEach(() => given.seen?.context.close());
    body(on);
  });
}
