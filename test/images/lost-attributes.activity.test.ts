/** An attribute that the disk does not take: the image is refused, since what is packed of it would be without. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import { createImageBuilder } from '../../drivers/image-builder/create-image-builder.ts';
import { imagesMissing } from '../support/images/root-file-systems.ts';
import { describeNeeding } from '../support/requirement.ts';

const TAR = `import io, sys, tarfile
with tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT) as tar:
    entry = tarfile.TarInfo("ping")
    entry.pax_headers = {"SCHILY.xattr." + sys.argv[2]: sys.argv[3]}
    tar.addfile(entry, io.BytesIO())
    for number in range(int(sys.argv[4])):
        entry = tarfile.TarInfo(f"odd-{number}")
        entry.pax_headers = {"UNKNOWN.word": "1"}
        tar.addfile(entry, io.BytesIO())
`;

describeNeeding(imagesMissing(), 'attributes of files that cannot be kept', () => {
  let dir: string;
  let builder: ImageBuilder;
  beforeAll(async () => {
    dir = await mkdtemp('/var/tmp/muster-attributes-');
    builder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  /** Of an archive whose `odd` last files make tar say something harmless each. */
  const unpack = async (name: string, value: string, odd = 0) => {
    const source = join(dir, 'root.tar');
    await promisify(execFile)('python3', ['-c', TAR, source, name, value, String(odd)]);
    const limits = { maxBytes: 2 ** 30, seconds: 60, keepFree: 0 };
    const request = { jobId: 'job', source, format: 'tar', limits } as const;
    return builder.unpack(request, new AbortController().signal, () => undefined);
  };

  test.each([
    ['security.capability', 'no capabilities', 0],
    ['user.big', 'v'.repeat(70_000), 0],
    ['user.big', 'v'.repeat(70_000), 300],
  ])('%s', async (name, value, odd) => {
    await expect(unpack(name, value, odd)).rejects.toMatchObject({
      code: 'image_archive_invalid',
      detail: expect.stringMatching(`^not all of a file can be kept here: .*'${name}'.*'ping'`),
    });
  });

  test('those of the administrator of the machine are no part of an image', async () => {
    await expect(unpack('trusted.overlay.opaque', 'y')).resolves.toBeGreaterThan(0);
  });
});
