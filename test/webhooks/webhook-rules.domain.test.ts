import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { webhookBody } from '../../domain/webhooks/webhook-body.ts';
import { GIVE_UP_SECONDS, nextTryMs } from '../../domain/webhooks/webhook-retry.ts';
import { WebhookCreateSchema } from '../../domain/webhooks/webhook-schema.ts';

describe('the next try', () => {
  test.each([
    [1, 0, 5],
    [2, 0, 10],
    [3, 0, 20],
    [10, 0, 2_560],
    [11, 0, 3_600],
    [40, 0, 3_600],
    [1, 60, 60],
    [4, 7, 40],
    [1, 86_400, 3_600],
  ])('after %i failures, when asked to wait for %i s, is in %i s', (attempts, retryAfter, seconds) => {
    expect(nextTryMs(attempts, 0, 0, retryAfter)).toBe(seconds * 1_000);
  });
  test('is none once it would be a day after the notification', () => {
    const last = GIVE_UP_SECONDS * 1_000 - 5_000;
    expect(nextTryMs(1, 0, last)).toBe(5_000);
    expect(nextTryMs(1, 0, last + 1)).toBeNull();
  });
  test('comes again and again, but not for ever', () => {
    fc.assert(
      fc.property(fc.nat(3_600), (retryAfter) => {
        let now = 0;
        let attempts = 0;
        for (let pause: number | null = 0; pause !== null; attempts += 1) {
          now += pause;
          pause = nextTryMs(attempts + 1, 0, now, retryAfter);
        }
        return now <= GIVE_UP_SECONDS * 1_000 && attempts >= 24 && attempts < 60;
      }),
    );
  });
});

test('the body tells what happened, without passwords in addresses', () => {
  const body = webhookBody({
    id: 'n1',
    event: 'session.ended',
    createdAt: new Date('2026-11-21T10:00:00Z'),
    data: {
      name: 's1',
      message: 'clone of https://me:geheim@git.example.test/x failed',
      deep: [{ url: 'ssh://a:b@h/' }],
    },
  });
  expect(JSON.parse(body)).toMatchObject({ id: 'n1', event: 'session.ended', time: '2026-11-21T10:00:00.000Z' });
  expect(body).toContain('git.example.test');
  expect(body).not.toContain('geheim');
  expect(body).not.toContain('a:b@');
});

describe('a webhook', () => {
  const good = { name: 'ops', url: 'https://hooks.example.test/x', events: ['session.ended'] };
  test('needs name, address and events', () => {
    expect(WebhookCreateSchema.safeParse(good).success).toBe(true);
  });
  test.each([
    ['name', { ...good, name: 'Ops' }],
    ['name', { ...good, name: `a${'b'.repeat(45)}` }],
    ['name', { ...good, name: 'a/../b' }],
    ['url', { ...good, url: 'ftp://hooks.example.test/' }],
    ['url', { ...good, url: 'hooks.example.test' }],
    ['url', { ...good, url: 'javascript:alert(1)' }],
    ['events', { ...good, events: [] }],
    ['events', { ...good, events: ['session.ended', 'session.ended'] }],
    ['events', { ...good, events: ['session.began'] }],
    ['secret', { ...good, secret: 'short' }],
    ['secret', { ...good, secret: 'with blanks in between' }],
  ])('is refused for its %s: %j', (field, body) => {
    const { error } = WebhookCreateSchema.safeParse(body);
    expect(error?.issues[0]?.path[0]).toBe(field);
  });
});
