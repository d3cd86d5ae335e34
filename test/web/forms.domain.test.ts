/** What forms make of their texts: requests, commands, and the field that a refusal is about. */
import { describe, expect, test } from '@jest/globals';
import type { ScheduleView } from '../../domain/schedules/schedule-schema.ts';
import { applyCommand, newSource, sourcePatch, sourceValues } from '../../web/src/configurations/source-draft.ts';
import {
  createCommand,
  newSchedule,
  scheduleFields,
  schedulePatch,
  scheduleValues,
  updateCommand,
} from '../../web/src/schedules/schedule-draft.ts';
import { apiCommand, curlCommand } from '../../web/src/shared/commands.ts';
import { rebased } from '../../web/src/shared/form-values.ts';
import { refusedField } from '../../web/src/shared/refused-field.ts';
import {
  createCommand as createWebhook,
  newWebhook,
  updateCommand as updateWebhook,
  webhookFields,
  webhookPatch,
  webhookValues,
} from '../../web/src/webhooks/webhook-draft.ts';

const schedule = (action: ScheduleView['action']) => ({
  ...{ name: 'nightly', description: '', cron: '0 3 * * *', time_zone: 'UTC', jitter: 0 },
  ...{ overlap: 'skip' as const, catchup_window: 600, action },
});

describe('a refusal', () => {
  const fields = [{ at: 'action' }, { at: 'action.session.ansible_limit' }, { at: 'cron' }];
  test.each([
    ["'x' is wrong - 'cron'", 'cron', "'x' is wrong"],
    ["no host - 'action.session.ansible_limit'", 'action.session.ansible_limit', 'no host'],
    ["one of them - 'action.check'", 'action', 'one of them'],
    ["no such field - 'name'", undefined, undefined],
    ['no field at all', undefined, undefined],
  ])('%j is of the field %j', (message, at, words) => {
    const found = refusedField(fields, new Error(message));
    expect([found?.field.at, found?.words]).toEqual([at, words]);
  });
  test('of a member that several fields write is of the first of them', () => {
    const halves = [{ at: 'name' }, { at: 'credentials.username' }, { at: 'credentials.password' }];
    const found = refusedField(halves, new Error("Both are needed - 'credentials'"));
    expect([found?.field.at, found?.words]).toEqual(['credentials.username', 'Both are needed']);
  });
  test('that there is not is of none', () => expect(refusedField(fields, null)).toBeNull());
});

