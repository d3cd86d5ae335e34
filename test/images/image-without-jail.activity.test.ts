/** A login beside an image in which links or files stand where folders are looked for: refused at once with the reason, or of no account. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { BuildLimits, ImageBuilder, OpenRequest } from '../../domain/images/image-builder.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { freePort } from '../support/free-port.ts';
import { inImage, type LoginKey, makeLoginKey } from '../support/images/image-login.ts';
import { describeTree, imagesMissing, makeBusyboxTar } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const run = promisify(execFile);
const LIMITS: BuildLimits = { maxBytes: 1024 ** 3, seconds: 60, keepFree: 0 };
const never = new AbortController().signal;

describeNeeding(imagesMissing(), 'a login beside an image', () => {
  let dir: string;
  let tar: string;
  let key: LoginKey;
  let builder: ImageBuilder;
  const jobId = 'beside';

  beforeAll(async () => {
    dir = await mkdtemp('/var/tmp/muster-beside-');
    await chmod(dir, 0o755);
    tar = await makeBusyboxTar(dir);
    key = makeLoginKey(dir);
    builder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
  });
  afterEach(() => builder.remove(jobId));
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** An image in which the command was run, from its root. */
  const imageAfter = async (command: string) => {
    await builder.unpack({ jobId, source: tar, format: 'tar', limits: LIMITS }, never, () => undefined);
    const root = builder.rootOf(jobId);
    await run('sh', ['-c', command], { cwd: root });
    return root;
  };
  const request = async (): Promise<OpenRequest> => ({
    jobId,
    publicKey: key.publicKey,
    port: await freePort(),
    jail: false,
    hostname: 'image-under-work',
    environment: {},
  });

  test.each([
    ['/dev', 'rm -rf dev; ln -s /dev dev'],
    ['/dev', 'rm -rf dev; echo file > dev'],
    ['/proc', 'rm -rf proc; ln -s nowhere proc'],
    ['/proc', 'rm -rf proc; ln -s /etc proc'],
  ])('is refused where %s is no folder: %s', async (path, command) => {
    await imageAfter(command);
    const detail = `${path} of the image is no folder, so nothing can be mounted there`;
    await expect(builder.open(await request(), never)).rejects.toMatchObject({ code: 'image_root_unsafe', detail });
  });

  test.each(['ln -s nowhere tmp', 'ln -s tmp tmp', 'echo file > tmp'])('needs no /tmp of it: %s', async (command) => {
    const root = await imageAfter(`rm -rf tmp; ${command}`);
    const before = await describeTree(root);
    const { port } = await builder.open(await request(), never);
    await inImage(port, key, 'touch /mnt/image/complete');
    expect(await builder.state(jobId)).toBe('complete');
    await builder.close(jobId);
    expect(await describeTree(root)).toEqual(before);
  });
});
