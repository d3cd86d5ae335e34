/** A certificate that is renewed while a session's Job goes on, as the host sees it to which the next layer logs in. */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseCertificate } from '../../../domain/trust/ssh-certificate.ts';
import { type SshServer, sshMissing, startSshServer } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { type ClusterStack, startClusterStack } from '../../support/kubernetes/cluster-stack.ts';
import { hostAddress } from '../../support/kubernetes/dev-cluster.ts';
import { type JobSessions, openJobSessions } from '../../support/kubernetes/job-sessions.ts';
import { describeNeeding } from '../../support/requirement.ts';

/** Life of a certificate here, seconds; it is renewed when half of it is over. */
const TTL = 60;
/** What the host was shown by whoever logs in; a certificate is no secret. */
const SHOWN = `
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.shell: cat $SSH_USER_AUTH
      register: auth
      changed_when: false
    - ansible.builtin.debug: { msg: "{{ auth.stdout }}" }
      changed_when: true
`;
const FIRST = `${SHOWN}
    - ansible.builtin.shell: until test -e {{ go }}; do sleep 0.2; done
      changed_when: false
`;
/** Every task logs in anew. */
const ALL_VARS = 'ansible_ssh_args: -o ControlMaster=no -o ControlPersist=no\n';

describeNeeding(sshMissing(), 'a session of two layers in a pod without any right', () => {
  let cluster: ClusterStack;
  let sessions: JobSessions;
  let server: SshServer;
  let way: TcpProxy;

  beforeAll(async () => {
    const { username } = userInfo();
    cluster = await startClusterStack({ MUSTER_TRUST_TTL: String(TTL), MUSTER_TRUST_PRINCIPALS: username });
    sessions = openJobSessions(cluster);
    const { stack } = cluster;
    const trustedAuthorities = await eventually('there is a certificate authority', async () => {
      const { status, body } = await stack.call('GET', '/api/v1/trust/ca');
      return status === 200 ? String(body) : null;
    });
    server = await startSshServer(join(stack.dataDir, 'host'), { trustedAuthorities, exposesAuth: true });
    way = await openProxy(`127.0.0.1:${server.port}`, hostAddress());
    const repository = await stack.repository('config');
    await repository.commit({ 'first.yml': FIRST, 'second.yml': SHOWN, 'group_vars/all.yml': ALL_VARS });
    await stack.configure('two', cluster.repositoryUrl('config'), ['first.yml', 'second.yml'], []);
    const tags = {
      ansible_host: hostAddress(),
      ansible_port: way.address.split(':')[1] ?? '',
      ansible_user: username,
      ansible_connection: 'ssh',
      ansible_python_interpreter: '/usr/bin/python3',
    };
    expect((await stack.call('PUT', '/v3/components', [{ id: 'host', enabled: false, tags }])).status).toBe(200);
  }, 600_000);
  afterAll(async () => {
    await way?.cut();
    await server?.stop();
    await cluster?.remove();
  }, 240_000);

  async function logOf(session: string): Promise<string> {
    const { body } = await cluster.stack.call('GET', `/api/v1/sessions/${session}/logs?limit=1000`);
    return body.logs.map(({ text }: { text: string }) => text).join('');
  }

  /** Ends of the certificates that the host was shown, in the order of the layers, ms. */
  async function shownTo(session: string): Promise<number[]> {
    const log = await logOf(session);
    expect(log.includes('PRIVATE KEY')).toBe(false);
    return [...log.matchAll(/\S+-cert-v01@openssh[.]com [A-Za-z0-9+/=]+/g)].map(([line]) => endOf(line));
  }

  /** When the certificate in the Secret of its Job ends, ms. */
  async function inSecret(job: string): Promise<number> {
    const secret = await cluster.namespace.read<{ data: { certificate: string } }>(`secrets/${job}`);
    return endOf(Buffer.from(secret?.data.certificate ?? '', 'base64').toString());
  }

  function endOf(line: string): number {
    const end = parseCertificate(line)?.validBefore ?? Number.NaN;
    expect(end).toBeGreaterThan(0);
    return end;
  }

  /** Creates a session and waits until its first layer is at the host; answers its Job, and how to let that layer end. */
  async function begun(name: string): Promise<{ job: string; first: number; letGo: () => Promise<void> }> {
    const go = join(cluster.stack.dataDir, `go-${name}`);
    await cluster.stack.create(name, 'two', { ansible_passthrough: `-e go=${go}` });
    const atHost = async () => {
      const { status } = await cluster.stack.session(name);
      if (status.session.status === 'complete') throw new Error(`${status.session.message}: ${await logOf(name)}`);
      return (await shownTo(name))[0];
    };
    const first = await eventually('the first layer is at the host', atHost, 180_000);
    return { job: await sessions.jobOf(name), first, letGo: () => writeFile(go, '') };
  }

  test('the next layer logs in with the certificate that was written into the Secret a moment ago', async () => {
    const { job, first, letGo } = await begun('renewed');
    const renewed = await eventually(
      'a renewed certificate is in the Secret',
      async () => {
        const end = await inSecret(job);
        return end > first ? end : null;
      },
      3 * TTL * 1000,
    );
    await letGo();
    expect(await sessions.ended('renewed')).toMatchObject({ succeeded: 'true' });
    const [, second = 0, ...more] = await shownTo('renewed');
    expect(more).toEqual([]);
    expect(second).toBeGreaterThanOrEqual(renewed);
  }, 900_000);

  test('one that has ended while there was no worker is renewed before the next layer logs in', async () => {
    const { stack } = cluster;
    const { job, first, letGo } = await begun('ended');
    const worker = await stack.pidOf('worker');
    process.kill(worker, 'SIGSTOP');
    try {
      const last = await inSecret(job);
      await letGo();
      await eventually('that certificate has ended', async () => Date.now() > last, 3 * TTL * 1000);
    } finally {
      process.kill(worker, 'SIGKILL');
    }
    const { succeeded, message } = await sessions.ended('ended');
    expect([succeeded, message]).toEqual(['true', '2 layers done on 1 host']);
    expect((await shownTo('ended'))[1]).toBeGreaterThan(first);
  }, 900_000);
});
