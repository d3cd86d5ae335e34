import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuildLimits, ImageBuilder, OpenRequest } from '../../domain/images/image-builder.ts';
import { NEEDED } from '../../drivers/image-builder/capabilities.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { ansibleBin, ansibleMissing } from '../support/ansible/ansible.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { inImage, type LoginKey, makeLoginKey, sshOptions } from '../support/images/image-login.ts';
import { debianTar, describeTree, imagesMissing, type Tree } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);
const LIMITS: BuildLimits = { maxBytes: 4 * 1024 ** 3, seconds: 300, keepFree: 0 };
const never = new AbortController().signal;
const nothing = () => undefined;

const PLAYBOOK = `
- hosts: all
  gather_facts: true
  tasks:
    - name: who and where
      ansible.builtin.assert:
        that: [ansible_distribution == 'Debian', ansible_user_id == 'root', ansible_is_chroot]
    - name: a user with files
      ansible.builtin.user: {name: operator, uid: 4242, create_home: true, shell: /bin/bash}
    - name: a file of that user
      ansible.builtin.copy: {content: "configured\\n", dest: /home/operator/note, owner: operator, mode: '0640'}
    - name: a unit that nobody starts
      ansible.builtin.copy:
        dest: /etc/init.d/greeter
        mode: '0755'
        content: |
          #!/bin/sh
          ### BEGIN INIT INFO
          # Provides: greeter
          # Required-Start:
          # Required-Stop:
          # Default-Start: 2 3 4 5
          # Default-Stop:
          ### END INIT INFO
          touch /greeter-was-started
    - name: started as a package would do it
      ansible.builtin.command: {cmd: invoke-rc.d greeter start}
      register: started
      failed_when: false
    - ansible.builtin.assert: {that: [started.rc == 0 or started.rc == 101]}
    - name: a capability
      ansible.builtin.command: {cmd: setcap cap_net_raw+ep /usr/bin/true}
    - name: a device
      ansible.builtin.command: {cmd: mknod /root/device c 7 8}
    - name: left behind
      ansible.builtin.shell: {cmd: (setsid sleep 8642 >/dev/null 2>&1 &)}
      changed_when: true
`;

describeNeeding(imagesMissing(['mmdebstrap', 'setcap']) ?? ansibleMissing(), 'a Debian image', () => {
  let dir: string;
  let key: LoginKey;
  let source: string;
  let builder: ImageBuilder;

  beforeAll(async () => {
    dir = await mkdtemp('/var/tmp/muster-debian-');
    await chmod(dir, 0o755);
    key = makeLoginKey(dir);
    builder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
    source = await debianTar();
  }, 600_000);
  afterAll(async () => {
    for (const jobs of ['jobs', 'bounded']) {
      const left = createImageBuilder({ jobsDir: join(dir, jobs) });
      for (const jobId of await left.list()) await left.remove(jobId);
    }
    await rm(dir, { recursive: true, force: true });
    // Whole trees of Debian are removed: as long as they took to unpack.
  }, 600_000);

  const request = async (jobId: string): Promise<OpenRequest> => ({
    jobId,
    publicKey: key.publicKey,
    port: await freePort(),
    jail: true,
    hostname: 'debian',
    environment: { IMS_JOB_ID: jobId },
  });

  test('a real playbook configures it, and the result holds that and nothing else', async () => {
    await builder.unpack({ jobId: 'one', source, format: 'tar', limits: LIMITS }, never, nothing);
    const root = builder.rootOf('one');
    const before = await describeTree(root);
    const asked = await request('one');
    const open = await builder.open(asked, never);
    expect(open.warnings).toEqual([]);
    await playbook(dir, key, open.port);
    await eventually('what it left behind', async () => {
      return (await inImage(open.port, key, 'touch /tmp/complete; cat /proc/[0-9]*/cmdline')).stdout.includes('8642');
    });
    expect(await builder.state('one')).toBe('complete');
    await builder.close('one');
    const target = join(dir, 'result.tar');
    await builder.pack({ jobId: 'one', target, format: 'tar', limits: LIMITS }, never, nothing);
    await builder.unpack({ jobId: 'two', source: target, format: 'tar', limits: LIMITS }, never, nothing);
    const after = await describeTree(builder.rootOf('two'));
    expect(after["b'home/operator/note'"]).toMatchObject({ owner: [4242, 0], mode: '0o100640' });
    expect(after["b'usr/bin/true'"]?.xattrs).toHaveProperty(['security.capability']);
    expect(after["b'root/device'"]).toMatchObject({ device: [7, 8] });
    expect(after["b'greeter-was-started'"]).toBeUndefined();
    expect(await readFile(join(builder.rootOf('two'), 'home/operator/note'), 'utf8')).toBe('configured\n');
    const configured =
      /^(etc|etc\/(group|passwd|shadow|gshadow|subuid|subgid)-?|etc\/\.pwd\.lock|etc\/init\.d(\/greeter)?)$/;
    const others = changedPaths(before, after).filter(
      (path) => !configured.test(path) && !/^home(\/operator|$)/.test(path),
    );
    expect(others).toEqual(['root', 'root/device', 'tmp', 'usr/bin/true']);
  }, 600_000);

  test('it works with the capabilities that are named, and says which one is missing', async () => {
    const module = join(import.meta.dirname, '../../drivers/image-builder/create-image-builder.ts');
    const program = `
      import { createImageBuilder } from ${JSON.stringify(module)};
      const builder = createImageBuilder({ jobsDir: ${JSON.stringify(join(dir, 'bounded'))} });
      const [never, limits] = [new AbortController().signal, ${JSON.stringify(LIMITS)}];
      const lacking = await builder.check();
      if (lacking.length > 0) { console.log(JSON.stringify({ lacking })); process.exit(); }
      const jobId = 'one';
      await builder.unpack({ jobId, source: ${JSON.stringify(source)}, format: 'tar', limits }, never, () => undefined);
      const open = await builder.open(${JSON.stringify(await request('one'))}, never);
      process.stdin.once('data', async () => {
        await builder.close(jobId);
        const target = ${JSON.stringify(join(dir, 'bounded.tar'))};
        await builder.pack({ jobId, target, format: 'tar', limits }, never, () => undefined);
        console.log('packed');
        process.exit();
      });
      console.log(JSON.stringify(open));
    `;
    const bounded = (capabilities: readonly string[]) => {
      const set = ['-all', ...capabilities.map((name) => `+${name}`)].join(',');
      const args = ['--inh-caps=-all', '--bounding-set', set, '--', process.execPath];
      return execFile('setpriv', [...args, '--input-type=module', '--eval', program]);
    };
    const worker = bounded(NEEDED);
    const lines = linesOf(worker);
    const open = JSON.parse(await lines.next()) as { port: number };
    // With a terminal, as Ansible logs in.
    const login = [...sshOptions(key), '-tt', '-p', String(open.port), 'root@127.0.0.1'];
    await run('ssh', [
      ...login,
      'setcap cap_net_raw+ep /usr/bin/true && mknod /root/device c 7 8 && chown 33:33 /root/device',
    ]);
    worker.stdin?.write('go on\n');
    expect(await lines.next()).toBe('packed');
    const whole = createImageBuilder({ jobsDir: join(dir, 'jobs') });
    await whole.unpack(
      { jobId: 'bounded', source: join(dir, 'bounded.tar'), format: 'tar', limits: LIMITS },
      never,
      nothing,
    );
    const { "b'usr/bin/true'": capable, "b'root/device'": device } = await describeTree(whole.rootOf('bounded'));
    expect(capable?.xattrs).toHaveProperty(['security.capability']);
    expect(device).toMatchObject({ device: [7, 8], owner: [33, 33] });
    const lacking = JSON.parse(await linesOf(bounded(NEEDED.filter((name) => name !== 'sys_admin'))).next());
    expect(lacking).toEqual({ lacking: ['root lacks capabilities here: SYS_ADMIN'] });
    await stat(join(dir, 'bounded'));
  }, 600_000);
});

