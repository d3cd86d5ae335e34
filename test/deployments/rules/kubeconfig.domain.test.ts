import { describe, expect, test } from '@jest/globals';
import { credentialOf } from '../../../domain/deployments/kubeconfig.ts';
import { refusalOf } from './refusal.ts';

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
}

const TOKEN = 'hunter2-token';

function kubeconfig({ cluster = {}, user = { token: TOKEN } }: Parts = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [
      { name: 'other', context: { cluster: 'evil', user: 'evil' } },
      { name: 'main', context: { cluster: 'c', user: 'u', namespace: 'x' } },
    ],
    clusters: [
      { name: 'evil', cluster: { server: 'http://evil' } },
      { name: 'c', cluster: { server: 'https://north.example:6443', ...cluster } },
    ],
    users: [
      { name: 'evil', user: { exec: { command: 'touch' } } },
      { name: 'u', user },
    ],
  };
}

describe('a kubeconfig', () => {
  test('gives what the current context needs, and nothing of others', () => {
    const cluster = {
      'certificate-authority-data': 'Q0E=',
      'tls-server-name': 'kubernetes',
      'insecure-skip-tls-verify': false,
    };
    expect(credentialOf(kubeconfig({ cluster }))).toEqual({
      server: 'https://north.example:6443',
      tlsServerName: 'kubernetes',
      certificateAuthority: 'Q0E=',
      user: { token: TOKEN },
    });
    const user = { 'client-certificate-data': 'Q0VSVA==', 'client-key-data': 'S0VZ' };
    expect(credentialOf(kubeconfig({ user })).user).toEqual({ certificate: 'Q0VSVA==', key: 'S0VZ' });
  });

  test.each<[string, Parts]>([
    ['users.exec', { user: { exec: { command: 'touch', args: ['/tmp/canary'] } } }],
    ['users.auth-provider', { user: { token: TOKEN, 'auth-provider': { name: 'gcp' } } }],
    ['users.tokenFile', { user: { tokenFile: '/etc/passwd' } }],
    ['users.client-certificate', { user: { 'client-certificate': '/etc/passwd' } }],
    ['users.client-key', { user: { token: TOKEN, 'client-key': '/etc/passwd' } }],
    ['users.username', { user: { username: 'admin', password: 'x' } }],
    ['users.as', { user: { token: TOKEN, as: 'system:admin' } }],
    ['users.as-groups', { user: { token: TOKEN, 'as-groups': ['system:masters'] } }],
    ['users.token', { user: { token: 'two words' } }],
    ['users.token', { user: { token: 'a\r\nX-Other: b' } }],
    ['users.token', { user: { token: 7 } }],
    ['users', { user: {} }],
    ['users.client-key-data', { user: { 'client-certificate-data': 'Q0VSVA==' } }],
    ['users.token', { user: { token: TOKEN, 'client-key-data': 'S0VZ' } }],
    ['clusters.certificate-authority', { cluster: { 'certificate-authority': '/etc/passwd' } }],
    ['clusters.proxy-url', { cluster: { 'proxy-url': 'http://proxy' } }],
    ['clusters.insecure-skip-tls-verify', { cluster: { 'insecure-skip-tls-verify': true } }],
    ['clusters.insecure-skip-tls-verify', { cluster: { 'insecure-skip-tls-verify': 'yes' } }],
    ['clusters.server', { cluster: { server: 'http://north.example' } }],
    ['clusters.server', { cluster: { server: 'https://user:pw@north.example' } }],
    ['clusters.server', { cluster: { server: 'https://north.example/?a=b' } }],
    ['clusters.server', { cluster: { server: 'https://north.example/#a' } }],
    ['clusters.server', { cluster: { server: 'https://north.example:99999' } }],
    ['clusters.server', { cluster: { server: 'https://north.example/a/../b' } }],
    ['clusters.server', { cluster: { server: '' } }],
  ])('is refused for %s', (field, parts) => {
    const refused = refusalOf(() => credentialOf(kubeconfig(parts)));
    expect(refused).toMatchObject({ code: 'invalid_kubeconfig', field });
    expect(JSON.stringify(refused)).not.toMatch(/hunter2|passwd|canary|user:pw/);
  });

  test.each<[unknown]>([
    [null],
    ['text'],
    [[]],
    [{}],
    [{ ...kubeconfig(), 'current-context': 'nowhere' }],
    [{ ...kubeconfig(), users: [] }],
    [{ ...kubeconfig(), clusters: 'c' }],
    [{ ...kubeconfig(), contexts: [{ name: 'main' }] }],
  ])('that is none, or refers to nothing, is refused: %j', (given) => {
    expect(refusalOf(() => credentialOf(given))?.code).toBe('invalid_kubeconfig');
  });

  test.each(['https://10.0.0.1', 'https://[::1]:6443', 'https://a.example/k8s/clusters/c-1'])(
    'may name %s',
    (server) => {
      expect(credentialOf(kubeconfig({ cluster: { server } })).server).toBe(server);
    },
  );
});
