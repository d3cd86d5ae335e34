/** Schedules on a whole stack, driven by the command line: a real time of the clock, a real session, Temporal that dies. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { cli } from '../support/stack/command-line.ts';
import { type Answer, type MusterStack, stackMissing, startMusterStack } from '../support/stack/muster-stack.ts';

const PLAYBOOK = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: works
`;
const MINUTES = 60_000;

describeNeeding(stackMissing(), 'schedules of a stack', () => {
  let stack: MusterStack;
  beforeAll(async () => {
    stack = await startMusterStack({}, 'own');
    const { url, commit } = await stack.repository('plays');
    await commit({ 'site.yml': PLAYBOOK });
    await stack.configure('web', url, ['site.yml'], ['h1', 'h2']);
  }, 600_000);
  afterAll(() => stack?.remove());

  const schedule = async (...args: string[]) => {
    const { exit, out, err } = await cli(['schedule', ...args], { url: stack.url });
    expect([args, exit, err]).toEqual([args, 0, expect.any(String)]);
    return { out, err };
  };
  const runsOf = async (name: string): Promise<Answer['body'][]> =>
    JSON.parse((await schedule('runs', name, '-o', 'json')).out);

  test(
    'each minute: a session runs to its end, and the run says so',
    async () => {
      await schedule('create', 'minutely', '--cron', '* * * * *', '--session', 'web', '--prefix', 'min');
      const run = await eventually(
        'a time of the clock has come and its session is complete',
        async () => (await runsOf('minutely')).find(({ ended_at }) => ended_at !== null),
        3 * MINUTES,
      );
      expect(run).toMatchObject({ state: 'succeeded', by_hand: false, error: null });
      expect(run.scheduled_at).toMatch(/:00Z$/);
      const [name] = run.result.sessions;
      expect(name).toMatch(/^min-\d{12}00-[0-9a-f]{4}$/);
      const session = await stack.session(name);
      expect(session).toMatchObject({ actor: 'schedule/minutely', status: { session: { succeeded: 'true' } } });
      const { out } = await schedule('get', 'minutely');
      expect(out).toContain('next');
      await schedule('pause', 'minutely', '--note', 'enough');
      // On a busy machine Temporal may hear of it later.
      await eventually('Temporal has heard of it', async () =>
        /minutely +\* \* \* \* \* +UTC +session +paused/.test((await schedule('list')).out),
      );
    },
    4 * MINUTES,
  );

  test(
    'made while Temporal is away: it is kept, its run too, and both are there when Temporal is back',
    async () => {
      await stack.kill('temporal');
      const create = ['create', 'later', '--cron', '0 3 1 1 *', '--reconfigure', '--ids', 'h1'];
      // The supervisor starts Temporal again at once: it may be back for either of the two.
      await schedule(...create, '--desired', 'web');
      const { id } = JSON.parse((await schedule('trigger', 'later', '-o', 'json')).out);
      const run = await eventually(
        'the run that was asked for is over',
        async () => (await runsOf('later')).find((one) => one.id === id && one.ended_at !== null),
        2 * MINUTES,
      );
      expect(run).toMatchObject({
        state: 'succeeded',
        by_hand: true,
        result: { components: { count: 1, ids: ['h1'] } },
      });
      const { out } = await schedule('next', 'later', '--count', '1');
      expect(out).toMatch(/^\d{4}-01-01T03:00:00Z\n$/);
      const [row] = await stack.sql<{ actor: string }>(`select actor from components where id = 'h1'`);
      expect(row?.actor).toBe('schedule/later');
      await schedule('delete', 'later', 'minutely');
      expect((await cli(['schedule', 'get', 'later'], { url: stack.url })).exit).toBe(3);
    },
    4 * MINUTES,
  );
});
