/** An image builder in a folder of its own, with a BusyBox to work on and a key for logins into it. */
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildLimits, ImageBuilder, OpenRequest } from '../../../domain/images/image-builder.ts';
import { createImageBuilder } from '../../../drivers/image-builder/create-image-builder.ts';
import { freePort } from '../free-port.ts';
import { type LoginKey, makeLoginKey } from './image-login.ts';
import { makeBusyboxTar } from './root-file-systems.ts';

/** Limits that nothing small comes near to. */
export const LIMITS: BuildLimits = { maxBytes: 1024 ** 3, seconds: 60, keepFree: 0 };
export const never = new AbortController().signal;
export const nothing = () => undefined;

export interface BusyboxBuilder {
  /** Whoever opens it removes it. */
  dir: string;
  /** The image's archive. */
  tar: string;
  key: LoginKey;
  builder: ImageBuilder;
  unpack(jobId: string, source?: string, limits?: BuildLimits): Promise<number>;
  /** The id of a new job whose image is unpacked. */
  unpacked(): Promise<string>;
  /** How a login is opened, with a port of its own. */
  request(jobId: string, more?: Partial<OpenRequest>): Promise<OpenRequest>;
  /** Removes the jobs of `unpacked` and those named. */
  removeJobs(...others: string[]): Promise<void>;
}

export async function openBusyboxBuilder(name: string): Promise<BusyboxBuilder> {
  // Not below the checkout, which may belong to anybody.
  const dir = await mkdtemp(`/var/tmp/muster-${name}-`);
  await chmod(dir, 0o755);
  const tar = await makeBusyboxTar(dir);
  const key = makeLoginKey(dir);
  const builder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
  const used: string[] = [];
  let count = 0;
  const unpack = (jobId: string, source = tar, limits = LIMITS) =>
    builder.unpack({ jobId, source, format: 'tar', limits }, never, nothing);
  return {
    dir,
    tar,
    key,
    builder,
    unpack,
    async unpacked() {
      count += 1;
      const jobId = `job-${count}`;
      used.push(jobId);
      await unpack(jobId);
      return jobId;
    },
    request: async (jobId, more = {}) => ({
      jobId,
      publicKey: key.publicKey,
      port: await freePort(),
      jail: true,
      hostname: 'image',
      environment: {},
      ...more,
    }),
    async removeJobs(...others) {
      for (const jobId of [...used.splice(0), ...others]) await builder.remove(jobId);
    },
  };
}
