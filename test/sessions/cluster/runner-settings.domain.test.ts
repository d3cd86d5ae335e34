import { describe, expect, test } from '@jest/globals';
import { loadEnvironment } from '../../../config/environment.ts';
import { excessRequests } from '../../../drivers/kubernetes-runner/quantities.ts';
import { openCluster } from '../../../worker/cluster.ts';

const load = (name: string, value: string) => loadEnvironment({ [name]: value });

describe('quantities of the runner', () => {
  const GOOD = [
    '0',
    '1',
    '500m',
    '0.5',
    '.5',
    '5.',
    '1e3',
    '1E3',
    '1e-3',
    '1E+3',
    '4k',
    '4M',
    '6Gi',
    '7Ki',
    '1Ei',
    '9n',
    '9u',
  ];
  const BAD = [
    '',
    '.',
    '..',
    '1..2',
    '4ki',
    '4K',
    '4mi',
    '4GiB',
    '4 Gi',
    'Gi',
    '-1',
    '+1',
    '1e',
    '1e3k',
    '0x10',
    '1,5',
    '\u0661',
  ];

  test.each(GOOD)('%j is one', (text) => {
    expect(load('MUSTER_RUNNER_REQUESTS', JSON.stringify({ cpu: text })).MUSTER_RUNNER_REQUESTS).toEqual({ cpu: text });
    expect(load('MUSTER_RUNNER_WORKSPACE_SIZE', text).MUSTER_RUNNER_WORKSPACE_SIZE).toBe(text);
  });

  test.each(BAD)('%j is none', (text) => {
    const variables = ['MUSTER_RUNNER_REQUESTS', 'MUSTER_RUNNER_LIMITS'];
    for (const name of variables)
      expect(() => load(name, JSON.stringify({ cpu: text }))).toThrow(`${name}: cpu: must be`);
    if (text !== '') expect(() => load('MUSTER_RUNNER_WORKSPACE_SIZE', text)).toThrow(/must be a quantity/);
  });

  test.each<[Record<string, string>, Record<string, string>, string[]]>([
    [{}, {}, []],
    [{ memory: '4Gi', cpu: '500m' }, { memory: '6Gi', cpu: '8' }, []],
    [{ memory: '4Gi', cpu: '1' }, { memory: '4096Mi', cpu: '1000m' }, []],
    [{ memory: '4Gi' }, {}, []],
    [{}, { memory: '4Gi' }, []],
    [{ memory: '8Gi', cpu: '2' }, { memory: '6Gi', cpu: '8' }, ['memory: 8Gi is more than the limit, 6Gi']],
    [
      { memory: '4Gi', cpu: '2' },
      { memory: '4G', cpu: '1.5' },
      ['memory: 4Gi is more than the limit, 4G', 'cpu: 2 is more than the limit, 1.5'],
    ],
  ])('requests %j within limits %j', (requests, limits, mistakes) => {
    expect(excessRequests(requests, limits)).toEqual(mistakes);
  });

  test('a worker that would request more than it allows does not start', async () => {
    const env = loadEnvironment({
      MUSTER_RUNNER_AEE_IMAGE: 'aee:1',
      MUSTER_RUNNER_UTIL_IMAGE: 'util:1',
      MUSTER_RUNNER_INGEST_URL: 'http://ingest:8101',
      MUSTER_RUNNER_REQUESTS: '{"memory": "8Gi"}',
    });
    const words = 'MUSTER_RUNNER_REQUESTS: memory: 8Gi is more than the limit, 6Gi (MUSTER_RUNNER_LIMITS)';
    await expect(openCluster(env)).rejects.toThrow(words);
  });
});

describe('the address at which pods reach Muster', () => {
  test.each([
    ['http://ingest:8101', 'http://ingest:8101'],
    ['https://muster.example/ingest/', 'https://muster.example/ingest'],
    ['https://[fd00::1]:8101', 'https://[fd00::1]:8101'],
  ])('%s', (text, address) => {
    expect(load('MUSTER_RUNNER_INGEST_URL', text).MUSTER_RUNNER_INGEST_URL).toBe(address);
  });

  test.each(['http://ingest:8101/?site=a', 'http://ingest:8101?', 'http://ingest:8101/#a', 'http://u:pw@ingest:8101'])(
    '%s is none that a pod can use',
    (text) => {
      const words = 'MUSTER_RUNNER_INGEST_URL: must be a base URL, without user, ? and #';
      expect(() => load('MUSTER_RUNNER_INGEST_URL', text)).toThrow(words);
    },
  );
});
