/** Operators, propagation and deployments in a browser: a real stack; what clusters would have told is on record. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { type Db, openDatabase } from '../../store/connection/database.ts';
import { makeDeployment } from '../deployments/placement-fixtures.ts';
import { addOperator, addWidget, begin, end } from '../operator/hands/fixtures.ts';
import { accessibilityFaults, closeWithResult } from '../support/browser.ts';
import { describeInBrowser } from '../support/in-browser.ts';
import { cli } from '../support/stack/command-line.ts';

/** Markup, and a character that turns what stands behind it. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';
const SHOWN = '<img src=x onerror=alert(1)>\\u202e';

describeInBrowser('pages of the later lanes', { settings: { MUSTER_DEPLOY_ALLOW_LOOPBACK: 'true' } }, (on) => {
  let db: Db;

  beforeAll(async () => {
    db = openDatabase({ url: await on.stack.databaseUrl(), name: 'test' });
  }, 480_000);
  on.beforeClose(async () => {
    await db?.destroy();
  });
  const { test, opened } = on;

  const table = (page: Page, name: string): Locator => page.getByRole('table', { name, exact: true });
  const region = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true });
  /** Opens the dialog of a button, sees its effect, confirms it, and sees the result. */
  async function act(page: Page, name: string, record: string): Promise<void> {
    await page.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name });
    const effect = dialog.getByRole('group', { name: 'Effect' });
    await effect.filter({ hasText: 'There is no dry run of this.' }).waitFor();
    expect(await effect.textContent()).toContain(`1 would change: ${record}. There is no dry run of this.`);
    await dialog.getByLabel('Reason').fill('a test');
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await closeWithResult(page, dialog);
  }

  describe('the operator', () => {
    const operator = 'pages';

    test('says what is watched, what each resource does, why, and what ran', async () => {
      const now = new Date();
      await addOperator(db, now, operator);
      const quiet = await addWidget(db, 'quiet', now, { operator, cause: null });
      const failing = await addWidget(db, 'failing', now, { operator });
      await end(db, await begin(db, failing, now), 'failed', new Date(), [HOSTILE]);

      const page = await opened('operator?operator=pages', 'Operator');
      await table(page, 'Operators').getByRole('rowheader', { name: operator }).waitFor();
      await table(page, 'Watches').getByRole('rowheader', { name: 'demo.io/v1 Widget' }).waitFor();
      await table(page, 'Operator').getByRole('rowheader', { name: 'Widget ns/quiet' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('combobox', { name: 'Status' }).selectOption('backing_off');
      await page.waitForURL(/phase=backing_off/);
      await table(page, 'Operator').getByRole('rowheader', { name: 'Widget ns/quiet' }).waitFor({ state: 'detached' });

      await table(page, 'Operator').getByRole('link', { name: 'Widget ns/failing' }).click();
      await page.waitForURL(`**/ui/operator/${failing}`);
      await page.getByRole('heading', { level: 1, name: 'Resource Widget ns/failing' }).waitFor();
      await region(page, 'Why').getByText('1 reconcile in a row failed').waitFor();
      await table(page, 'Reconciles').getByText(SHOWN).waitFor();
      await table(page, 'Reconciles').getByRole('rowheader').getByRole('link').first().click();
      await page.waitForURL(/shown=/);
      const reconcile = region(page, 'Reconcile');
      await reconcile.getByRole('list', { name: 'Messages' }).getByText(SHOWN).waitFor();
      await reconcile.getByText('There is no output').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);

      await page.goto(`/ui/operator/${quiet}`);
      await region(page, 'Why').getByText('Nothing is due').waitFor();
      expect(await page.getByRole('button', { name: 'Cancel', exact: true }).isDisabled()).toBe(true);
      await act(page, 'Pause', 'Widget ns/quiet');
      await region(page, 'Why').getByText('It is paused until a user resumes it').waitFor();
      expect(await page.getByRole('button', { name: 'Reconcile', exact: true }).isDisabled()).toBe(true);
      await act(page, 'Resume', 'Widget ns/quiet');
      await act(page, 'Reconcile', 'Widget ns/quiet');
      await region(page, 'Why').getByText('It is due').waitFor();
    }, 90_000);

    test('is empty with a filter, drops what it does not know, fails alone, and says what is gone', async () => {
      const page = await opened('operator?name=none&phase=walking', 'Operator');
      expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('phase is left out');
      await page.getByText('No custom resource matches the filter.').waitFor();
      await page.getByRole('link', { name: 'All custom resources' }).click();
      await page.waitForURL('**/ui/operator');

      const broken = { status: 503, contentType: 'application/problem+json', body: '{"title":"Away","code":"away"}' };
      await page.route('**/operator/watches*', (route) => route.fulfill(broken));
      await page.reload();
      await region(page, 'Watches').getByRole('alert').getByText('Away').first().waitFor();
      await region(page, 'Operators').getByRole('alert').waitFor({ state: 'detached' });
      await page.unroute('**/operator/watches*');
      await region(page, 'Watches').getByRole('button', { name: 'Retry' }).click();
      await region(page, 'Watches').getByRole('alert').waitFor({ state: 'detached' });
      // The browser's own words about the answers of this test.
      on.seen.faults = on.seen.faults.filter((fault) => !fault.includes('Failed to load resource'));

      await page.goto('/ui/operator/00000000-0000-4000-8000-000000000000');
      await page.getByText('There is no resource with the id').waitFor();
    }, 90_000);

    test('is used by keyboard alone', async () => {
      await addOperator(db, new Date(), 'keys');
      const ids = [];
      for (const name of ['one', 'two'])
        ids.push(await addWidget(db, name, new Date(), { operator: 'keys', cause: null }));
      const page = await opened('operator?operator=keys', 'Operator');
      await table(page, 'Operator').getByRole('rowheader').nth(1).waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('two');
      await page.keyboard.press('Enter');
      await page.waitForURL(/name=two/);
      await table(page, 'Operator').getByRole('rowheader', { name: 'Widget ns/one' }).waitFor({ state: 'detached' });
      await page.locator('h1').click();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/ui/operator/${ids[1]}`);
      await page.getByRole('button', { name: 'Pause', exact: true }).focus();
      await page.keyboard.press('Space');
      const dialog = page.getByRole('dialog', { name: 'Pause' });
      await dialog.getByText('1 would change').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }, 60_000);
  });

  describe('propagation', () => {
    const run = async (...args: string[]): Promise<string> => {
      const { exit, out, err } = await cli(args, { url: on.stack.url });
      expect([args, exit, err]).toEqual([args, 0, err]);
      return out;
    };
    /** A loop of a cluster and its two members, and an action behind it; nothing executes anything. */
    async function model(prefix: string): Promise<string> {
      const folder = join(on.stack.dataDir, `definitions-${prefix}`);
      const definitions = {
        cluster: 'handler: none\ninput: { members: { schema: [str] } }\n',
        member:
          'handler: none\nactions: { cluster_create: {} }\ninput: { name: { schema: str! }, members: { schema: [str] } }\n',
      };
      for (const [name, text] of Object.entries(definitions)) {
        await mkdir(join(folder, name), { recursive: true });
        await writeFile(join(folder, name, 'meta.yaml'), text);
      }
      await run('repository', 'add', prefix, folder);
      await run('resource', 'create', `${prefix}.cluster`, `${prefix}/cluster`);
      for (const number of [1, 2]) {
        await run('resource', 'create', `${prefix}.${number}`, `${prefix}/member`, `name=${prefix}${number}`);
        await run('connection', 'add', `${prefix}.${number}`, `${prefix}.cluster`, 'name->members');
        await run('connection', 'add', `${prefix}.cluster`, `${prefix}.${number}`, 'members');
      }
      await run('event', 'add', `on ${prefix}.cluster.* changed ${prefix}.1.cluster_create`);
      return (await run('change', 'process', '--name', prefix)).trim();
    }

    test('shows a plan as a graph and as a table, says why a node is in it, and runs it', async () => {
      const id = await model('rmq');
      const page = await opened('propagation?state=built', 'Propagation');
      await table(page, 'Staged changes').getByRole('rowheader', { name: 'rmq.1.run' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await table(page, 'Propagation')
        .getByRole('link', { name: `rmq ${id.slice(0, 8)}` })
        .click();
      await page.waitForURL(`**/ui/propagation/${id}`);
      await page.getByRole('heading', { level: 1, name: `Plan ${id}` }).waitFor();
      const graph = page.getByRole('figure', { name: 'Graph' });
      await graph.getByRole('link', { name: 'rmq.cluster.run#1 pending, loop 1', exact: true }).waitFor();
      const nodes = table(page, 'Nodes').getByRole('row');
      expect(await nodes.count()).toBe(6);
      expect(await nodes.filter({ hasText: 'rmq.cluster.run#1' }).allInnerTexts()).toEqual([
        expect.stringMatching(/pending.*2\t1\trepeat/),
      ]);
      expect(await accessibilityFaults(page)).toEqual([]);

      expect(await page.getByRole('button', { name: 'Retry', exact: true }).isDisabled()).toBe(true);
      await act(page, 'Run', `rmq ${id}`);
      await region(page, 'Why').getByText('succeeded').waitFor();
      await graph.getByRole('link', { name: 'rmq.1.cluster_create success' }).click();
      await page.waitForURL(/shown=rmq\.1\.cluster_create/);
      const node = region(page, 'Node rmq.1.cluster_create');
      await node.getByText('An event asks for it').waitFor();
      await node.getByRole('list', { name: 'Events into it' }).getByText('which lets it run').first().waitFor();
      await node.getByRole('region', { name: 'Graph near it' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }, 120_000);

    test('has an address for what it shows, and says what is empty, dropped and gone', async () => {
      const page = await opened('propagation?prefix=00000000&state=walking', 'Propagation');
      expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain('state is left out');
      await page.getByText('No plan matches the filter.').waitFor();
      await page.goto('/ui/propagation/00000000-0000-4000-8000-000000000000');
      await page.getByText('There is no plan 00000000').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }, 60_000);

    test('is used by keyboard alone: a node of the graph is opened', async () => {
      const id = await model('keys');
      const page = await opened(`propagation/${id}`, `Plan ${id}`);
      await page.getByRole('figure', { name: 'Graph' }).getByRole('link', { name: 'keys.1.run pending' }).focus();
      await page.keyboard.press('Enter');
      await region(page, 'Node keys.1.run').getByText('A user changed it').waitFor();
      await page.goBack();
      await region(page, 'Node keys.1.run').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Abandon', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Abandon' }).getByRole('button', { name: 'Confirm' }).focus();
      await page.keyboard.press('Enter');
      await region(page, 'Why').getByText('It was given up for good').waitFor();
    }, 90_000);
  });

  describe('deployments', () => {
    const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const isForm = typeof body === 'string' || body instanceof Uint8Array;
      if (!isForm) return on.stack.call(method, path, body, headers);
      const { status } = await fetch(on.stack.url + path, { method, headers, body: body as string });
      return { status, body: null };
    };

    test('lead from the project to the resource, and say why it is not where it should be', async () => {
      await makeDeployment(send, 'shop');
      const name = 'shop+telemetry+v1+edge';
      const page = await opened('deployments', 'Deployments');
      await table(page, 'Clusters').getByRole('rowheader', { name: 'lab-shop+north' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      // Without its project: a deployment is found by its name, and what its state allows is asked of it there.
      const listed = table(page, 'Deployments').getByRole('row').filter({ hasText: name });
      await listed.getByText('It goes nowhere until it is approved').waitFor();
      expect(await listed.getByRole('button', { name: 'Approve', exact: true }).isEnabled()).toBe(true);
      expect(await listed.getByRole('button', { name: 'Instantiate', exact: true }).isDisabled()).toBe(true);
      await table(page, 'Projects').getByRole('link', { name: 'shop' }).click();
      await page.waitForURL('**/ui/deployments?project=shop');
      await table(page, 'Deployments').getByRole('link', { name: 'telemetry' }).click();
      await table(page, 'Deployments').getByRole('link', { name: 'edge' }).click();
      await page.waitForURL(`**/ui/deployments/${encodeURIComponent(name)}`);
      await page.getByRole('heading', { level: 1, name: `Deployment ${name}` }).waitFor();
      await region(page, 'Why').getByText('until it is approved').waitFor();
      expect(await page.getByRole('button', { name: 'Instantiate', exact: true }).isDisabled()).toBe(true);
      await act(page, 'Approve', name);
      await act(page, 'Instantiate', name);
      await region(page, 'Why').getByText('AppContext Instantiating').waitFor();

      await region(page, 'Tree').getByRole('link', { name: 'lab-shop+north' }).click();
      await page.waitForURL(/app=agent/);
      const resource = table(page, 'Resources').getByRole('row').filter({ hasText: 'ConfigMap' });
      await resource
        .getByText(/Pending|Retrying/)
        .first()
        .waitFor();
      await page.reload();
      await resource.waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await table(page, 'History').getByRole('rowheader', { name: 'Instantiated' }).waitFor();
      await act(page, 'Stop', name);
      await region(page, 'Why').getByText('It was stopped').waitFor();

      await page.goto('/ui/deployments');
      await listed.getByText('It was stopped').waitFor();
      await listed.getByRole('button', { name: 'Terminate', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Terminate' });
      const effect = dialog.getByRole('group', { name: 'Effect' });
      await effect.filter({ hasText: 'Resources now:' }).waitFor();
      expect(await effect.textContent()).toMatch(
        /1 would change: shop\+telemetry\+v1\+edge\..* Apps: agent\. Resources now: /,
      );
      expect(await accessibilityFaults(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog.getByRole('status', { name: 'Result' }).waitFor();
      await page.keyboard.press('Escape');
      await listed.getByText('Terminated, ').waitFor();
    }, 120_000);

    test('say what is gone, what is no deployment, and drop what stands alone in the address', async () => {
      const page = await opened('deployments/none+of+these+here', 'Deployment none+of+these+here');
      await page.getByText('There is no deployment none+of+these+here').waitFor();
      await page.goto('/ui/deployments/one+two');
      await page.getByText('A deployment is named by').waitFor();
      await page.goto(`/ui/deployments/${encodeURIComponent(`${HOSTILE}+a+v1+b`)}`);
      await page.getByRole('heading', { level: 1, name: SHOWN }).waitFor();
      await page.getByText('There is no deployment').waitFor();
      await page.goto('/ui/deployments?version=v1');
      await page.getByRole('heading', { level: 1, name: 'Deployments' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    }, 60_000);

    test('are used by keyboard alone', async () => {
      await makeDeployment(send, 'keyed');
      const page = await opened('deployments?project=keyed', 'Deployments');
      await table(page, 'Deployments').getByRole('link', { name: 'telemetry' }).waitFor();
      for (const [heading, key] of [
        ['Deployments', 'telemetry'],
        ['Deployments', 'edge'],
      ]) {
        await page.getByRole('heading', { level: 1, name: heading as string }).click();
        await table(page, 'Deployments')
          .getByRole('link', { name: key as string })
          .waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
      }
      await page.getByRole('heading', { level: 1, name: 'Deployment keyed+telemetry+v1+edge' }).waitFor();
      await page.getByRole('button', { name: 'Approve', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Approve' }).getByText('1 would change').waitFor();
    }, 60_000);
  });
});
