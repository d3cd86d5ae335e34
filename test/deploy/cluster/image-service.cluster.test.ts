/** Muster's own image service on a cluster: one pod with named rights, logins from the pods of Jobs. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { inImage, type LoginKey, makeLoginKey } from '../../support/images/image-login.ts';
import { type ImageTransfer, openImageTransfer } from '../../support/images/image-transfer.ts';
import { debianTar, imagesMissing } from '../../support/images/root-file-systems.ts';
import { type ChartSite, makeChartSite } from '../../support/kubernetes/chart-site.ts';
import { clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import { hostAddress } from '../../support/kubernetes/dev-cluster.ts';
import { type HostVolumes, makeHostVolumes } from '../../support/kubernetes/host-volumes.ts';
import type { InstalledChart } from '../../support/kubernetes/installed-chart.ts';
import { describeNeeding } from '../../support/requirement.ts';

const run = promisify(execFile);
const POD = 'muster-images-0';
const SERVICE = 'muster-images';
const CLAIMS = { files: 'muster-images', jobs: 'muster-images-jobs' };
/** The second of two layers: it waits before it first needs its images. */
const LATER = `- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.uri: {url: "{{ gate }}", timeout: 900}
      delegate_to: localhost
    - ansible.builtin.copy: {dest: /etc/later, content: "after the pod was replaced\\n"}
`;

/** The container's capabilities by their numbers: what docs/lanes/images.md names. */
const CAPABILITIES = {
  ...{ CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, FSETID: 4, SETGID: 6, SETUID: 7 },
  ...{ SETPCAP: 8, SYS_CHROOT: 18, SYS_ADMIN: 21, MKNOD: 27, AUDIT_WRITE: 29, SETFCAP: 31 },
};

const PLAYBOOK = `- hosts: all
  gather_facts: true
  tasks:
    - ansible.builtin.copy: {dest: /etc/customised, content: "{{ ansible_facts.distribution }} {{ cray_cfs_image }}\\n"}
    - ansible.builtin.command: mknod /etc/null c 1 3
    - ansible.builtin.command: ln /etc/customised /etc/linked
    - ansible.builtin.command: setcap cap_net_raw=ep /usr/bin/env
`;

const { provider } = await clusterStatus();
const noVolumes =
  provider === 'own' ? null : `volumes are on the disk of the machine's own cluster, this is ${provider}`;