describe('a schedule', () => {
  test.each<[ScheduleView['action'], object]>([
    [{ reconfigure: { filter: {} } }, { what: 'reconfigure', enabled: '' }],
    [
      { reconfigure: { filter: { enabled: false }, desired_config: 'a' } },
      { enabled: 'disabled', desired_config: 'a' },
    ],
    [
      { check: { filter: { status: 'failed' }, reconfigure: true } },
      { what: 'check', status: 'failed', drifted: 'true' },
    ],
    [{ refresh: { configurations: ['a', 'b'] } }, { what: 'refresh', configurations: 'a, b' }],
    [{ session: { configuration_name: 'a', ansible_limit: 'n1' } }, { what: 'session', ansible_limit: 'n1' }],
  ])('%j is a form, and the same again', (action, texts) => {
    const begun = scheduleValues(schedule(action));
    expect(begun).toMatchObject(texts);
    expect(newSchedule(begun)).toEqual({
      ...{ name: 'nightly', cron: '0 3 * * *', time_zone: 'UTC', jitter: 0, overlap: 'skip', catchup_window: 600 },
      action,
    });
    expect(schedulePatch(begun, begun, action)).toBeNull();
    for (const { name } of scheduleFields(begun, true)) expect(begun[name]).toBeDefined();
  });

  test('is none without a name or without times', () => {
    expect(newSchedule({ ...scheduleValues(null), name: 'x' })).toBeNull();
    expect(newSchedule({ ...scheduleValues(null), cron: '0 3 * * *' })).toBeNull();
  });

  test('that is changed keeps what the form does not show', () => {
    const action = { session: { configuration_name: 'a', ansible_limit: 'n1', ansible_verbosity: 2 } };
    const begun = scheduleValues(schedule(action));
    expect(schedulePatch({ ...begun, jitter: '7', description: 'x' }, begun, action)).toEqual({
      ...{ jitter: 7, description: 'x' },
    });
    const changed = { ...begun, ansible_limit: '' };
    expect(schedulePatch(changed, begun, action)).toEqual({
      action: { session: { configuration_name: 'a', ansible_verbosity: 2 } },
    });
    expect(updateCommand(changed, begun, action)).toBe(
      `printf %s '{"action":{"session":{"configuration_name":"a","ansible_verbosity":2}}}' | ./muster api PATCH /api/v1/schedules/nightly -d -`,
    );
    expect(updateCommand({ ...begun, description: '', cron: '1 2 * * *' }, begun, action)).toBe(
      "./muster schedule update nightly --cron='1 2 * * *'",
    );
  });

  test.each([
    [{ what: 'refresh', configurations: 'a, b' }, '--refresh a b'],
    [{ what: 'check', enabled: 'enabled', drifted: 'true' }, '--check --enabled --reconfigure-drifted'],
    [{ what: 'session', configuration_name: 'a', ansible_limit: 'n[1-2]' }, "--session=a --limit='n[1-2]'"],
    [{ ids: 'a,b', tags: 'r=1, s=2', paused: 'true' }, "--reconfigure --ids='a,b' --tag=r=1 --tag=s=2 --paused"],
  ])('%j is the command %j', (texts, flags) => {
    const values = { ...scheduleValues(null), name: 'x', cron: '@', ...texts };
    const plain = '--cron=@ --time-zone=UTC --jitter=0 --overlap=skip --catch-up=600';
    expect(createCommand(values)).toBe(`./muster schedule create x ${plain} ${flags}`);
  });
});

describe('a webhook', () => {
  const values = { ...webhookValues(null), name: 'pager', url: '$WEBHOOK_URL', events: 'session.ended batch.held' };
  test('is made of what is filled in', () => {
    expect(newWebhook({ ...values, url: '' })).toBeNull();
    expect(newWebhook({ ...values, url: 'https://x', disabled: 'true' })).toEqual({
      ...{ name: 'pager', url: 'https://x', events: ['session.ended', 'batch.held'], enabled: false },
    });
    expect(createWebhook(values)).toBe(
      'printf %s "$WEBHOOK_URL" | ./muster webhook create pager --to - --event session.ended batch.held',
    );
    expect(createWebhook({ ...values, secret: '$WEBHOOK_SECRET' })).toBe(
      `jq -n '{"name":"pager","url":env.WEBHOOK_URL,"events":["session.ended","batch.held"],"secret":env.WEBHOOK_SECRET}' | ./muster api POST /api/v1/webhooks -d -`,
    );
  });
  test('that is changed keeps its address and its key', () => {
    const begun = webhookValues({
      ...{ name: 'pager', url: 'https://x/***', events: ['session.ended'], enabled: true, waiting: 0 },
      ...{ allow_private_redirects: true, created_at: '', updated_at: '', updated_by: null },
    });
    const changed = { ...begun, events: 'batch.held', allow_private_redirects: '' };
    expect(webhookPatch(begun, begun)).toBeNull();
    expect(webhookPatch(changed, begun)).toEqual({ events: ['batch.held'], allow_private_redirects: false });
    expect(updateWebhook(changed, begun)).toBe(
      './muster webhook update pager --event batch.held --no-private-redirects',
    );
  });
});

