/** Configurations, rollouts and drift in a browser: a real stack, real repositories. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  accessibilityFaults,
  browserMissing,
  openPage,
  startBrowser,
  tracedTest,
  type WatchedPage,
} from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import type { TestRepository } from '../support/git/git-repository.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const PLAYBOOK = `- hosts: all
  gather_facts: false
  tasks:
    - name: Say it
      ansible.builtin.debug:
        msg: said
`;
/** Markup, and a character that turns what stands behind it. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202e';

describeNeeding(browserMissing() ?? stackMissing(), 'configurations in the web UI', () => {
  let stack: MusterStack;
  let browser: Browser;
  let seen: WatchedPage;
  let repository: TestRepository;
  let first: string;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startMusterStack({}, 'shared', 'built'), startBrowser()]);
    repository = await stack.repository('site');
    first = await repository.commit({ 'site.yml': PLAYBOOK, 'other.yml': PLAYBOOK });
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
  const layer = (more: object = {}) => ({ clone_url: repository.url, playbook: 'site.yml', branch: 'main', ...more });
  async function put(name: string, more: object = {}): Promise<void> {
    const answer = await stack.call('PUT', `/v3/configurations/${name}`, { layers: [layer()], ...more });
    expect(answer.status).toBe(200);
  }
  const stored = async (name: string) => (await stack.call('GET', `/v3/configurations/${name}`)).body;
  /** Components that want a configuration, and are never configured by themselves. */
  async function wanting(name: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
    const tags = { ansible_connection: 'local' };
    const components = ids.map((id) => ({ id, desired_config: name, enabled: false, tags }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
    return ids;
  }
  async function opened(name: string): Promise<Page> {
    const { page } = seen;
    await page.goto(`/ui/configurations/${encodeURIComponent(name)}`);
    await page.getByRole('heading', { level: 1, name: `Configuration ${name}` }).waitFor();
    await live(page);
    return page;
  }
  const field = (page: Page, group: string, name: string): Locator =>
    page.getByRole('group', { name: group, exact: true }).getByRole('textbox', { name, exact: true });
  /** Opens the dialog of a button, and waits for its effect. */
  async function dialogOf(page: Page, name: string): Promise<Locator> {
    await page.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name });
    await dialog
      .getByRole('group', { name: 'Effect' })
      .getByText(/[0-9]+ would/)
      .waitFor();
    return dialog;
  }
  async function confirm(dialog: Locator): Promise<void> {
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('status', { name: 'Result' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
  }

  test('a new one is written with its commits and its effect shown, and is in the list', async () => {
    const { page } = seen;
    await page.goto('/ui/');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Configurations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Configurations' }).waitFor();
    await live(page);
    await page.getByRole('button', { name: 'New configuration' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('made-here');
    await field(page, 'Layer 1', 'Clone URL').fill(repository.url);
    await field(page, 'Layer 1', 'Playbook').fill('site.yml');
    await field(page, 'Layer 1', 'Branch').fill('main');
    await page.getByRole('button', { name: 'Add layer' }).click();
    await field(page, 'Layer 2', 'Clone URL').fill(repository.url);
    await field(page, 'Layer 2', 'Playbook').fill('other.yml');
    await field(page, 'Layer 2', 'Commit').fill(first);
    expect(await accessibilityFaults(page)).toEqual([]);
    const dialog = await dialogOf(page, 'Save');
    await dialog.getByRole('list', { name: 'Commits' }).getByText(first).waitFor();
    expect(await dialog.getByRole('group', { name: 'Effect' }).textContent()).toContain('1 would be made: made-here');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill('a first try');
    await confirm(dialog);
    expect((await stored('made-here')).layers).toEqual([
      { ...layer(), commit: first },
      { clone_url: repository.url, playbook: 'other.yml', commit: first },
    ]);
    await page
      .getByRole('table', { name: 'Configurations' })
      .getByRole('rowheader', { name: 'made-here' })
      .getByRole('link')
      .click();
    await page.waitForURL('**/ui/configurations/made-here');
    await page.getByRole('tab', { name: 'History' }).click();
    const row = page.getByRole('table', { name: 'History' }).getByRole('row').filter({ hasText: 'a first try' });
    await row.getByText('made, 2 layers').waitFor();
  }, 60_000);

  test('a new one does not replace another of its name', async () => {
    await put('taken', { description: 'of somebody' });
    const { page } = seen;
    await page.goto('/ui/configurations?new=true');
    await live(page);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('taken');
    await field(page, 'Layer 1', 'Clone URL').fill(repository.url);
    await field(page, 'Layer 1', 'Playbook').fill('site.yml');
    await field(page, 'Layer 1', 'Commit').fill(first);
    const dialog = await dialogOf(page, 'Save');
    await dialog.getByText('There is a configuration taken already').waitFor();
    expect(await dialog.getByRole('button', { name: 'Confirm' }).isDisabled()).toBe(true);
    expect((await stored('taken')).description).toBe('of somebody');
  }, 60_000);

  test('an edit shows how many components become pending, and saves it', async () => {
    await put('edited');
    const ids = await wanting('edited', 3);
    const state = [
      { clone_url: repository.url, playbook: 'site.yml', commit: first, status: 'applied', session_name: 's' },
    ];
    for (const id of ids) expect((await stack.call('PATCH', `/v3/components/${id}`, { state })).status).toBe(200);
    const page = await opened('edited');
    await field(page, 'Layer 1', 'Playbook').fill('other.yml');
    await page.getByText('not saved').waitFor();
    const dialog = await dialogOf(page, 'Save');
    await dialog.getByText('configured becomes pending: 3').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await stored('edited')).layers[0].playbook).toBe('site.yml');
    await confirm(await dialogOf(page, 'Save'));
    await page.getByText('not saved').waitFor({ state: 'detached' });
    expect((await stored('edited')).layers[0].playbook).toBe('other.yml');
    const copies = page.getByRole('tabpanel').getByRole('button', { name: 'Copy as CLI' });
    expect(await copies.count()).toBe(1);
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.waitForURL('**/ui/configurations/edited?tab=usage');
    await page
      .getByRole('table', { name: 'Components by status' })
      .getByRole('row')
      .filter({ hasText: 'pending' })
      .getByRole('cell', { name: '3' })
      .waitFor();
    expect(await copies.count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
  }, 60_000);

  test('saving without the rollout policy says that it is removed', async () => {
    await put('guarded', { muster: { rollout: { canary: 2 } } });
    const page = await opened('guarded');
    await field(page, 'Rollout policy', 'Canary').fill('');
    const dialog = await dialogOf(page, 'Save');
    await dialog.getByText('this removes the rollout policy').waitFor();
    await page.keyboard.press('Escape');
    await field(page, 'Rollout policy', 'Canary').fill('two');
    expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.getByText('Canary is a number of components').waitFor();
  }, 60_000);

  describe('what somebody else writes meanwhile', () => {
    test('is shown at once where nothing is edited', async () => {
      await put('followed', { description: 'one' });
      const page = await opened('followed');
      await put('followed', { description: 'two' });
      const description = page.getByRole('textbox', { name: 'Description' });
      await eventually('the page has the new text', async () => (await description.inputValue()) === 'two');
      expect(await page.getByRole('region', { name: 'Both versions' }).count()).toBe(0);
    }, 60_000);

    test('stands beside an edit, which is kept; mine is saved over it when I say so', async () => {
      await put('met', { description: 'begun' });
      const page = await opened('met');
      await page.getByRole('textbox', { name: 'Description' }).fill('mine');
      await put('met', { description: 'theirs' });
      const both = page.getByRole('region', { name: 'Both versions' });
      const row = both.getByRole('row').filter({ hasText: 'Description' });
      await row.getByText('theirs').waitFor();
      await row.getByText('mine').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
      await both.getByRole('button', { name: 'Keep mine' }).click();
      expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('mine');
      await confirm(await dialogOf(page, 'Save'));
      expect((await stored('met')).description).toBe('mine');
    }, 60_000);

    test('is never written over unseen: a save that meets it is refused, and both versions are shown', async () => {
      await put('raced', { description: 'begun' });
      const page = await opened('raced');
      await page.getByRole('textbox', { name: 'Description' }).fill('mine');
      const dialog = await dialogOf(page, 'Save');
      // Between the last look of the page and its write.
      await page.route('**/v3/configurations/raced', async (route) => {
        if (route.request().method() === 'PUT') await put('raced', { description: 'theirs' });
        await route.continue();
      });
      await dialog.getByRole('button', { name: 'Confirm' }).click();
      await dialog
        .getByRole('alert')
        .getByText(/has changed since/)
        .waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.unroute('**/v3/configurations/raced');
      expect((await stored('raced')).description).toBe('theirs');
      await page
        .getByRole('region', { name: 'Both versions' })
        .getByRole('button', { name: /Take the stored/ })
        .click();
      expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('theirs');
    }, 60_000);

    test('that deletes it leaves the edit, which makes it again', async () => {
      await put('lost', { description: 'begun' });
      const page = await opened('lost');
      await page.getByRole('textbox', { name: 'Description' }).fill('mine');
      expect((await stack.call('DELETE', '/v3/configurations/lost')).status).toBe(204);
      await page.getByText('There is no configuration lost').waitFor();
      expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('mine');
      await confirm(await dialogOf(page, 'Save'));
      expect((await stored('lost')).description).toBe('mine');
    }, 60_000);
  });

  describe('the history', () => {
    test('compares versions in the address, and restores one at the commits that it had', async () => {
      await put('versions');
      const second = await repository.commit({ 'more.txt': 'more' });
      await put('versions', { layers: [layer(), layer({ playbook: 'other.yml' })] });
      const page = await opened('versions');
      await page.getByRole('tab', { name: 'History' }).click();
      const table = page.getByRole('table', { name: 'History' });
      await table.getByRole('link', { name: 'What changed' }).first().click();
      const difference = page.getByRole('region', { name: 'Difference' });
      await difference.getByText(/Layer 2 .*other\.yml: added/).waitFor();
      await difference.getByText(/Layer 1 .*site\.yml: changed/).waitFor();
      expect(page.url()).toMatch(/tab=history.*from=[0-9]+-[0-9]+.*to=[0-9]+-[0-9]+/);
      await page.reload();
      await difference.getByText(second).first().waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      const restore = table.getByRole('row').filter({ hasText: 'made' }).getByRole('button', { name: 'Restore' });
      await restore.click();
      const dialog = page.getByRole('dialog', { name: 'Restore' });
      await dialog.getByText(/1 would change: versions/).waitFor();
      await confirm(dialog);
      const [only, ...others] = (await stored('versions')).layers;
      expect(others).toEqual([]);
      expect(only).toEqual({
        clone_url: repository.url,
        playbook: 'site.yml',
        commit: expect.not.stringMatching(second),
      });
    }, 60_000);

    test('of a deleted configuration says by whom, and brings it back', async () => {
      await put('deleted');
      expect((await stack.call('DELETE', '/v3/configurations/deleted')).status).toBe(204);
      const { page } = seen;
      await page.goto('/ui/configurations/deleted');
      await page.getByText('There is no configuration deleted').waitFor();
      const table = page.getByRole('table', { name: 'History' });
      const rows = table.getByRole('row');
      const ofDelete = rows.filter({ hasText: 'There was no configuration then' });
      expect(await ofDelete.getByRole('button', { name: 'Restore' }).isDisabled()).toBe(true);
      await rows.filter({ hasText: 'made' }).getByRole('button', { name: 'Restore' }).click();
      const dialog = page.getByRole('dialog', { name: 'Restore' });
      await dialog.getByText(/1 would be made: deleted/).waitFor();
      await confirm(dialog);
      expect((await stored('deleted')).layers).toHaveLength(1);
    }, 60_000);
  });

  test('names and texts that are hostile are text, and names are one part of the path', async () => {
    const name = '../a b%2F/ä';
    const answer = await stack.call('PUT', `/v3/configurations/${encodeURIComponent(name)}`, {
      description: HOSTILE,
      layers: [
        { clone_url: 'https://git.example.test/x.git', playbook: `${'p'.repeat(200)}.yml`, commit: first, name: 'n' },
      ],
    });
    expect(answer.status).toBe(200);
    const page = await opened(name);
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe(HOSTILE);
    await page.getByRole('textbox', { name: 'Description' }).fill(`${HOSTILE} mine`);
    const changed = await stack.call('PUT', `/v3/configurations/${encodeURIComponent(name)}`, {
      ...{ description: `${HOSTILE} theirs`, layers: [] },
    });
    expect(changed.status).toBe(200);
    await page.getByRole('region', { name: 'Both versions' }).getByText('\\u202e theirs').waitFor();
  }, 60_000);

  test('a value in the address that the page does not know is dropped with a notice', async () => {
    await put('plain');
    const { page } = seen;
    for (const [path, dropped] of [
      ['configurations?in_use=maybe', 'in_use'],
      ['configurations/plain?tab=x&from=y', 'tab, from'],
      ['rollouts?state=walking', 'state'],
      ['drift?status=bad', 'status'],
    ]) {
      await page.goto(`/ui/${path}`);
      expect(await page.getByRole('status', { name: 'Notice' }).textContent()).toContain(`${dropped} is left out`);
    }
  }, 60_000);

  test('a part that cannot be read fails alone, and is read again', async () => {
    await put('partly');
    const page = await opened('partly');
    const broken = { status: 503, contentType: 'application/problem+json', body: '{"title":"Away","code":"away"}' };
    await page.route('**/partly/history*', (route) => route.fulfill(broken));
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('alert').getByText('Away').first().waitFor();
    await page.getByRole('tab', { name: 'Layers' }).click();
    expect(await field(page, 'Layer 1', 'Playbook').inputValue()).toBe('site.yml');
    await page.unroute('**/partly/history*');
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('table', { name: 'History' }).waitFor();
    // The browser's own words about the answers of this test.
    seen.faults = seen.faults.filter((fault) => !fault.includes('Failed to load resource'));
  }, 90_000);

  test('by keyboard alone a layer is moved and the effect is seen', async () => {
    await put('typed', { layers: [layer(), layer({ playbook: 'other.yml' })] });
    const page = await opened('typed');
    await page.getByRole('button', { name: 'Move down: Layer 1' }).focus();
    await page.keyboard.press('Enter');
    expect(await field(page, 'Layer 1', 'Playbook').inputValue()).toBe('other.yml');
    await page.getByRole('button', { name: 'Save', exact: true }).focus();
    await page.keyboard.press('Space');
    const dialog = page.getByRole('dialog', { name: 'Save' });
    await dialog.getByText(/1 would change: typed/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }, 60_000);

  test('a rollout is stopped with a reason, and goes on', async () => {
    await put('rolled', { muster: { rollout: { canary: { ids: ['rolled-never'] } } } });
    const body = [{ id: 'rolled-a', desired_config: 'rolled', enabled: true, tags: { ansible_connection: 'local' } }];
    expect((await stack.call('PUT', '/v3/components', body)).status).toBe(200);
    const { page } = seen;
    await page.goto('/ui/rollouts');
    await live(page);
    await page.getByRole('table', { name: 'Rollouts' }).getByRole('link', { name: 'rolled' }).click();
    await page.waitForURL('**/ui/rollouts?configuration=rolled');
    const details = page.getByRole('region', { name: 'Rollout rolled' });
    const stop = await dialogOf(page, 'Stop');
    await stop.getByLabel('Reason').fill('power work');
    await confirm(stop);
    await details.getByText(/stopped \(canary\).*power work/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await confirm(await dialogOf(page, 'Resume'));
    await details.getByText('Resumed').waitFor();
    await page.goto('/ui/rollouts?configuration=none');
    await page.getByText('Configuration none has no rollout now').waitFor();
  }, 90_000);

  test('drift is checked, and the tasks that differ are shown', async () => {
    const file = `${stack.dataDir}/drifting`;
    await repository.commit({
      'drift.yml': `- hosts: all
  gather_facts: false
  tasks:
    - name: Write the file
      ansible.builtin.copy:
        dest: ${file}
        content: wanted
`,
    });
    await put('drifting', { layers: [layer({ playbook: 'drift.yml' })] });
    const [id = ''] = await wanting('drifting', 1);
    const { page } = seen;
    await page.goto('/ui/drift?config_name=drifting');
    await page.getByRole('heading', { level: 1, name: 'Drift' }).waitFor();
    await live(page);
    await page.getByText('No component matches the filter.').waitFor();
    const dialog = await dialogOf(page, 'Check now');
    await confirm(dialog);
    await page.getByRole('table', { name: 'Drift' }).getByRole('link', { name: id }).click();
    const details = page.getByRole('region', { name: `Drift of ${id}` });
    await details.getByText('Write the file').waitFor();
    await details.getByText('+wanted').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.goto('/ui/drift?component=unknown');
    await page.getByText('Nothing is known').waitFor();
  }, 120_000);
});
