/** Sessions on images with everything real but the image service itself: its shells are real logins. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type FakeImageService, startImageService } from '../../support/images/image-service-server.ts';
import { type ImageShellServers, imageShellsMissing, serveImageShells } from '../../support/images/image-shells.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const PLAYBOOK = `
- hosts: Compute
  gather_facts: false
  tasks:
    - raw: printf "{{ inventory_hostname }} {{ cray_cfs_image }}" >/tmp/hello
    - fail: {msg: not this one}
      when: inventory_hostname in bad | default([])
`;
const BASE = `
- hosts: Compute
  gather_facts: false
  tasks:
    - raw: printf base >/tmp/base
`;
/** Needs what the layer before has made, and fails on images until they are mended. */
const TOP = `
- hosts: Compute
  gather_facts: false
  tasks:
    - raw: test -e /tmp/base
    - fail: {msg: not yet}
      when: inventory_hostname in bad and query('fileglob', mended) | length == 0
`;
const SLOW = `
- hosts: cfs_image
  gather_facts: false
  tasks:
    - raw: printf begun >/tmp/begun
    - command: sleep 300
`;
const GATE = `
- hosts: cfs_image
  gather_facts: false
  tasks:
    - raw: printf begun >/tmp/begun
    - raw: for turn in $(seq 600); do [ -e /tmp/go ] && exit 0; sleep 0.2; done; exit 1
`;

