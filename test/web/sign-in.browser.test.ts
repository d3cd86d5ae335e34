import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import { accessibilityFaults } from '../support/browser.ts';
import { describeInBrowser } from '../support/in-browser.ts';

describeInBrowser('the web UI of a stack with tokens', { settings: { MUSTER_AUTH: 'token' } }, (on) => {
  let admin: Record<string, string>;
  const { test } = on;

  beforeAll(async () => {
    const token = (await readFile(join(on.stack.dataDir, 'admin-token'), 'utf8')).trim();
    admin = { authorization: `Bearer ${token}` };
    const layers = [{ clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    await on.stack.call('PUT', '/v3/configurations/site', { layers }, admin);
    const components = [
      ...['n1', 'n2', 'n3'].map((id) => ({ id, desired_config: 'site', enabled: true })),
      { id: 'n4', desired_config: 'site', error_count: 9, retry_policy: 3, enabled: false },
      { id: 'n5', enabled: false },
    ];
    expect((await on.stack.call('PATCH', '/v3/options', { batcher_disable: true }, admin)).status).toBe(200);
    expect((await on.stack.call('PUT', '/v3/components', components, admin)).status).toBe(200);
    const reached = { ...layers[0], status: 'applied', session_name: '' };
    expect((await on.stack.call('PATCH', '/v3/components/n1', { state: [reached] }, admin)).status).toBe(200);
  }, 480_000);

  const makeToken = async (role: string, name: string): Promise<string> =>
    (await on.stack.call('POST', '/api/v1/tokens', { role, name }, admin)).body.token;
  const signIn = async (token: string) => {
    const { page } = on.seen;
    await page.goto('/ui/');
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
  };
  const counts = () => on.seen.page.getByRole('table', { name: 'Counts' }).getByRole('row').allInnerTexts();

  describe('a user', () => {
    test('signs in with a token by keyboard alone, sees the fleet, and signs out', async () => {
      const { page, context } = on.seen;
      await page.goto('/');
      await page.waitForURL('**/ui/');
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      const field = page.getByLabel('Token');
      while (!(await field.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('Tab');
      await page.keyboard.type('muster_wrong');
      await page.keyboard.press('Enter');
      expect(await page.getByRole('alert').textContent()).toMatch(/not one of this API/);
      const token = await makeToken('reader', 'eyes');
      await page.keyboard.press('Control+A');
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();

      await page.getByRole('table', { name: 'Counts' }).waitFor();
      const rows = (await counts()).map((row) => row.replace(/\s+/g, ' '));
      expect(rows.map((row) => row.replace(/^[^a-zS]+/, ''))).toEqual([
        'Status Components',
        'configured 1',
        'pending 2',
        'failed 1',
        'unconfigured 1',
        'disabled 2',
      ]);
      expect(await page.getByText('token/eyes (reader)').count()).toBe(1);
      expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()).toEqual([
        'Fleet',
        'Components',
        'Sessions',
        'Configurations',
        'Batches',
        'Rollouts',
        'Schedules',
        'Drift',
        'Images',
        'Sources',
        'Webhooks',
        'Audit',
        'Access',
        'System',
        'Operator',
        'Propagation',
        'Deployments',
      ]);
      expect(await accessibilityFaults(page)).toEqual([]);

      const kept = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      );
      expect(JSON.parse(kept)).toEqual([{}, {}, '', `${on.stack.url}/ui/`]);
      expect(await context.cookies()).toEqual([
        expect.objectContaining({
          httpOnly: true,
          sameSite: 'Strict',
          path: '/',
          name: expect.stringMatching(/^muster-[0-9a-f-]{36}$/),
        }),
      ]);

      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
      expect(await context.cookies()).toEqual([]);
    });

    test('whose token is revoked signs in again above the page', async () => {
      const { page } = on.seen;
      await signIn(await makeToken('operator', 'gone'));
      await page.getByRole('table', { name: 'Counts' }).waitFor();
      expect((await on.stack.call('DELETE', '/api/v1/tokens/gone', undefined, admin)).status).toBe(204);
      const dialog = page.getByRole('dialog', { name: 'Sign in' });
      await dialog.waitFor();
      expect(await page.getByRole('heading', { level: 1, name: 'Fleet' }).count()).toBe(1);
      await dialog.getByLabel('Token').fill(await makeToken('operator', 'back'));
      await dialog.getByRole('button', { name: 'Sign in' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('token/back (operator)').waitFor();
    });
  });

  test('a reader sees why he may not act, and no request of the page ends in 403', async () => {
    const { page } = on.seen;
    const refused: string[] = [];
    page.on('response', (answer) => {
      if (answer.status() === 403) refused.push(answer.url());
    });
    const made = { name: 'read-only', configuration_name: 'site' };
    expect((await on.stack.call('POST', '/v3/sessions', made, admin)).status).toBe(201);
    await signIn(await makeToken('reader', 'only-eyes'));
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('link', { name: 'read-only' }).click();
    for (const name of ['Cancel', 'Retry failed hosts', 'Retry all hosts']) {
      const button = page.getByRole('button', { name, exact: true });
      await button.waitFor();
      expect(await button.isDisabled()).toBe(true);
      const why = await button.evaluate((element) => element.getAttribute('aria-describedby'));
      expect(await page.locator(`[id="${why}"]`).textContent()).toBe(
        'Your role reader may not do this: it needs operator',
      );
    }
    await page.getByRole('link', { name: 'Components' }).click();
    await page.getByRole('checkbox', { name: 'Select n1' }).check();
    for (const name of [
      'Set desired configuration',
      'Enable',
      'Disable',
      'Clear state',
      'Reset errors',
      'Set tags',
      'Delete',
    ]) {
      const button = page.getByRole('button', { name, exact: true });
      expect(await button.isDisabled()).toBe(true);
      const why = await button.evaluate((element) => element.getAttribute('aria-describedby'));
      expect(await page.locator(`[id="${why}"]`).textContent()).toMatch(/^Your role reader may not do this/);
    }
    await page.getByRole('button', { name: /^Select all/ }).click();
    await page.getByText(/^[0-9]+ selected; forgotten/).waitFor();
    await page.getByRole('link', { name: 'n1', exact: true }).click();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('region', { name: 'Why' }).getByRole('listitem').first().waitFor();
    await page.getByRole('link', { name: 'Configurations' }).click();
    await page.getByRole('rowheader', { name: 'site' }).getByRole('link').click();
    await page.getByText('Your role reader may read this, not change it.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Playbook' }).first().isDisabled()).toBe(true);
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByRole('table', { name: 'History' }).waitFor();
    expect(await page.getByRole('button', { name: 'Restore' }).first().isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Drift' }).click();
    await page.getByText('Your role reader may not do this').first().waitFor();
    expect(await page.getByRole('button', { name: 'Check now' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByText('Your role reader may not read this: it needs operator').waitFor();
    expect(refused).toEqual([]);
  });

  test('text cannot become code: the policy is there, and trusted types hold', async () => {
    const { page, faults } = on.seen;
    const answer = await page.goto('/ui/');
    expect(answer?.headers()['content-security-policy']).toContain("require-trusted-types-for 'script'");
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const refused = await page.evaluate<string>(`(() => {
      try { document.body.innerHTML = '<img src=x>'; return 'taken'; } catch (error) { return error.name; }
    })()`);
    expect(refused).toBe('TypeError');
    // That is what the browser has to say about it.
    faults.length = 0;
  });
});
