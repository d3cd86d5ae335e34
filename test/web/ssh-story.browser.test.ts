/** One story, by the web UI alone: 12 hosts over SSH, of which one is away and one fails, until the fleet is as it should be. */
import { execFileSync, spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { sshMissing } from '../support/ansible/ssh-server.ts';
import {
  accessibilityFaults,
  browserMissing,
  openPage,
  startBrowser,
  tracedTest,
  type WatchedPage,
} from '../support/browser.ts';
import { describeNeeding } from '../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLE = join(ROOT, 'examples', 'ssh-fleet');
const HOSTS = 12;
const [AWAY, BROKEN] = ['node12', 'node5'];
const playbook = (gate: string) => `- hosts: all
  gather_facts: false
  tasks:
    - name: Wait for the gate
      ansible.builtin.wait_for:
        path: ${gate}
        timeout: 900
        sleep: 1
    - name: Look at the disk
      ansible.builtin.command: sh -c 'test ! -e "$FLEET_NODE_ROOT/broken"'
      register: disk
      changed_when: false
      failed_when: false
    - name: Refuse a broken disk
      ansible.builtin.fail:
        msg: the disk is full
      when: disk.rc != 0
`;

describeNeeding(browserMissing() ?? stackMissing() ?? sshMissing(), 'a fleet of 12 SSH hosts', () => {
  let stack: MusterStack;
  let browser: Browser;
  let seen: WatchedPage;
  let fleet: string;
  let repository: string;
  let gate: string;

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startMusterStack({}, 'shared', 'built'), startBrowser()]);
    fleet = join(stack.dataDir, 'fleet');
    gate = join(stack.dataDir, 'gate');
    execFileSync(join(EXAMPLE, 'start.sh'), ['-n', String(HOSTS), fleet]);
    const site = await stack.repository('ssh-fleet');
    await site.commit({ 'site.yml': playbook(gate) });
    repository = site.url;
    for (const [key, file] of [
      ['private', 'id_ed25519'],
      ['known_hosts', 'known_hosts'],
    ] as const) {
      await muster(['secret', 'set', 'muster-ssh', key], await readFile(join(fleet, file), 'utf8'));
    }
    const made: { id: string; tags: object }[] = JSON.parse(await readFile(join(fleet, 'components.json'), 'utf8'));
    const components = made.map(({ id, tags }) => ({ id, tags, enabled: true, retry_policy: 1 }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
    expect((await stack.call('PATCH', '/v3/options', { batch_window: 1, batcher_check_interval: 1 })).status).toBe(200);
    process.kill(Number(await readFile(join(fleet, AWAY, 'sshd.pid'), 'utf8')));
    await writeFile(join(fleet, BROKEN, 'root', 'broken'), '');
  }, 480_000);
  afterAll(async () => {
    if (gate !== undefined) await writeFile(gate, '');
    if (fleet !== undefined) execFileSync(join(EXAMPLE, 'stop.sh'), [fleet]);
    await browser?.close();
    await stack?.remove();
  });
  beforeEach(async () => {
    seen = await openPage(browser, stack.url);
  });
  afterEach(() => seen.context.close());
  const test = tracedTest(() => seen);

  /** The command line, for what is there before the story begins. */
  function muster(args: string[], input: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = spawn(join(ROOT, 'muster'), args, {
        env: { ...stack.env, MUSTER_URL: stack.url },
        stdio: ['pipe', 'ignore', 'inherit'],
      });
      child.once('close', (status) =>
        status === 0 ? resolve() : reject(new Error(`muster ${args.join(' ')}: ${status}`)),
      );
      child.stdin.end(input);
    });
  }
  const go = (name: string) =>
    seen.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
  async function opened(button: string): Promise<Locator> {
    await seen.page.getByRole('button', { name: button, exact: true }).click();
    return seen.page.getByRole('dialog', { name: button });
  }
  async function confirm(dialog: Locator): Promise<void> {
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByRole('status', { name: 'Result' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
  }
  const count = (word: string) =>
    seen.page.getByRole('table', { name: 'Counts' }).getByRole('row').filter({ hasText: word }).getByRole('link');

  test('is configured, mended where it failed, and green in the end', async () => {
    const { page } = seen;
    await page.goto('/ui/');
    await go('Configurations');
    await page.getByRole('button', { name: 'New configuration' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('ssh-fleet');
    const layer = page.getByRole('group', { name: 'Layer 1', exact: true });
    for (const [name, text] of [
      ['Clone URL', repository],
      ['Playbook', 'site.yml'],
      ['Branch', 'main'],
    ] as const) {
      await layer.getByRole('textbox', { name, exact: true }).fill(text);
    }
    const save = await opened('Save');
    await save.getByRole('group', { name: 'Effect' }).getByText('1 would be made: ssh-fleet').waitFor();
    await confirm(save);

    await go('Components');
    await page.getByRole('button', { name: `Select all ${HOSTS} that match` }).click();
    await page.getByText(`${HOSTS} selected`).waitFor();
    const set = await opened('Set desired configuration');
    await set.getByRole('combobox', { name: 'Configuration' }).selectOption('ssh-fleet');
    const effect = set.getByRole('group', { name: 'Effect' });
    await effect.getByText(`${HOSTS} would change`).waitFor();
    await effect.getByText(`unconfigured becomes pending: ${HOSTS}`).waitFor();
    await set.getByLabel('Reason').fill('the new site');
    await confirm(set);

    await go('Batches');
    await page
      .getByRole('table', { name: 'Batches' })
      .getByRole('row')
      .filter({ hasText: 'ssh-fleet' })
      .first()
      .waitFor();
    await go('Fleet');
    await page.getByRole('table', { name: 'Running' }).getByRole('link').first().waitFor();
    await writeFile(gate, '');
    const attention = page.getByRole('table', { name: 'Needs attention' });
    const failed = attention.getByRole('row').filter({ hasText: 'the disk is full' });
    const away = attention.getByRole('row').filter({ hasText: /unreachable|connect/i });
    await Promise.all([failed, away].map((row) => row.waitFor()));
    await count('configured').filter({ hasText: /^10$/ }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    // One click to the failing task.
    await failed.getByRole('rowheader').getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: /^Session / }).waitFor();
    const row = page.getByRole('table', { name: 'Hosts' }).getByRole('row').filter({ hasText: BROKEN });
    await row.getByText('the disk is full').waitFor();

    await rm(join(fleet, BROKEN, 'root', 'broken'));
    const { port } = new URL(
      `http://${(await readFile(join(fleet, 'known_hosts'), 'utf8')).replace(/[[\]]/g, '').split(' ')[0]}`,
    );
    execFileSync(join(EXAMPLE, 'start.sh'), ['-n', String(HOSTS), '-p', port, fleet]);
    const retry = await opened('Retry failed hosts');
    await retry
      .getByRole('group', { name: 'Effect' })
      .getByText(/2 hosts/)
      .waitFor();
    await retry.getByRole('button', { name: 'Confirm' }).click();
    await retry.getByRole('status', { name: 'Result' }).getByRole('link').click();
    await page.getByText('The session has ended').waitFor();
    await page.getByText('2 applied, 0 failed').waitFor();

    await go('Fleet');
    await count('configured')
      .filter({ hasText: new RegExp(`^${HOSTS}$`) })
      .first()
      .waitFor();
    await page.getByText('Nothing needs attention.').waitFor();
  }, 300_000);
});
