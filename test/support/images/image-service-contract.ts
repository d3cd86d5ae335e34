/** What every image service does for sessions, whoever answers (cfs-flows 7). */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { ImageService } from '../../../domain/images/image-service.ts';

export interface ContractPlace {
  service: ImageService;
  /** Adds an image and answers its id. */
  addImage(name: string): Promise<string>;
}

const never = new AbortController().signal;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0dH3H2o1hZ0d6yQm3Jrj1kq7p3V1n3cQ6w0o6mQm1S muster';

/** Declares the tests; `open` is called in each. */
export function imageServiceContract(open: () => ContractPlace): void {
  test('names an image, and says of another one that there is none', async () => {
    const { service, addImage } = open();
    const id = await addImage('compute');
    expect(await service.getImage(id, never)).toEqual({ id, name: 'compute' });
    await expect(service.getImage(randomUUID(), never)).rejects.toMatchObject({ code: 'image_unknown' });
  });

  test('keeps a public key until it is deleted; deleting again is harmless', async () => {
    const { service } = open();
    const name = `cfs_${randomUUID()}`;
    const id = await service.createPublicKey(name, KEY, never);
    expect(await service.findPublicKeys(name, never)).toEqual([{ id, name, publicKey: KEY }]);
    expect(await service.findPublicKeys(`${name}x`, never)).toEqual([]);
    await service.deletePublicKey(id, never);
    await service.deletePublicKey(id, never);
    expect(await service.findPublicKeys(name, never)).toEqual([]);
  });

  test('a job is known by what it was asked for, until it is deleted', async () => {
    const { service, addImage } = open();
    const imageId = await addImage('compute');
    const publicKeyId = await service.createPublicKey(`cfs_${randomUUID()}`, KEY, never);
    const resultName = `compute_cfs_${randomUUID()}`;
    const wanted = { imageId, resultName, publicKeyId, shellName: 'nightly', requireDkms: true };
    const { id, ...made } = await service.createJob(wanted, never);
    expect(made).toMatchObject({ imageId, resultName, publicKeyId, resultId: null });
    expect(made.shells.map(({ name }) => name)).toEqual(['nightly']);
    expect(await service.getJob(id, never)).toMatchObject({ id, imageId, resultName, publicKeyId });
    expect((await service.listJobs(never)).map((job) => job.id)).toContain(id);
    await service.deleteJob(id, never);
    await service.deleteJob(id, never);
    expect(await service.getJob(id, never)).toBeNull();
    expect((await service.listJobs(never)).map((job) => job.id)).not.toContain(id);
  });

  test('a job for an image or a key that is not there is refused for good', async () => {
    const { service, addImage } = open();
    const imageId = await addImage('compute');
    const publicKeyId = await service.createPublicKey(`cfs_${randomUUID()}`, KEY, never);
    const wanted = { imageId, resultName: 'r', publicKeyId, shellName: 's', requireDkms: false };
    const refused = expect.stringMatching(/^image_(unknown|service_refused)$/);
    for (const wrong of [{ imageId: randomUUID() }, { publicKeyId: randomUUID() }]) {
      await expect(service.createJob({ ...wanted, ...wrong }, never)).rejects.toMatchObject({ code: refused });
    }
    expect((await service.listJobs(never)).filter((job) => job.imageId === imageId)).toEqual([]);
  });
}
