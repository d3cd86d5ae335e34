/** The client of an image service: against a stand-in that behaves as the contract says, and with what can go wrong. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHttpImageService } from '../../drivers/image-service/http-image-service.ts';
import { imageServiceContract } from '../support/images/image-service-contract.ts';
import { type FakeImageService, startImageService } from '../support/images/image-service-server.ts';

let server: FakeImageService;
let dir: string;
beforeAll(async () => {
  server = await startImageService();
  dir = await mkdtemp(join(tmpdir(), 'muster-ims-'));
});
beforeEach(() => {
  server.trouble = () => null;
  server.token = null;
});
afterAll(async () => {
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

const never = new AbortController().signal;
const client = (given: Partial<Parameters<typeof createHttpImageService>[0]> = {}) =>
  createHttpImageService({ url: server.url, timeoutMs: 60_000, ...given });
const addImage = async (name: string) => server.addImage(name);

describe('keeps the contract', () => imageServiceContract(() => ({ service: client(), addImage })));
describe('keeps it below a prefix', () =>
  imageServiceContract(() => ({ service: client({ url: `${server.url}/v2` }), addImage })));

test('sends what a session asks for, and nothing that a closed schema would refuse', async () => {
  const service = client();
  const imageId = server.addImage('i');
  const publicKeyId = await service.createPublicKey('k', 'ssh-ed25519 AAAA', never);
  const wanted = { imageId, resultName: 'r', publicKeyId, shellName: 's' };
  const plain = await service.createJob({ ...wanted, requireDkms: false }, never);
  const dkms = await service.createJob({ ...wanted, requireDkms: true }, never);
  expect(server.jobs.get(plain.id)).toMatchObject({ job_type: 'customize', require_dkms: false });
  expect(server.jobs.get(dkms.id)?.require_dkms).toBe(true);
  expect(server.jobs.get(plain.id)?.ssh_containers).toMatchObject([{ name: 's', jail: true }]);
});

test.each([
  [400, 'image_service_refused'],
  [401, 'image_service_refused'],
  [422, 'image_service_refused'],
  [408, 'image_service_unavailable'],
  [429, 'image_service_unavailable'],
  [500, 'image_service_unavailable'],
  [503, 'image_service_unavailable'],
])('an answer %i is %s, with the reason of the service', async (status, code) => {
  server.trouble = () => ({ kind: 'status', status });
  const work = client().listJobs(never);
  await expect(work).rejects.toMatchObject({ code, detail: expect.stringContaining('as the test wants it') });
});

test.each([['lost' as const], ['silent' as const]])('an answer that is %s is trouble that passes', async (kind) => {
  server.trouble = () => ({ kind });
  const work = client({ timeoutMs: 200 }).listJobs(never);
  await expect(work).rejects.toMatchObject({ code: 'image_service_unavailable' });
});

test('a service that is away is trouble that passes, and what is no service too', async () => {
  await server.stop();
  await expect(client().getImage('x', never)).rejects.toMatchObject({ code: 'image_service_unavailable' });
  await server.start();
  const keys = client({ url: `${server.url}/v2/images/..` }).findPublicKeys('x', never);
  expect(await keys).toEqual([]);
});

test('shows its token, which a file may renew, and never tells it', async () => {
  server.token = 'first';
  expect(await client({ token: 'first' }).listJobs(never)).toBeInstanceOf(Array);
  const file = join(dir, 'token');
  await writeFile(file, 'first\n');
  const service = client({ tokenFile: file });
  expect(await service.listJobs(never)).toBeInstanceOf(Array);
  server.token = 'second';
  const refused = await service.listJobs(never).catch((error: Error) => error);
  expect(refused).toMatchObject({ code: 'image_service_refused' });
  expect(String(refused)).not.toContain('first');
  await writeFile(file, 'second\n');
  expect(await service.listJobs(never)).toBeInstanceOf(Array);
});

test('a cancel breaks a request off', async () => {
  server.trouble = () => ({ kind: 'silent' });
  const cancel = new AbortController();
  const work = client().listJobs(cancel.signal);
  setImmediate(() => cancel.abort());
  await expect(work).rejects.toMatchObject({ code: 'image_service_unavailable' });
});
