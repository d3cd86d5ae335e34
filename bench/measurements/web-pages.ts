/** The web UI on a fleet of 100,000 components: a real Chromium without a screen, and what its pages ask. */
import type { Page } from 'playwright-core';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { expectOk, fleetId } from '../component-fleet.ts';
import type { Measurement } from '../measurement.ts';
import { withPage } from '../web-browser.ts';
import { heldBelow, tries, withFleet } from './components-fleet.ts';

const ROUNDS = 5;
const PAGES = ['Components', 'Sessions', 'Configurations', 'Batches', 'Fleet'];

/** Opens the fleet page and waits for its grid, which is drawn a frame after its table. */
async function openFleet(page: Page): Promise<void> {
  await page.goto('/ui/');
  await page.getByRole('table', { name: 'Groups' }).getByRole('row').filter({ hasText: 'all' }).waitFor();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** From an empty browser to the drawn fleet page. */
export function measureWebLoad(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async () => {
    const samples = await tries(ROUNDS, () =>
      withPage(stack.url, async (page) => {
        const began = performance.now();
        await openFleet(page);
        return performance.now() - began;
      }),
    );
    return heldBelow('cold load to the drawn fleet page, 100,000 components', 'p50 < 2.5 s', samples, 0.5, 2_500);
  });
}

/** From a click in the navigation to a page that can be used; each page was seen once before. */
export function measureWebRoutes(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, () =>
    withPage(stack.url, async (page) => {
      await openFleet(page);
      const change = async (name = '') => {
        const began = performance.now();
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await page.locator('main:not([aria-busy])').waitFor();
        return performance.now() - began;
      };
      for (const name of PAGES) await change(name);
      const samples = await tries(ROUNDS * PAGES.length, (index) => change(PAGES[index % PAGES.length]));
      return heldBelow('change of page, 100,000 components', 'p95 < 300 ms', samples, 0.95, 300);
    }),
  );
}

/** From the answer of a change to the open page of its component. */
export function measureWebNews(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, (client) =>
    withPage(stack.url, async (page) => {
      const id = fleetId(7);
      await page.goto(`/ui/components/${id}`);
      await page.getByRole('status', { name: 'Connection' }).getByText('Live').waitFor();
      const disabled = page.locator('p.reason .status.disabled');
      const samples = await tries(20, async (index) => {
        const enabled = index % 2 === 1;
        expectOk(await client.send('PATCH', `/v3/components/${id}`, { enabled }));
        const began = performance.now();
        await disabled.waitFor({ state: enabled ? 'detached' : 'attached' });
        return performance.now() - began;
      });
      return heldBelow('change of a component to its open page', 'p95 < 1 s', samples, 0.95, 1_000);
    }),
  );
}

const reads =
  (what: string, path: string, limit: number) =>
  (stack: MusterStack): Promise<Measurement> =>
    withFleet(stack, async (client) => {
      const samples = await tries(20, async () => {
        // Answers are shared for a second and more.
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        const reply = await client.send('GET', path);
        expectOk(reply);
        return reply.ms;
      });
      return heldBelow(what, `p95 < ${limit} ms`, samples, 0.95, limit);
    });

/** What *Select all that match* asks. */
export function measureWebSelection(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(ROUNDS, async () => {
      const reply = await client.send('POST', '/api/v1/components/selections', { filter: {} });
      expectOk(reply);
      return reply.ms;
    });
    return heldBelow('selection of 100,000 components', 'p95 < 1 s', samples, 0.95, 1_000);
  });
}

export const measureWebCounts = reads('GET /fleet of 100,000 components', '/api/v1/fleet', 150);
export const measureWebGrid = reads('GET /fleet/grid of 100,000 components', '/api/v1/fleet/grid', 700);
export const measureWebFilter = reads(
  'filter of 100,000 components by a part of the id, counted',
  '/api/v1/components?text=c5s13&limit=500&count=true',
  500,
);
