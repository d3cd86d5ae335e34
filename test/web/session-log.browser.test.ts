/** The log of a session in a browser: long, growing, searched, and linked to by its lines. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import { accessibilityFaults } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { describeInBrowser } from '../support/in-browser.ts';

const waiting = (gate: string) => `- hosts: all
  gather_facts: false
  tasks:
    - name: Say that it begins
      ansible.builtin.debug:
        msg: it begins
      # The output has no word of a task that only went well.
      changed_when: true
    - name: Wait for the gate
      ansible.builtin.wait_for:
        path: ${gate}
        timeout: 900
        sleep: 1
`;
/** More lines than an element can be high. */
const MANY = 400_000;
const PIECE = 10_000;

describeInBrowser('the log of a session', {}, (on) => {
  let gate: string;
  let id: string;
  /** Lines that the playbook itself wrote. */
  let own: number;

  beforeAll(async () => {
    gate = join(on.stack.dataDir, 'gate');
    const repository = await on.stack.repository('site');
    await repository.commit({ 'wait.yml': waiting(gate) });
    await on.stack.configure('waiting', repository.url, ['wait.yml'], ['n1', 'n2']);
    await on.stack.create('long', 'waiting', { ansible_limit: 'n1' });
    ({ id } = await on.stack.session('long'));
    own = await eventually(
      'the playbook waits',
      async () => {
        const { body } = await on.stack.call('GET', '/api/v1/sessions/long/log-lines');
        return JSON.stringify(body).includes('it begins') ? body.total : undefined;
      },
      240_000,
    );
    for (let first = 1; first <= MANY; first += PIECE) await flood(first, first + PIECE - 1);
  }, 480_000);
  on.beforeClose(async () => {
    if (gate !== undefined) await writeFile(gate, '');
  });
  const { test } = on;

  let start = 1_000_000_000;
  /** Adds a piece of output, as a worker does. */
  async function add(text: string, stream = id): Promise<void> {
    start += text.length;
    await on.stack.sql(
      `with counter as (update streams set next_chunk = next_chunk + 1 where id = $1 returning next_chunk - 1 as seq),
        stored as (insert into output (stream_id, seq, run_id, layer, attempt, start, text)
          select $1, seq, $1 || '-test', 0, 1, $2, $3 from counter)
        select pg_notify('muster_stream', $1)`,
      [stream, start, text],
    );
  }
  const flood = (first: number, last: number) =>
    add(Array.from({ length: last - first + 1 }, (_, index) => `flood ${first + index}\n`).join(''));
  const total = async () => (await on.stack.call('GET', '/api/v1/sessions/long/log-lines?tail=1')).body.total as number;
  const url = (fragment = '') => `/ui/sessions/long?id=${id}&tab=log&layer=0&attempt=1${fragment}`;
  const output = () => on.seen.page.getByRole('log', { name: 'Output' });
  const line = (number: number) => output().getByRole('link', { name: `Line ${number}`, exact: true });
  const rowOf = (number: number) =>
    output()
      .locator('.line')
      .filter({ has: on.seen.page.getByRole('link', { name: `Line ${number}`, exact: true }) });
  const isDrawn = (number: number) => line(number).waitFor();

  describe('of many lines', () => {
    test('opens at the line of its address, whole and wrapped below', async () => {
      const { page } = on.seen;
      await page.goto(url('#L150000'));
      await isDrawn(150_000);
      await rowOf(150_000).getByText('flood').waitFor();
      expect(await rowOf(150_000).textContent()).toBe(`150000flood ${150_000 - own}`);
      expect(await line(150_000).getAttribute('aria-current')).toBe('true');
      await page
        .getByRole('region', { name: 'Line 150000' })
        .getByText(`flood ${150_000 - own}`)
        .waitFor();
      await page.locator('main:not([aria-busy])').waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      // Whatever the length of the log, few of its lines are in the page.
      expect(await output().locator('.line').count()).toBeLessThan(100);
    });

    test('gives each line an address, and ranges by Shift', async () => {
      const { page } = on.seen;
      await page.goto(url('#L200000'));
      await isDrawn(200_000);
      await line(200_003).click();
      await page.waitForURL('**#L200003');
      await line(200_001).click({ modifiers: ['Shift'] });
      await page.waitForURL('**#L200001-L200003');
      await page.getByRole('region', { name: 'Lines 200001 to 200003' }).waitFor();
      await page.reload();
      await isDrawn(200_002);
      expect(await line(200_002).getAttribute('aria-current')).toBe('true');
    });

    test('is gone through by keys and wheel, line by line', async () => {
      const { page } = on.seen;
      await page.goto(url('#L100000'));
      await isDrawn(100_000);
      await output().focus();
      const first = async () => Number((await output().getByRole('link').first().textContent()) ?? '');
      const before = await first();
      for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowDown');
      await eventually('three lines further', async () => (await first()) === before + 3);
      await output().hover();
      await page.mouse.wheel(0, 240);
      await eventually('ten lines further', async () => (await first()) === before + 13);
      await page.keyboard.press('Home');
      await isDrawn(1);
      await page.keyboard.press('End');
      await isDrawn(own + MANY);
      await page.keyboard.press('PageUp');
      await page.keyboard.press('PageUp');
      await eventually('the end is left', async () => (await line(own + MANY).count()) === 0);
      expect(await page.getByRole('button', { name: 'Follow' }).getAttribute('aria-pressed')).toBe('false');
    });

    test('is searched, also by keys alone', async () => {
      const { page } = on.seen;
      await page.goto(url());
      await isDrawn(own + MANY);
      await page.keyboard.press('Control+f');
      await page.keyboard.type('FLOOD 12345');
      await page.keyboard.press('Enter');
      await isDrawn(own + 12_345);
      await page.waitForURL(`**q=FLOOD*#L${own + 12_345}`);
      await page
        .getByRole('status', { name: 'Found' })
        .filter({ hasText: /^11 lines have it$/ })
        .waitFor();
      await page.getByRole('button', { name: 'Next match' }).click();
      await isDrawn(own + 123_450);
      await output().focus();
      await page.keyboard.press('n');
      await isDrawn(own + 123_451);
      await page.keyboard.press('N');
      await page.waitForURL(`**#L${own + 123_450}`);
      await page.getByRole('searchbox', { name: 'Search output' }).fill('nothing has this');
      await page.keyboard.press('Enter');
      await page.getByRole('status', { name: 'Found' }).filter({ hasText: 'No line has it' }).waitFor();
      await page.getByRole('button', { name: 'Next failure' }).click();
      await page.getByRole('status', { name: 'Found' }).filter({ hasText: 'Nothing has failed yet' }).waitFor();
    });
  });

  describe('that grows', () => {
    test('is followed at 5,000 lines a second, and left when it is scrolled up', async () => {
      const { page } = on.seen;
      const before = await total();
      await page.goto(url());
      await isDrawn(before);
      let reads = 0;
      page.on('request', (request) => {
        if (request.url().includes('/log-lines?')) reads += 1;
      });
      const began = Date.now();
      for (let piece = 0; piece < 20; piece += 1) {
        const due = new Promise((resolve) => setTimeout(resolve, 250));
        await flood(MANY + piece * 1_250 + 1, MANY + (piece + 1) * 1_250);
        await due;
      }
      await isDrawn(before + 25_000);
      // What has come is told four times a second at most, and only its end is read then; the bench measures the frames.
      expect(reads).toBeGreaterThan(0);
      expect(reads).toBeLessThan(((Date.now() - began) / 1_000) * 4 + 4);
      expect(await output().locator('.line').count()).toBeLessThan(100);

      await output().hover();
      await page.mouse.wheel(0, -480);
      await eventually('it is not followed', async () => (await line(before + 25_000).count()) === 0);
      await add('one more\n');
      await page.getByRole('button', { name: '1 new line' }).click();
      await isDrawn(before + 25_001);
      await add('and one\n');
      await isDrawn(before + 25_002);
    }, 60_000);

    test('is waited for when an address names a line that is not there yet', async () => {
      const { page } = on.seen;
      const last = await total();
      await page.goto(url(`#L${last + 2}`));
      await page.getByRole('status', { name: 'Notice' }).filter({ hasText: 'is not there yet' }).waitFor();
      await add('first\nwaited for\nafter\n');
      await isDrawn(last + 2);
      await page
        .getByRole('region', { name: `Line ${last + 2}` })
        .getByText('waited for')
        .waitFor();
      await page.getByRole('status', { name: 'Notice' }).waitFor({ state: 'detached' });
    });

    test('leads from failure to failure', async () => {
      const { page } = on.seen;
      const last = await total();
      await add('fatal: [n1]: FAILED! => {"msg": "no"}\nok: [n2]\nfatal: [n3]: UNREACHABLE! => {}\n');
      await page.goto(url('#L5'));
      await page.getByRole('button', { name: 'Next failure' }).click();
      await page.waitForURL(`**#L${last + 1}`);
      await output().focus();
      await page.keyboard.press('f');
      await page.waitForURL(`**#L${last + 3}`);
      await page.keyboard.press('F');
      await page.waitForURL(`**#L${last + 1}`);
    });
  });

  test('text from outside is text, colours survive, and a long line is whole when it is chosen', async () => {
    const { page } = on.seen;
    const code = String.fromCharCode(27);
    const last = await total();
    const text = `<img src=x onerror=alert(1)> ${code}[31mred${code}[0m ${'x'.repeat(1_000_000)}`;
    await add(`${text}\njavascript:alert(1) \u202eevil\n`);
    await page.goto(url(`#L${last + 1}`));
    await rowOf(last + 1)
      .getByText('<img src=x onerror=alert(1)>')
      .waitFor();
    expect(
      await rowOf(last + 1)
        .locator('.ansi-1')
        .textContent(),
    ).toBe('red');
    await rowOf(last + 1)
      .getByText('1000042 characters')
      .waitFor();
    await rowOf(last + 2)
      .getByText('\\u202eevil')
      .waitFor();
    await page
      .getByRole('region', { name: `Line ${last + 1}` })
      .getByText('more characters')
      .waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('with a gap says how much is missing, and keeps its numbers', async () => {
    const { page } = on.seen;
    const name = await on.stack.create('cut', 'waiting', { ansible_limit: 'n2' });
    const { id: cut } = await on.stack.session(name);
    await eventually(
      'its playbook waits',
      async () =>
        JSON.stringify((await on.stack.call('GET', `/api/v1/sessions/${name}/log-lines`)).body).includes('it begins'),
      240_000,
    );
    const { body } = await on.stack.call('GET', `/api/v1/sessions/${name}/log-lines`);
    await add('\n[muster] 12345 lines, 9000000 bytes of output were left out here\nbehind it\n', cut);
    await page.goto(`/ui/sessions/${name}?tab=log`);
    await output().getByText('12345 lines not kept (9 MiB)').waitFor();
    const behind = body.total + 12_346;
    await rowOf(behind).getByText('behind it').waitFor();
    await page.goto(`/ui/sessions/${name}?tab=log#L${behind + 500}`);
    await page.getByRole('status', { name: 'Notice' }).waitFor();
    expect((await on.stack.call('POST', `/api/v1/sessions/${name}/cancel`)).status).toBe(202);
    await on.stack.untilComplete(name);
    await page.getByRole('status', { name: 'Notice' }).filter({ hasText: 'There is no line' }).waitFor();
  }, 90_000);

  test('that cannot be read says why, and is tried again', async () => {
    const { page } = on.seen;
    await page.route('**/log-lines?**', (route) =>
      route.fulfill({ status: 400, json: { title: 'Bad', detail: 'no lines' } }),
    );
    await page.goto(url());
    const alert = page.getByRole('tabpanel').getByRole('alert');
    await alert.getByText('no lines').waitFor();
    await page.unroute('**/log-lines?**');
    // News of the session may have it read again before.
    const isAgain = output().getByRole('link').first();
    const retry = alert.getByRole('button', { name: 'Retry' });
    await Promise.race([isAgain.waitFor(), retry.click()]);
    await isAgain.waitFor();
  });
});
