import { describe, expect, test } from '@jest/globals';
import {
  givenWebhookAddress,
  isShownAddress,
  shownWebhookAddress,
  withoutWebhookAddress,
} from '../../domain/webhooks/webhook-address.ts';

describe('of an address scheme and host are shown', () => {
  test.each([
    ['https://hooks.example.test/services/T0/B1/CANARY', 'https://hooks.example.test/***'],
    ['https://hooks.example.test', 'https://hooks.example.test/***'],
    ['https://hooks.example.test?key=CANARY', 'https://hooks.example.test/***'],
    ['https://hooks.example.test#CANARY', 'https://hooks.example.test/***'],
    ['https://me:CANARY@hooks.example.test/', 'https://hooks.example.test/***'],
    ['https://CANARY@hooks.example.test/', 'https://hooks.example.test/***'],
    ['https://me:CAN@ARY@hooks.example.test/', 'https://hooks.example.test/***'],
    ['HTTPS://Hooks.Example.Test:443/CANARY', 'https://hooks.example.test/***'],
    ['http://127.0.0.1:8080/CANARY', 'http://127.0.0.1:8080/***'],
    ['http://[::1]:8080/CANARY', 'http://[::1]:8080/***'],
    ['https:\\\\me:CANARY@hooks.example.test\\CANARY', 'https://hooks.example.test/***'],
    ['https://hooks.exa\nmple.test/CANARY', 'https://hooks.example.test/***'],
    ['ftp://hooks.example.test/CANARY', '***'],
    ['CANARY', '***'],
  ])('%j', (address, shown) => {
    expect(shownWebhookAddress(address)).toBe(shown);
    expect([isShownAddress(address), isShownAddress(shown)]).toEqual([false, true]);
  });
});

describe('an address that is given', () => {
  const shown = 'https://hooks.example.test/***';
  test('is the new one', () => {
    expect(givenWebhookAddress('https://other.test/x', shown)).toBe('https://other.test/x');
    expect(givenWebhookAddress('https://other.test/%2A%2A%2A', null)).toBe('https://other.test/%2A%2A%2A');
  });
  test('as it was shown is none', () => {
    expect(givenWebhookAddress(shown, shown)).toBeUndefined();
  });
  test.each([
    ['https://other.test/***', shown],
    ['https://hooks.example.test/***/more', shown],
    ['https://me:***@hooks.example.test/x', shown],
    ['https://hooks.example.test/x?key=***', shown],
    [shown, null],
  ])('as something else was shown is refused: %s where %s is shown', (address, now) => {
    expect(() => givenWebhookAddress(address, now)).toThrow(
      expect.objectContaining({ code: 'webhook_address_masked', field: 'url' }),
    );
  });
});

test.each([
  ['https://h.test/services/T0/CANARY', 'connect https://h.test/services/T0/CANARY failed'],
  ['https://h.test/services/T0/CANARY', 'no route /services/T0/CANARY'],
  ['https://h.test/services/T0/CANARY', 'no such key: CANARY'],
  ['https://me:CANARY@h.test/', 'Basic user CANARY is refused'],
  ['https://h.test/x?key=CAN%20ARYCANARY', 'key CAN ARYCANARY'],
  ['https://h.test/x?key=CANARY&more=1', '?key=CANARY&more=1 is unknown'],
  ['HTTPS://H.test/CANARY', 'https://h.test/CANARY'],
])('nothing of %s is left in %j', (address, text) => {
  expect(withoutWebhookAddress(text, address)).not.toContain('CANARY');
});

test('what is told of a failure stays readable', () => {
  const text = 'connect ECONNREFUSED 127.0.0.1:8080 at a time of x/y';
  expect(withoutWebhookAddress(text, 'http://127.0.0.1:8080/x?a=1')).toContain('connect ECONNREFUSED 127.0.0.1:8080');
  expect(withoutWebhookAddress(text, 'http://127.0.0.1:8080/')).toBe(text);
});
