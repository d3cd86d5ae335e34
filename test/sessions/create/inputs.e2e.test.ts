import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type GitHttpServer, makeCertificates, startGitHttpServer } from '../../support/git/git-http-server.ts';
import type { TestRepository } from '../../support/git/git-repository.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const ACCOUNT = { username: 'deploy', password: 'correct-horse-battery' };
const VAULT_PASSWORD = 'vault-password-of-the-test';

const play = (hosts: string, tasks: string) => `- hosts: ${hosts}\n  gather_facts: false\n  tasks:\n${tasks}`;
const quiet = '    - ansible.builtin.command: "true"\n      changed_when: false\n';

describeNeeding(stackMissing(), 'what a session is made from', () => {
  let stack: MusterStack;
  let git: GitHttpServer;
  let repository: TestRepository;

  beforeAll(async () => {
    stack = await startMusterStack();
    repository = await stack.repository('inputs');
    await repository.commit({
      'site.yml': play('all', quiet),
      'nobody.yml': play('no_such_group', quiet),
      'mend.yml': play(
        'all',
        `    - ansible.builtin.stat:\n        path: ${stack.dataDir}/mended\n      register: mended\n` +
          '    - ansible.builtin.assert:\n        that: mended.stat.exists\n',
      ),
      'tell.yml': play(
        'all',
        "    - ansible.builtin.debug:\n        msg: \"it is {{ lookup('file', lookup('env', 'ANSIBLE_VAULT_PASSWORD_FILE')) }}\"\n",
      ),
    });
    const { caFile, tls } = makeCertificates(join(stack.dataDir, 'test-ca'));
    git = await startGitHttpServer({ root: join(stack.dataDir, 'repositories'), account: ACCOUNT, tls });
    const folder = join(stack.dataDir, 'configmaps', 'services', 'test-ca');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'ca.pem'), await readFile(caFile));
    await stack.configure('plain', repository.url, ['site.yml'], ['h1', 'h2']);
  }, 600_000);
  afterAll(async () => {
    await git?.stop();
    await stack?.remove();
  });

  const source = (name: string, password: string) =>
    stack.call('POST', '/v3/sources', {
      name,
      clone_url: `${git.origin}/inputs/.git`,
      credentials: { ...ACCOUNT, password },
      ca_cert: { configmap_name: 'test-ca' },
    });

  const layers = (name: string, ...list: object[]) => stack.call('PUT', `/v3/configurations/${name}`, { layers: list });

  const ended = async (name: string, configuration: string, more: object = {}) => {
    await stack.create(name, configuration, more);
    const session = await stack.untilComplete(name);
    const { succeeded, message } = session.status.session;
    return { succeeded, message, reason: session.reason?.code ?? null, session };
  };

  test('a source with a password and a CA of its own: branch, clone and component state', async () => {
    expect((await source('private', ACCOUNT.password)).status).toBe(201);
    const stored = await layers('private', { source: 'private', playbook: 'site.yml', branch: 'main' });
    expect(stored.status).toBe(200);
    expect(stored.body.layers[0].commit).toMatch(/^[0-9a-f]{40}$/);
    await stack.call('PATCH', '/v3/components/h1', { desired_config: 'private' });
    expect(await ended('with-source', 'private', { ansible_limit: 'h1' })).toMatchObject({ succeeded: 'true' });
    const component = await stack.call('GET', '/v3/components/h1?state_details=true');
    expect(component.body).toMatchObject({ configuration_status: 'configured', error_count: 0 });
    expect(JSON.stringify((await stack.call('GET', '/v3/sources/private')).body)).not.toContain(ACCOUNT.password);
  }, 600_000);

  test('a wrong password fails the session at once, with the reason and without the password', async () => {
    await source('locked', 'wrong-password-here');
    const { commit } = (await stack.call('GET', '/v3/configurations/private')).body.layers[0];
    await layers('locked', { source: 'locked', playbook: 'site.yml', commit });
    const { succeeded, reason, message } = await ended('locked', 'locked');
    expect({ succeeded, reason }).toEqual({ succeeded: 'false', reason: 'repository_auth_failed' });
    expect(message).not.toContain('wrong-password-here');
  }, 600_000);

  test('an additional inventory brings groups and variables; target repo lives on it alone', async () => {
    const hosts = await stack.repository('hosts');
    await hosts.commit({ '02-more.yaml': 'extra:\n  hosts:\n    box:\n      ansible_connection: local\n' });
    await stack.call('PUT', '/v3/configurations/more', {
      layers: [{ clone_url: repository.url, playbook: 'site.yml', branch: 'main' }],
      additional_inventory: { clone_url: hosts.url, branch: 'main' },
    });
    const { session } = await ended('more', 'more', { ansible_limit: 'extra' });
    expect(session.status.session.succeeded).toBe('true');
    const reached = await stack.call('GET', '/api/v1/sessions/more/hosts');
    expect(JSON.stringify(reached.body)).toContain('"box"');
    expect(await ended('repo', 'more', { target: { definition: 'repo' } })).toMatchObject({ succeeded: 'true' });
    await stack.call('PATCH', '/v3/options', { additional_inventory_url: hosts.url });
    expect(await ended('by-option', 'plain', { ansible_limit: 'extra' })).toMatchObject({ succeeded: 'true' });
    await stack.call('PATCH', '/v3/options', { additional_inventory_url: '' });
  }, 600_000);

  test('target spec names its hosts; one that Ansible would expand fails the session', async () => {
    const group = (member: string) => ({ definition: 'spec', groups: [{ name: 'few', members: [member] }] });
    const { message } = await ended('spec', 'plain', { target: group('h[0:3]') });
    expect(message).toContain('h[0:3]');
    const named = { target: group('box'), ansible_passthrough: '-e ansible_connection=local' };
    expect(await ended('spec-good', 'plain', named)).toMatchObject({ succeeded: 'true' });
    const { body } = await stack.call('GET', '/api/v1/sessions/spec-good/hosts');
    expect(JSON.stringify(body)).toContain('"box"');
  }, 600_000);

  test('a session in which no host ran any task ends as its exit status says, and says so', async () => {
    await layers('nobody', { clone_url: repository.url, playbook: 'nobody.yml', branch: 'main' });
    expect(await ended('nobody', 'nobody')).toMatchObject({
      succeeded: 'true',
      message: 'no host ran any task',
      reason: 'no_host_ran',
    });
  }, 600_000);

  test('a hold after a failure ends by a retry in place, or by finish-debug', async () => {
    await layers('mend', { clone_url: repository.url, playbook: 'mend.yml', branch: 'main' });
    const holding = (name: string) =>
      eventually(`${name} holds`, async () => (await stack.session(name)).phase === 'hold', 240_000);
    await stack.create('finished', 'mend', { ansible_limit: 'h1', debug_on_failure: true });
    await holding('finished');
    expect((await stack.call('POST', '/api/v1/sessions/finished/finish-debug')).status).toBe(202);
    expect((await stack.untilComplete('finished')).status.session.succeeded).toBe('false');

    await stack.create('mended', 'mend', { ansible_limit: 'h1,h2', debug_on_failure: true });
    await holding('mended');
    await writeFile(join(stack.dataDir, 'mended'), '');
    expect((await stack.call('POST', '/api/v1/sessions/mended/retry', { hosts: 'failed' })).status).toBe(202);
    const session = await stack.untilComplete('mended');
    expect(session.status.session.succeeded).toBe('true');
    expect(session.attempts).toHaveLength(2);
    const again = await stack.call('POST', '/api/v1/sessions/mended/retry', { hosts: 'failed' });
    expect(again).toMatchObject({ status: 409, body: { code: 'nothing_failed' } });
  }, 600_000);

  test.each([
    ['a transport helper as address', { clone_url: 'ext::sh -c id'.replaceAll(' ', '%20') }, 'repository_url_refused'],
    ['an option as address', { clone_url: '--upload-pack=id' }, 'repository_url_refused'],
  ])('%s: a failed session that says why', async (title, layer, reason) => {
    const { commit } = (await stack.call('GET', '/v3/configurations/plain')).body.layers[0];
    const name = title.replaceAll(' ', '-');
    const stored = await layers(name, { playbook: 'site.yml', commit, ...layer });
    expect(stored.status).toBe(200);
    expect(await ended(name, name)).toMatchObject({ succeeded: 'false', reason });
  });

  test.each(['../../../etc/passwd', '/etc/passwd'])('the playbook %s is refused at write', async (playbook) => {
    const answer = await layers('outside', { clone_url: repository.url, playbook, branch: 'main' });
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringContaining('layers.0.playbook')]);
  });

  test('a password that a playbook prints shows in neither log nor events', async () => {
    await stack.call('PUT', '/api/v1/secrets/ansible-vault-password/password', { value: VAULT_PASSWORD });
    await layers('tell', { clone_url: repository.url, playbook: 'tell.yml', branch: 'main' });
    expect(await ended('tell', 'tell', { ansible_limit: 'h1', ansible_verbosity: 2 })).toMatchObject({
      succeeded: 'true',
    });
    for (const path of ['logs', 'events', 'hosts']) {
      const { body } = await stack.call('GET', `/api/v1/sessions/tell/${path}`);
      expect(JSON.stringify(body)).not.toContain(VAULT_PASSWORD);
    }
    expect(JSON.stringify((await stack.call('GET', '/api/v1/sessions/tell/events')).body)).toContain('it is ********');
  }, 600_000);
});