describeNeeding(stackMissing() ?? imageShellsMissing(), 'sessions on images', () => {
  let stack: MusterStack;
  let service: FakeImageService;
  let shells: ImageShellServers;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-images-'));
    service = await startImageService();
    service.token = 'ims-token';
    shells = serveImageShells(service, dir);
    stack = await startMusterStack({ MUSTER_IMS_URL: `${service.url}/v2`, MUSTER_IMS_TOKEN: 'ims-token' });
    const repository = await stack.repository('plays');
    const layers = { 'base.yml': BASE, 'top.yml': TOP };
    await repository.commit({ 'site.yml': PLAYBOOK, 'slow.yml': SLOW, 'gate.yml': GATE, ...layers });
    await stack.configure('layers', repository.url, Object.keys(layers), []);
    await stack.configure('gate', repository.url, ['gate.yml'], []);
    await stack.configure('images', repository.url, ['site.yml'], []);
    await stack.configure('slow', repository.url, ['slow.yml'], []);
  }, 600_000);
  afterAll(async () => {
    await stack?.remove();
    await shells?.stop();
    await service?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const targetOf = (members: string[], image_map: object[] = []) => ({
    target: { definition: 'image', groups: [{ name: 'Compute', members }], image_map },
  });
  const jobsOf = (name: string) => [...service.jobs.values()].filter((job) => job.ssh_containers[0]?.name === name);

  test('two images become two new ones, each with the name that was asked for', async () => {
    const [a, b] = [service.addImage('compute'), service.addImage('uan')];
    const name = await stack.create('two', 'images', targetOf([a, b], [{ source_id: b, result_name: 'uan-new' }]));
    const session = await stack.untilComplete(name, 240_000);
    expect(session.status.session).toMatchObject({
      succeeded: 'true',
      message: expect.stringContaining('2 of 2 images'),
    });
    const names = session.images.map((image: { result_name: string }) => image.result_name);
    expect(names).toEqual(['compute_cfs_two', 'uan-new']);
    const artifacts = session.status.artifacts as { image_id: string; result_id: string; type: string }[];
    expect(artifacts.map(({ image_id, type }) => [image_id, type]).sort()).toEqual(
      [a, b].sort().map((id) => [id, 'ims_customized_image']),
    );
    for (const { image_id, result_id } of artifacts) {
      expect(service.images.get(result_id)?.name).toBe(image_id === a ? 'compute_cfs_two' : 'uan-new');
      expect(await readFile(join(shells.tmpOf(image_id), 'hello'), 'utf8')).toMatch(`${image_id} True`);
    }
    const { ims_job, ims_jobs } = session.status.session;
    expect([...ims_jobs].sort()).toEqual(
      jobsOf(name)
        .map(({ id }) => id)
        .sort(),
    );
    expect(ims_jobs).toContain(ims_job);
    expect((await stack.call('GET', `/v2/sessions/${name}`)).body.status.session).not.toHaveProperty('ims_jobs');
    expect(service.keys.size).toBe(0);
    expect(await stack.sql(`select name from secrets where name like 'muster-image-%'`)).toEqual([]);
  }, 600_000);

  test('one that fails costs only itself: the session failed, the other is there', async () => {
    const [good, bad] = [service.addImage('good'), service.addImage('bad')];
    const passthrough = `-e '{"bad": ["${bad}"]}'`;
    const name = await stack.create('part', 'images', { ...targetOf([good, bad]), ansible_passthrough: passthrough });
    const session = await stack.untilComplete(name, 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'false' });
    expect(session.status.artifacts).toEqual([
      { image_id: good, result_id: expect.any(String), type: 'ims_customized_image' },
    ]);
    expect(session.images).toMatchObject([
      { image_id: good, state: 'customized' },
      { image_id: bad, state: 'failed', result_id: null, message: 'layer 1 failed' },
    ]);
    expect(jobsOf(name).map(({ artifact_id }) => artifact_id)).toEqual([good]);
    expect([...service.images.values()].map((image) => image.name)).not.toContain('bad_cfs_part');
    expect(service.keys.size).toBe(0);
  }, 600_000);

  test('a limit leaves an image out: it is no failure and no artifact; there is nothing to retry', async () => {
    const [within, without] = [service.addImage('within'), service.addImage('without')];
    const name = await stack.create('limited', 'images', { ...targetOf([within, without]), ansible_limit: within });
    const session = await stack.untilComplete(name, 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true', message: expect.stringContaining('1 left out') });
    expect(session.images).toMatchObject([
      { image_id: within, state: 'customized' },
      { image_id: without, state: 'dropped', result_id: null, message: `left out by the limit ${within}` },
    ]);
    expect(jobsOf(name).map(({ artifact_id }) => artifact_id)).toEqual([within]);
    const retry = await stack.call('POST', `/api/v1/sessions/${name}/retry`, { hosts: 'failed' });
    expect(retry.body.code).toBe('nothing_failed');
  }, 600_000);

  test('a retry runs every layer again, on the image that failed alone', async () => {
    const [good, bad] = [service.addImage('fine'), service.addImage('mended')];
    const image_map = [
      { source_id: good, result_name: 'fine-new' },
      { source_id: bad, result_name: 'at-last' },
    ];
    const mended = join(dir, 'is-mended');
    const ansible_passthrough = `-e '{"bad": ["${bad}"], "mended": "${mended}"}'`;
    const name = await stack.create('begun', 'layers', { ...targetOf([good, bad], image_map), ansible_passthrough });
    const first = await stack.untilComplete(name, 240_000);
    expect(first.images).toMatchObject([{ state: 'customized' }, { state: 'failed', message: 'layer 2 failed' }]);
    await writeFile(mended, '');
    const retry = await stack.call('POST', `/api/v1/sessions/${name}/retry`, { hosts: 'failed', name: 'begun-again' });
    expect(retry.status).toBe(201);
    const again = await stack.untilComplete('begun-again', 240_000);
    expect(again.status.session).toMatchObject({
      succeeded: 'true',
      message: expect.stringContaining('1 of 1 images'),
    });
    expect(again.target).toMatchObject({
      groups: [{ name: 'Compute', members: [bad] }],
      image_map: image_map.slice(1),
    });
    expect(again.images).toMatchObject([{ image_id: bad, result_name: 'at-last', state: 'customized' }]);
    expect(again.attempts.map(({ layer }: { layer: number }) => layer)).toEqual([0, 1]);
    expect(await readFile(join(shells.tmpOf(bad), 'base'), 'utf8')).toBe('base');
    expect([...service.images.values()].filter((image) => image.name === 'fine-new')).toHaveLength(1);
  }, 600_000);

  test('a cancel while the playbook runs ends the jobs of all images', async () => {
    const [a, b] = [service.addImage('one'), service.addImage('other')];
    const name = await stack.create('gone', 'slow', targetOf([a, b]));
    await stack.untilWritten(join(shells.tmpOf(a) || dir, 'begun'), 'begun', 1).catch(() => undefined);
    await eventually(
      'the playbook has begun in both',
      async () => {
        const begun = await Promise.all(
          [a, b].map((id) => readFile(join(shells.tmpOf(id), 'begun'), 'utf8').catch(() => '')),
        );
        return begun.every((text) => text === 'begun');
      },
      240_000,
    );
    expect((await stack.call('POST', `/api/v1/sessions/${name}/cancel`, {})).status).toBe(202);
    const session = await stack.untilComplete(name);
    expect(session.status.session).toMatchObject({ succeeded: 'false' });
    expect(jobsOf(name)).toEqual([]);
    expect(session.images).toMatchObject([{ state: 'dropped' }, { state: 'dropped' }]);
    expect(await stack.sql(`select name from secrets where name like 'muster-image-%'`)).toEqual([]);
  }, 600_000);

  test('an image service that is away in the middle costs time and nothing else', async () => {
    const id = service.addImage('patient');
    const says = (name: string, what: RegExp) =>
      eventually(
        `the session says ${what}`,
        async () => what.test((await stack.session(name)).status.session.message ?? ''),
        240_000,
      );
    await service.stop();
    const name = await stack.create('patient', 'gate', targetOf([id]));
    await says(name, /ECONNREFUSED/);
    await service.start();
    await eventually(
      'the playbook has begun',
      async () => (await readFile(join(shells.tmpOf(id), 'begun'), 'utf8').catch(() => '')) === 'begun',
      240_000,
    );
    await service.stop();
    await writeFile(join(shells.tmpOf(id), 'go'), '');
    await says(name, /ECONNREFUSED/);
    await service.start();
    const session = await stack.untilComplete(name, 240_000);
    expect(session.status.session).toMatchObject({ succeeded: 'true' });
    expect(session.images).toMatchObject([{ image_id: id, state: 'customized' }]);
    expect(jobsOf(name)).toHaveLength(1);
    expect(service.keys.size).toBe(0);
  }, 600_000);
});