describeNeeding(noVolumes ?? imagesMissing(['mmdebstrap', 'setcap']), 'the image service of a cluster', () => {
  let site: ChartSite;
  let volumes: HostVolumes;
  let muster: InstalledChart;
  let images: ImageTransfer;
  let dir: string;
  let debian: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-image-cluster-'));
    const small = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '2Gi' } };
    const imageService = { enabled: true, resources: small, files: {}, jobs: {} };
    site = await makeChartSite({ 'customise.yml': PLAYBOOK, 'later.yml': LATER }, { imageService });
    volumes = await makeHostVolumes(site.namespace, Object.values(CLAIMS));
    const { storageClass } = volumes;
    Object.assign(imageService, { files: { storageClass }, jobs: { storageClass } });
    // Its own network policies hold for everything here, from the first pod on.
    await site.imposePolicies();
    muster = await site.install();
    images = await openImageTransfer(site.namespace);
    const tar = await debianTar();
    await eventually('the API keeps images', async () => (await muster.call('GET', '/apis/ims/images')).status === 200);
    debian = await eventually('the image is taken in', () => images.upload('debian', tar).catch(() => null), 180_000);
  }, 900_000);

  afterAll(async () => {
    await site?.remove();
    await volumes?.remove();
    await rm(dir, { recursive: true, force: true });
  }, 360_000);

  const inPod = (...words: string[]) => site.namespace.kubectl(['exec', POD, '--', ...words]);
  const podAddress = async () =>
    (await site.namespace.read<{ status: { podIP?: string } }>(`pods/${POD}`))?.status.podIP ?? '';
  const programs = async () =>
    (await inPod('sh', '-c', 'cat /proc/[0-9]*/comm 2>/dev/null || true')).split('\n').filter((name) => name !== '');
  /** The tar of an image, on the volume that the service keeps images on. */
  const tarOf = (id: string) => join(volumes.folderOf(CLAIMS.files), 'images', id, 'rootfs.tar');
  const fileIn = async (id: string, path: string) => (await run('tar', ['-xOf', tarOf(id), `./${path}`])).stdout;
  const unpacked = async (id: string) => {
    const [file, root] = [join(dir, `${id}.tar`), join(dir, id)];
    await images.download(id, file);
    await mkdir(root);
    await run('tar', ['--xattrs', '--xattrs-include=*', '--numeric-owner', '-C', root, '-xpf', file]);
    return root;
  };

  /** Nothing of a job is left: no process, no port, no folder. */
  async function expectNothingLeft(): Promise<void> {
    await eventually('the folder of the job is gone', async () => {
      return (await readdir(volumes.folderOf(CLAIMS.jobs))).join() === 'host-id';
    });
    expect(await readdir(join(volumes.folderOf(CLAIMS.files), 'incoming'))).toEqual([]);
    expect((await programs()).filter((name) => /sshd|tar|unshare|flock/.test(name))).toEqual([]);
    expect(await inPod('cat', '/proc/1/mounts')).not.toContain('/room');
    expect(await listens(await podAddress(), 22_200)).toBe(false);
  }

  test('its process has the named capabilities and no others, and no token of the cluster', async () => {
    const mask = Object.values(CAPABILITIES).reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    const wanted = mask.toString(16).padStart(16, '0');
    const status = await inPod('cat', '/proc/1/status');
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(status).toContain(`${set}:\t${wanted}\n`);
    expect(status).toMatch(/^Seccomp:\t2$/m);
    expect(await inPod('sh', '-c', 'ls /var/run/secrets 2>/dev/null || true')).toBe('');
  });

  test('a session runs as a Job and customises a real Debian by ssh into that pod', async () => {
    const target = {
      definition: 'image',
      groups: [{ name: 'compute', members: [debian] }],
      image_map: [{ source_id: debian, result_name: 'debian-custom' }],
    };
    await muster.start('custom', 'customise', { target });
    const session = await muster.untilComplete('custom', 300_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    expect(session.status.artifacts).toEqual([
      { image_id: debian, result_id: expect.any(String), type: 'ims_customized_image' },
    ]);
    const root = await unpacked(session.status.artifacts[0].result_id);
    expect(await readFile(join(root, 'etc/customised'), 'utf8')).toBe('Debian True\n');
    const { stdout: kinds } = await run('stat', ['-c', '%F %h', join(root, 'etc/null'), join(root, 'etc/linked')]);
    expect(kinds).toBe('character special file 1\nregular file 2\n');
    expect((await run('getcap', [join(root, 'usr/bin/env')])).stdout).toContain('cap_net_raw=ep');
    expect(await readdir(join(root, 'tmp'))).toEqual([]);
    const { body: jobs } = await muster.call('GET', '/apis/ims/jobs');
    expect(jobs.map(({ status, resultant_image_id }: Record<string, unknown>) => [status, resultant_image_id])).toEqual(
      [['success', session.status.artifacts[0].result_id]],
    );
    expect((await muster.call('GET', '/apis/ims/public-keys')).body).toEqual([]);
    const { body: secrets } = await muster.call('GET', '/api/v1/secrets');
    expect(JSON.stringify(secrets)).not.toContain('muster-image-');
    await expectNothingLeft();
  }, 800_000);

  test('a session goes on with its next layer when the pod was replaced meanwhile: it logs in by name', async () => {
    const layersOf = async (name: string) => (await muster.call('GET', `/v3/configurations/${name}`)).body.layers;
    const layers = [...(await layersOf('customise')), ...(await layersOf('later'))];
    expect((await muster.call('PUT', '/v3/configurations/both', { layers })).status).toBe(200);
    const target = {
      definition: 'image',
      groups: [{ name: 'compute', members: [debian] }],
      image_map: [{ source_id: debian, result_name: 'twice' }],
    };
    const gate = `http://${hostAddress()}:${site.gate.port}/later`;
    await muster.start('both', 'both', { target, ansible_passthrough: `-e gate=${gate}` });
    await site.gate.untilThere(['later']);
    const { body: jobs } = await muster.call('GET', '/apis/ims/jobs');
    const job = jobs.find(({ image_root_archive_name: name }: { image_root_archive_name: string }) => name === 'twice');
    const shell = job.ssh_containers[0].connection_info['cluster.local'];
    expect(shell.host).toBe(`${SERVICE}.${site.namespace.name}.svc`);
    const before = await podAddress();
    await site.namespace.kubectl(['delete', 'pod', POD, '--grace-period=1']);
    await eventually(
      'the shell is open again elsewhere',
      async () => {
        const now = await podAddress();
        return now !== '' && now !== before && (await listens(now, shell.port));
      },
      240_000,
    );
    site.gate.open();
    const session = await muster.untilComplete('both', 300_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    const [{ result_id: result }] = session.status.artifacts;
    expect(await fileIn(result, 'etc/customised')).toBe('Debian True\n');
    expect(await fileIn(result, 'etc/later')).toBe('after the pod was replaced\n');
    await expectNothingLeft();
  }, 900_000);

  test('a job goes on when its pod is replaced: same root, same host key, same name and port', async () => {
    const key = makeLoginKey(dir);
    const { body: known } = await muster.call('POST', '/apis/ims/public-keys', {
      name: 'k',
      public_key: key.publicKey,
    });
    const { body: made } = await muster.call('POST', '/apis/ims/jobs', {
      job_type: 'customize',
      image_root_archive_name: 'kept',
      artifact_id: debian,
      public_key_id: known.id,
      ssh_containers: [{ name: 'by-hand', jail: true }],
    });
    const job = async () => (await muster.call('GET', `/apis/ims/jobs/${made.id}`)).body;
    const shell = async () => (await job()).ssh_containers[0].connection_info?.['cluster.local'] ?? null;
    const told = await eventually(
      'the shell is open',
      async () => ((await job()).status === 'waiting_on_user' ? shell() : null),
      180_000,
    );
    // This machine does not ask the cluster's name server.
    const at = async () => ({ host: await podAddress(), port: told.port });
    const before = await at();
    expect(await inImage(before.port, key, 'echo kept >/etc/kept; cat /etc/debian_version', before)).toMatchObject({
      code: 0,
    });
    const hostKey = await hostKeyOf(before);

    await site.namespace.kubectl(['delete', 'pod', POD, '--grace-period=1']);
    const after = await eventually(
      'the shell is open again elsewhere',
      async () => {
        const now = await at().catch(() => before);
        return now.host !== before.host && now.host !== '' && (await logsIn(now, key)) ? now : null;
      },
      240_000,
    );
    expect(await shell()).toEqual(told);
    expect(await hostKeyOf(after)).toBe(hostKey);
    expect(await inImage(after.port, key, 'cat /etc/kept; touch /tmp/complete', after)).toMatchObject({
      stdout: 'kept\n',
    });
    const done = await eventually(
      'the image is there',
      async () => {
        const now = await job();
        return now.status === 'success' || now.status === 'error' ? now : null;
      },
      180_000,
    );
    expect(done).toMatchObject({ status: 'success', message: '' });
    expect(await fileIn(done.resultant_image_id, 'etc/kept')).toBe('kept\n');
    expect((await muster.call('DELETE', `/apis/ims/jobs/${made.id}`)).status).toBe(204);
    await expectNothingLeft();
  }, 900_000);

  test('nobody else works on images, and files are the API’s', async () => {
    for (const worker of await muster.pods('worker')) {
      const log = await site.namespace.kubectl(['logs', worker]);
      expect(log).not.toContain('cannot customise images');
    }
    const { stdout } = await run('stat', ['-c', '%u:%g', tarOf(debian)]);
    expect(stdout).toBe('1000:1000\n');
    expect((await muster.call('DELETE', `/api/v1/images/${debian}`)).status).toBe(204);
    expect(await readdir(join(volumes.folderOf(CLAIMS.files), 'images'))).not.toContain(debian);
  });
});

interface Shell {
  host: string;
  port: number;
}

async function logsIn(shell: Shell, key: LoginKey): Promise<boolean> {
  return (await inImage(shell.port, key, 'true', shell)).code === 0;
}

async function hostKeyOf({ host, port }: Shell): Promise<string> {
  const { stdout } = await run('ssh-keyscan', ['-t', 'ed25519', '-p', String(port), host]);
  return stdout.split(' ').slice(1).join(' ').trim();
}

function listens(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5_000 }, () => {
      socket.destroy();
      resolve(true);
    });
    const no = () => {
      socket.destroy();
      resolve(false);
    };
    socket.on('error', no);
    socket.on('timeout', no);
  });
}
