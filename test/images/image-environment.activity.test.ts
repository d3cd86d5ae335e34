import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { ImageBuilder, OpenRequest } from '../../domain/images/image-builder.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type BusyboxBuilder, LIMITS, never, nothing, openBusyboxBuilder } from '../support/images/busybox-builder.ts';
import { inImage, type LoginKey, makeLoginKey, sshOptions } from '../support/images/image-login.ts';
import { describeTree, imagesMissing } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);

describeNeeding(imagesMissing(), 'the environment of an image', () => {
  let images: BusyboxBuilder;
  let dir: string;
  let tar: string;
  let key: LoginKey;
  let builder: ImageBuilder;

  beforeAll(async () => {
    images = await openBusyboxBuilder('images');
    ({ dir, tar, key, builder } = images);
  });
  afterEach(async () => {
    await images.removeJobs('empty');
    expect(await processesOf(dir)).toEqual([]);
    await expect(readFile('/proc/mounts', 'utf8')).resolves.not.toContain(dir);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const request = (jobId: string, more: Partial<OpenRequest> = {}) =>
    images.request(jobId, {
      hostname: 'image-under-work',
      environment: { IMS_JOB_ID: jobId, IMS_ARCH: 'x86_64', IMS_DKMS_ENABLED: 'False' },
      ...more,
    });
  const opened = async (more: Partial<OpenRequest> = {}) => {
    const jobId = await images.unpacked();
    const open = await builder.open(await request(jobId, more), never);
    const ssh = (command: string, options?: { user?: string; knownHosts?: string }) =>
      inImage(open.port, key, command, options);
    return { jobId, root: builder.rootOf(jobId), open, ssh };
  };

  test('an address may be written otherwise than sshd writes it', async () => {
    // Where the machine has two kinds of addresses.
    const hasTwo = networkInterfaces().lo?.some(({ address }) => address === '::1');
    const { open } = await opened({ address: hasTwo ? '0:0:0:0:0:0:0:1' : '127.0.0.1' });
    const socket = connect(open.port, hasTwo ? '::1' : '127.0.0.1');
    const [greeting] = await once(socket, 'data');
    socket.destroy();
    expect(String(greeting)).toMatch(/^SSH-2/);
  });

  test('this machine can do it', async () => {
    expect(await builder.check()).toEqual([]);
  });

  test('a login is root in the image, with the job in its environment and namespaces of its own', async () => {
    const { jobId, open, ssh } = await opened();
    const { stdout, code } = await ssh('id; hostname; env; ls /; ps | grep -vc KTHREAD; cat /proc/mounts');
    expect(code).toBe(0);
    expect(stdout).toContain('uid=0(root) gid=0');
    expect(stdout).toContain('\nimage-under-work\n');
    for (const line of [
      `IMS_JOB_ID=${jobId}`,
      'IMS_ARCH=x86_64',
      'IMS_DKMS_ENABLED=False',
      'SYSTEMD_OFFLINE=1',
      'SHELL=/bin/sh',
    ]) {
      expect(stdout).toContain(`${line}\n`);
    }
    expect(stdout).not.toContain(dir);
    expect(open.warnings.join()).toContain('no python3');
    const uts = await ssh('readlink /proc/self/ns/uts /proc/self/ns/ipc /proc/self/ns/pid /proc/self/ns/mnt').then(
      ({ stdout: text }) => text.trim().split('\n'),
    );
    for (const [place, name] of ['uts', 'ipc', 'pid', 'mnt'].entries()) {
      expect(uts[place]).not.toBe(await readlink(`/proc/self/ns/${name}`));
    }
  });

  test('the host key is the one that was answered, and stays when the environment is opened again', async () => {
    const { jobId, open, ssh } = await opened();
    const knownHosts = join(dir, 'known_hosts');
    await writeFile(knownHosts, `[127.0.0.1]:${open.port} ${open.hostKey}\n`);
    expect((await ssh('id', { knownHosts })).code).toBe(0);
    await killRoom(dir, jobId);
    expect(await builder.state(jobId)).toBe('gone');
    const again = await builder.open(await request(jobId), never);
    expect(again.hostKey).toBe(open.hostKey);
    expect((await inImage(again.port, key, 'id')).code).toBe(0);
  });

  test('another key, another user and a password are refused', async () => {
    const { open, ssh } = await opened();
    const other = makeLoginKey(dir, 'other');
    expect(await inImage(open.port, other, 'id')).toMatchObject({ code: 255, stdout: '' });
    expect(await ssh('id', { user: 'sshd' })).toMatchObject({ code: 255, stdout: '' });
    const methods = await inImage(open.port, other, 'id');
    expect(methods.stderr).toContain('Permission denied (publickey)');
  });

  test('it listens on 127.0.0.1 alone', async () => {
    const { open } = await opened();
    const { stdout } = await run('ssh-keyscan', ['-T', '1', '-p', String(open.port), '::1']).catch((error) => error);
    expect(stdout ?? '').toBe('');
    const local = (await readFile('/proc/net/tcp', 'utf8')).split('\n').filter((line) => line.includes(hex(open.port)));
    expect(local.some((line) => line.includes(`0100007F:${hex(open.port)} 00000000:0000 0A`))).toBe(true);
    expect(local.some((line) => line.includes(` 00000000:${hex(open.port)} `))).toBe(false);
  });

  test('files are moved without a program of the image, and a terminal is there', async () => {
    const { open, root } = await opened();
    await writeFile(join(dir, 'sent'), 'by sftp');
    const batch = join(dir, 'batch');
    await writeFile(batch, `put ${join(dir, 'sent')} /root/sent\n`);
    await run('sftp', [...sshOptions(key), '-P', String(open.port), '-b', batch, 'root@127.0.0.1']);
    expect(await readFile(join(root, 'root/sent'), 'utf8')).toBe('by sftp');
    const { stdout } = await run('ssh', [
      ...sshOptions(key),
      '-tt',
      '-p',
      String(open.port),
      'root@127.0.0.1',
      'ls /dev/pts',
    ]);
    expect(stdout).toMatch(/^0\s+ptmx/);
  });

  test('nothing of the machine is within reach: no disk, no mount, no way out of the root', async () => {
    const { jobId, root, ssh } = await opened();
    const own = await readlink('/proc/self/exe');
    const { stdout, stderr } = await ssh(
      [
        'ls -d /proc/1/root/etc/shadow /proc/1/root/var/tmp /proc/1/root/srv /proc/1/cwd/root',
        'touch /proc/1/root/usr/written && echo written',
        'mknod /tmp/disk b 8 0; dd if=/tmp/disk of=/dev/null count=1 && echo read-disk',
        'mknod /tmp/null c 1 3; echo x > /tmp/null && echo wrote-device',
        'mount -t tmpfs none /tmp && echo mounted',
        'echo 1 > /proc/sys/kernel/panic && echo set',
        'ls /dev',
      ].join('; '),
    );
    expect(stdout).toContain('/proc/1/cwd/root');
    expect(stdout).not.toMatch(/shadow|var\/tmp|\/srv|written|read-disk|wrote-device|mounted|set\n/);
    expect(stderr).toContain('Read-only file system');
    expect(
      stdout
        .slice(stdout.indexOf('cwd/root') + 9)
        .split('\n')
        .filter(Boolean)
        .sort(),
    ).toEqual(
      [
        'fd',
        'full',
        'null',
        'ptmx',
        'pts',
        'random',
        'shm',
        'stderr',
        'stdin',
        'stdout',
        'tty',
        'urandom',
        'zero',
      ].sort(),
    );
    expect((await lstat(join(root, 'tmp/disk'))).isBlockDevice()).toBe(true);
    expect(await stat(own)).toBeDefined();
    expect(await builder.state(jobId)).toBe('open');
  });

  test('two jobs at once see neither processes nor files of each other', async () => {
    const [one, two] = [await opened(), await opened()];
    await one.ssh('touch /root/of-one; setsid sleep 4711 >/dev/null 2>&1 &');
    await eventually('it is there', async () => (await one.ssh('ps')).stdout.includes('sleep 4711'));
    expect((await two.ssh('ps; ls /root')).stdout).not.toMatch(/4711|of-one/);
    await builder.close(one.jobId);
    expect((await two.ssh('id')).code).toBe(0);
  });

  test('closing ends what was left behind: setsid, double fork, a program that ignores TERM', async () => {
    const { jobId, root, ssh } = await opened();
    await ssh(
      [
        'setsid sleep 9001 >/dev/null 2>&1 &',
        '( ( setsid sleep 9002 >/dev/null 2>&1 & ) & )',
        'setsid sh -c \'trap "" TERM HUP INT; while :; do sleep 9003; done\' >/dev/null 2>&1 &',
        'nc -l -l -U /x 2>/dev/null; sleep 0',
      ].join('\n'),
    );
    await eventually(
      'all are there',
      async () => new Set((await ssh('ps')).stdout.match(/sleep 900[123]/g)).size === 3,
    );
    await builder.close(jobId);
    expect(await processesWith('sleep900')).toEqual([]);
    expect(await builder.state(jobId)).toBe('gone');
    expect(await stat(root)).toBeDefined();
  });

  test('orphans are taken up: no zombie stays', async () => {
    const { ssh } = await opened();
    await ssh('for n in 1 2 3 4 5; do ( sleep 0.1 >/dev/null 2>&1 & ) ; done');
    await eventually('no zombie is there', async () => {
      const { stdout } = await ssh('ps -o stat,comm');
      return !/^Z/m.test(stdout) && !stdout.includes('sleep');
    });
  });

  test('the image is as it came, with what the user did', async () => {
    const jobId = await images.unpacked();
    const root = builder.rootOf(jobId);
    const before = await describeTree(root);
    const open = await builder.open(await request(jobId), never);
    const { stdout } = await inImage(
      open.port,
      key,
      'cat /etc/resolv.conf; cat /usr/sbin/policy-rc.d; touch /root/made /tmp/complete',
    );
    expect(stdout).toBe(`${await readFile('/etc/resolv.conf', 'utf8')}#!/bin/sh\nexit 101\n`);
    expect(await builder.state(jobId)).toBe('complete');
    await builder.close(jobId);
    const after = await describeTree(root);
    const { "b'root/made'": made, ...others } = after;
    expect(made).toBeDefined();
    for (const tree of [before, others]) for (const touched of ["b'root'", "b'tmp'"]) delete tree[touched]?.mtime;
    expect(others).toEqual(before);
  });

  test('what the user makes of our files stays his', async () => {
    const { jobId, root, ssh } = await opened();
    await ssh('echo nameserver 192.0.2.1 > /etc/resolv.conf; rm /usr/sbin/policy-rc.d');
    await builder.close(jobId);
    expect(await readFile(join(root, 'etc/resolv.conf'), 'utf8')).toBe('nameserver 192.0.2.1\n');
    expect(await readdir(join(root, 'usr/sbin'))).toEqual([]);
  });

  test('markers: old ones are removed before the shell opens, new ones before packing', async () => {
    const jobId = await images.unpacked();
    const root = builder.rootOf(jobId);
    await writeFile(join(root, 'tmp/complete'), 'of an earlier job');
    const asked = await request(jobId);
    await builder.open(asked, never);
    expect(await builder.state(jobId)).toBe('open');
    expect((await inImage(asked.port, key, 'touch /tmp/failed')).code).toBe(0);
    expect(await builder.state(jobId)).toBe('failed');
    await killRoom(dir, jobId);
    expect(await builder.state(jobId)).toBe('failed');
    await builder.open({ ...asked, port: await freePort() }, never);
    expect(await builder.state(jobId)).toBe('failed');
    await builder.close(jobId);
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
  });

  test('without jail the login is beside the image, with its markers in /mnt/image', async () => {
    const { jobId, root, ssh } = await opened({ jail: false });
    const { stdout } = await ssh(
      'ls /mnt/image; ls /mnt/image/image-root/bin; touch /mnt/image/image-root/beside; ls -d /srv /home /var/tmp',
    );
    expect(stdout).toContain('image-root\n');
    expect(stdout).toContain('busybox\n');
    expect(stdout).not.toMatch(/^\/(srv|home|var\/tmp)$/m);
    expect(await stat(join(root, 'beside'))).toBeDefined();
    expect((await ssh('touch /usr/bin/x')).stderr).toContain('Read-only');
    expect((await ssh('chroot /mnt/image/image-root /bin/id')).stdout).toMatch(/uid=0/);
    await ssh('touch /mnt/image/complete');
    expect(await builder.state(jobId)).toBe('complete');
    await builder.close(jobId);
    expect(await readdir(join(root, '..'))).toEqual(['image-root']);
  });

  test('opening twice finds the first; another builder finds it too', async () => {
    const { jobId, open, ssh } = await opened();
    await ssh('setsid sleep 9100 >/dev/null 2>&1 &');
    const other = createImageBuilder({ jobsDir: join(dir, 'jobs') });
    await eventually('it is there', async () => (await ssh('ps')).stdout.includes('sleep 9100'));
    const found = await other.open(await request(jobId), never);
    expect(found).toEqual(open);
    expect((await ssh('ps')).stdout).toContain('sleep 9100');
  });

  test('it outlives the process that opened it, and the next one ends it', async () => {
    const jobId = await images.unpacked();
    const asked = await request(jobId);
    const program = `
      import { createImageBuilder } from ${JSON.stringify(join(import.meta.dirname, '../../drivers/image-builder/create-image-builder.ts'))};
      const builder = createImageBuilder({ jobsDir: ${JSON.stringify(join(dir, 'jobs'))} });
      console.log(JSON.stringify(await builder.open(${JSON.stringify(asked)}, new AbortController().signal)));
      setInterval(() => undefined, 1000);
    `;
    const worker = execFile(process.execPath, ['--input-type=module', '--eval', program]);
    const exited = once(worker, 'exit');
    await once(worker.stdout ?? worker, 'data');
    await inImage(asked.port, key, 'setsid sleep 9200 >/dev/null 2>&1 &');
    await eventually('it is there', async () => (await inImage(asked.port, key, 'ps')).stdout.includes('sleep 9200'));
    worker.kill('SIGKILL');
    await exited;
    expect((await inImage(asked.port, key, 'ps')).stdout).toContain('sleep 9200');
    expect(await builder.state(jobId)).toBe('open');
    expect((await builder.open(asked, never)).port).toBe(asked.port);
    await builder.close(jobId);
    await expect(canConnect(asked.port)).resolves.toBe(false);
  });

  test('a port that is taken is said so, and nothing stays', async () => {
    const jobId = await images.unpacked();
    const asked = await request(jobId);
    const server = createServer().listen(asked.port, '127.0.0.1');
    await once(server, 'listening');
    await expect(builder.open(asked, never)).rejects.toMatchObject({
      code: 'image_port_taken',
      detail: expect.stringContaining(String(asked.port)),
    });
    server.close();
    expect(await builder.state(jobId)).toBe('gone');
    await builder.open(asked, never);
  });

  test('a component of the way that others may write to is named', async () => {
    const open = join(dir, 'open-to-all');
    await mkdir(open);
    await chmod(open, 0o777);
    const unsafe = createImageBuilder({ jobsDir: join(open, 'jobs') });
    await unsafe.unpack({ jobId: 'one', source: tar, format: 'tar', limits: LIMITS }, never, nothing);
    const refused = expect.stringContaining(`${open} may be written by others (mode 0777)`);
    await expect(unsafe.open(await request('one'), never)).rejects.toMatchObject({
      code: 'image_root_unsafe',
      detail: refused,
    });
    await chmod(open, 0o755);
    await chown(open, 1234, 0);
    const owned = expect.stringContaining(`${open} belongs to user 1234`);
    await expect(unsafe.open(await request('one'), never)).rejects.toMatchObject({
      code: 'image_root_unsafe',
      detail: owned,
    });
    await chown(open, 0, 0);
    await unsafe.open(await request('one'), never);
    await unsafe.remove('one');
  });

  test('an image whose root others may write to is refused, as is one whose /proc is a link', async () => {
    const jobId = await images.unpacked();
    const root = builder.rootOf(jobId);
    await chmod(root, 0o775);
    const detail = expect.stringContaining('/ of the image may be written by others (mode 0775)');
    await expect(builder.open(await request(jobId), never)).rejects.toMatchObject({
      code: 'image_root_unsafe',
      detail,
    });
    await chmod(root, 0o755);
    await run('sh', ['-c', `rmdir ${root}/proc && ln -s /etc ${root}/proc; rm -r ${root}/tmp`]);
    await expect(builder.open(await request(jobId), never)).rejects.toMatchObject({ code: 'image_root_unsafe' });
    await run('sh', ['-c', `rm ${root}/proc && ln -s nowhere ${root}/tmp`]);
    const dangling = expect.stringContaining('/tmp of the image');
    await expect(builder.open(await request(jobId), never)).rejects.toMatchObject({ detail: dangling });
    await run('sh', ['-c', `rm ${root}/tmp`]);
    const asked = await request(jobId);
    await builder.open(asked, never);
    // The marker was in the /tmp that the image had only while it was open.
    await inImage(asked.port, key, 'touch /tmp/complete');
    await builder.close(jobId);
    expect(await readdir(root)).toEqual(['bin', 'dev', 'etc', 'root', 'usr']);
  });

  test('links of the image that lead to the machine are followed inside the image', async () => {
    const jobId = await images.unpacked();
    const root = builder.rootOf(jobId);
    await mkdir(join(dir, 'goal'));
    await writeFile(join(dir, 'goal/complete'), 'of the machine');
    await mkdir(join(root, dir, 'goal'), { recursive: true });
    await run('sh', [
      '-c',
      `rm -r ${root}/etc ${root}/tmp; ln -s ${dir}/goal ${root}/etc; ln -s ${dir}/goal ${root}/tmp`,
    ]);
    const asked = await request(jobId);
    await builder.open(asked, never);
    expect((await inImage(asked.port, key, 'cat /etc/resolv.conf')).stdout).not.toBe('');
    expect(await readdir(join(dir, 'goal'))).toEqual(['complete']);
    expect(await builder.state(jobId)).toBe('open');
    await inImage(asked.port, key, 'touch /tmp/failed');
    expect(await builder.state(jobId)).toBe('failed');
    await builder.close(jobId);
    expect(await readdir(join(dir, 'goal'))).toEqual(['complete']);
    expect(await readdir(join(root, dir, 'goal'))).toEqual([]);
  });

  test('an image without a shell, and a job without an image, are named', async () => {
    const jobId = await images.unpacked();
    await rm(join(builder.rootOf(jobId), 'bin/sh'));
    await expect(builder.open(await request(jobId), never)).rejects.toMatchObject({
      detail: expect.stringContaining('/bin/sh'),
    });
    await expect(builder.open(await request('empty'), never)).rejects.toMatchObject({
      code: 'image_environment_failed',
    });
    expect(await builder.state('empty')).toBe('gone');
    await builder.close('empty');
  });

  test('ids that are no names of folders are refused', async () => {
    expect(() => builder.rootOf('../other')).toThrow('not an id');
    expect(() => builder.rootOf('')).toThrow('not an id');
  });

  test('removing a job ends it and leaves the others', async () => {
    const [kept, lost] = [await opened(), await opened()];
    expect((await builder.list()).sort()).toEqual([kept.jobId, lost.jobId].sort());
    await builder.remove(lost.jobId);
    expect(await builder.list()).toEqual([kept.jobId]);
    expect((await kept.ssh('id')).code).toBe(0);
    await expect(canConnect(lost.open.port)).resolves.toBe(false);
  });
});

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}

/** Ends the process 1 of a job's environment, as a crash of the machine would. */
async function killRoom(dir: string, jobId: string): Promise<void> {
  const { pid } = JSON.parse(await readFile(join(dir, 'jobs', jobId, 'claim'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  await eventually('the environment is gone', () =>
    stat(`/proc/${pid}`).then(
      () => false,
      () => true,
    ),
  );
}

/** Command lines of living processes that have the word in it, blanks left out. */
async function processesWith(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (pid !== String(process.pid) && line.replaceAll('\0', '').includes(word)) found.push(line);
  }
  return found;
}

/** Processes of any environment below a folder. */
async function processesOf(dir: string): Promise<string[]> {
  return (await processesWith(join(dir, 'jobs'))).filter(
    (line) => line.startsWith('unshare') || line.startsWith('flock'),
  );
}