describe('a source', () => {
  const source = {
    ...{ name: 'a', last_updated: '', clone_url: 'https://u:p@git.test/x.git', ca_cert: { configmap_name: 'ca' } },
    credentials: { authentication_method: 'password' as const, secret_name: 's' },
  };
  const begun = sourceValues(source);
  test('shows no credentials of its address, and keeps them where it is not changed', () => {
    expect(begun.clone_url).not.toContain('u:p');
    expect(sourcePatch(begun, begun)).toBeNull();
    expect(sourcePatch({ ...begun, description: 'x' }, begun)).toEqual({ description: 'x' });
    expect(sourcePatch({ ...begun, configmap_name: '', password: 'q' }, begun)).toEqual({
      ...{ ca_cert: null, credentials: { password: 'q' } },
    });
  });
  test('needs both halves of its credentials, and is a command without them', () => {
    const values = { ...sourceValues(null), name: 'a', clone_url: 'https://x', username: '$SOURCE_USERNAME' };
    expect(newSource(values)).toBeNull();
    expect(applyCommand('a', newSource({ ...values, password: '$SOURCE_PASSWORD' }))).toBe(
      `jq -n '{"name":"a","clone_url":"https://x","credentials":{"username":env.SOURCE_USERNAME,"password":env.SOURCE_PASSWORD}}' | ./muster source apply -f -`,
    );
  });
});

describe('an edit', () => {
  const action = { reconfigure: { filter: { status: 'failed' as const } } };
  const begun = scheduleValues(schedule(action));
  const edited = (change: object, now: ScheduleView['action']) => {
    const values = { ...begun, ...change };
    const current = scheduleValues({ ...schedule(now), jitter: 9 });
    return schedulePatch(rebased(values, begun, current, scheduleFields(values, false)), current, now);
  };

  test('does not widen a filter that was narrowed meanwhile', () => {
    const narrowed = { reconfigure: { filter: { status: 'failed' as const, tags: 'role=web' } } };
    expect(edited({ desired_config: 'a' }, narrowed)).toEqual({
      action: { reconfigure: { filter: { status: 'failed', tags: 'role=web' }, desired_config: 'a' } },
    });
    expect(edited({ what: 'check' }, narrowed)).toEqual({
      action: { check: { filter: { status: 'failed', tags: 'role=web' } } },
    });
    expect(edited({ cron: '1 2 * * *' }, narrowed)).toEqual({ cron: '1 2 * * *' });
    expect(edited({}, narrowed)).toBeNull();
  });
  test('has what it has changed, whatever stands there by now', () => {
    expect(edited({ status: 'pending' }, { reconfigure: { filter: { status: 'configured' } } })).toEqual({
      action: { reconfigure: { filter: { status: 'pending' } } },
    });
  });
  test.each([
    ['session.ended', 'session.ended batch.held', 'session.ended batch.held plan.ended', 'session.ended plan.ended'],
    ['session.ended batch.held', 'session.ended', 'plan.ended', 'batch.held plan.ended'],
    ['session.ended', 'session.ended', 'plan.ended', 'plan.ended'],
  ])('of several words, to %j from %j, makes of %j %j', (events, before, now, made) => {
    const of = (words: string) => ({ ...webhookValues(null), events: words });
    expect(rebased(of(events), of(before), of(now), webhookFields(false)).events).toBe(made);
  });
});

describe('a secret', () => {
  test('comes to the command by stdin, from a variable', () => {
    expect(curlCommand('POST', 'https://m/a', { a: '$X', b: '$XY', c: "it's" }, 'now', ['$X'])).toBe(
      `jq -n '{"a":env.X,"b":"$XY","c":"it'\\''s"}' | curl -X POST -H "Authorization: Bearer $MUSTER_TOKEN" -H 'Muster-Reason: now' -H 'Content-Type: application/json' -d @- https://m/a`,
    );
  });
  test('that is not there needs no jq', () => {
    expect(curlCommand('POST', 'https://m/a', { a: 'x' }, '', ['$X'])).toContain(`-d '{"a":"x"}' https://m/a`);
    expect(apiCommand('POST', '/a', { a: 'say "$X"' }, ['$X'])).toBe(
      `printf %s '{"a":"say \\"$X\\""}' | ./muster api POST /a -d -`,
    );
  });
});