async function playbook(dir: string, key: LoginKey, port: number): Promise<void> {
  await writeFile(join(dir, 'site.yml'), PLAYBOOK);
  const host = `image ansible_host=127.0.0.1 ansible_port=${port} ansible_user=root ansible_ssh_private_key_file=${key.file}`;
  await writeFile(join(dir, 'hosts'), `${host} ansible_python_interpreter=/usr/bin/python3\n`);
  const bin = ansibleBin();
  const env = {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: dir,
    LANG: 'C.UTF-8',
    ANSIBLE_HOST_KEY_CHECKING: 'False',
    ANSIBLE_SSH_CONTROL_PATH_DIR: join(dir, `cp-${port}`),
    ANSIBLE_TRANSFER_METHOD: 'sftp',
    ANSIBLE_SSH_ARGS: '-o ControlMaster=auto -o ControlPersist=5s',
  };
  const playing = run(join(bin, 'ansible-playbook'), ['-i', join(dir, 'hosts'), join(dir, 'site.yml')], { env });
  await playing.catch((error) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
}

/** Paths that are not as they were, times included. */
function changedPaths(before: Tree, after: Tree): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  const shown = (entry: Record<string, unknown> | undefined) => JSON.stringify(entry ?? null);
  return [...paths]
    .filter((path) => shown(before[path]) !== shown(after[path]))
    .map((path) => path.slice(2, -1))
    .sort();
}

/** What a program prints, line by line; fails with what it complained about when it ends before. */
function linesOf(child: ReturnType<typeof execFile>): { next(): Promise<string> } {
  const lines: string[] = [];
  let rest = '';
  let complaints = '';
  let isClosed = false;
  child.stderr?.on('data', (text) => {
    complaints += text;
  });
  // What it wrote last may be read after it has ended.
  child.once('close', () => {
    isClosed = true;
    child.emit('line');
  });
  child.stdout?.on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    child.emit('line');
  });
  return {
    next: () =>
      new Promise((resolve, reject) => {
        const take = () => {
          const line = lines.shift();
          if (line !== undefined) resolve(line);
          else if (isClosed) reject(new Error(complaints));
          else child.once('line', take);
        };
        take();
      }),
  };
}
