/** Sessions on images in front of an image service in memory, as far as their activities take them. */

import type { ImageActivities } from '../../../activities/sessions/image-contract.ts';
import type { ImageDependencies } from '../../../activities/sessions/image-ports.ts';
import { createImageActivities } from '../../../activities/sessions/images/image-activities.ts';
import { createImageKeys } from '../../../control/sessions/images/image-keys.ts';
import { createHttpImageService } from '../../../drivers/image-service/http-image-service.ts';
import { listSessionImages } from '../../../store/sessions/session-images.ts';
import { createMemorySecretStore } from '../fakes/memory-secret-store.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { perform } from '../stack/session-machine.ts';
import { makeSession } from '../temporal/engine-sessions.ts';
import { type FakeImageJob, startImageService } from './image-service-server.ts';

export type ImageBench = Awaited<ReturnType<typeof openImageBench>>;

export interface ImageWorker {
  deps: ImageDependencies;
  /** What arrived in shells: the key, then the command. */
  commands: string[];
  secrets: ReturnType<typeof createMemorySecretStore>;
  activities: ImageActivities;
}

export async function openImageBench() {
  const [database, service] = await Promise.all([createTestDatabase(), startImageService()]);
  const { db } = database;

  /** The service works as it should, and each job waits for its user at once. */
  function reset(): void {
    service.trouble = () => null;
    service.begin = (job) => {
      job.status = 'waiting_on_user';
    };
  }

  /** A client of the service that waits so long, ms, for an answer. */
  const client = (timeoutMs: number) => createHttpImageService({ url: service.url, timeoutMs });

  /** A worker with its secrets and shells that do everything; it waits for the service as long as that takes. */
  function worker(given: Partial<ImageDependencies> = {}): ImageWorker {
    const commands: string[] = [];
    const secrets = createMemorySecretStore();
    let keys = 0;
    const deps: ImageDependencies = {
      db,
      imageService: client(60_000),
      imageShells: {
        run: async ({ command, privateKey }) => {
          commands.push(`${privateKey}: ${command}`);
          return null;
        },
      },
      imageKeys: createImageKeys({
        secrets,
        makeKeyPair: async (comment) => {
          keys += 1;
          return { privateKey: `private${keys}`, publicKey: `ssh-ed25519 key${keys}${Math.random()} ${comment}` };
        },
      }),
      imageWaitSeconds: 60,
      imageQueueSeconds: 3_600,
      clock: () => new Date(),
      ...given,
    };
    return { deps, commands, secrets, activities: createImageActivities(deps) };
  }

  async function imageSession(images: string[], given: Parameters<typeof makeSession>[1] = {}) {
    const groups = [{ name: 'g', members: images }];
    const session = await makeSession(db, {
      target: { definition: 'image', groups, image_map: null },
      ...given,
    });
    await db
      .updateTable('sessions')
      .set({ stage: 'admitted', status: 'running' })
      .where('id', '=', session.id)
      .execute();
    return session;
  }

  const rows = (sessionId: string) => listSessionImages(db, sessionId);
  const jobsOf = (name: string): FakeImageJob[] =>
    [...service.jobs.values()].filter((job) => job.ssh_containers[0]?.name === name);

  /** A session whose one image is planned, with its key. */
  async function planned(one: ImageWorker, given: Parameters<typeof makeSession>[1] = {}) {
    const image = service.addImage('base');
    const session = await imageSession([image], given);
    await perform(() => one.activities.planImages({ sessionId: session.id }));
    await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    return { session, image, ref: { sessionId: session.id, image } };
  }

  /** A session whose two images are planned, with its key. */
  async function plannedPair(one: ImageWorker) {
    const images = [service.addImage('one'), service.addImage('two')] as const;
    const session = await imageSession([...images]);
    await perform(() => one.activities.planImages({ sessionId: session.id }));
    await perform(() => one.activities.makeImageKey({ sessionId: session.id }));
    const refOf = (image: string) => ({ sessionId: session.id, image });
    return { session, refs: [refOf(images[0]), refOf(images[1])] as const };
  }

  /** Makes everything that the images of a session have on record so much older. */
  async function movedBack(sessionId: string, seconds: number): Promise<void> {
    for (const { image_id, started_at, finishing_at, queued_at, posted_at, updated_at } of await rows(sessionId)) {
      const earlier = (time: Date | null) => (time === null ? null : new Date(time.getTime() - seconds * 1_000));
      await db
        .updateTable('session_images')
        .set({
          started_at: earlier(started_at),
          finishing_at: earlier(finishing_at),
          queued_at: earlier(queued_at),
          posted_at: earlier(posted_at),
          updated_at: new Date(updated_at.getTime() - seconds * 1_000),
        })
        .where('session_id', '=', sessionId)
        .where('image_id', '=', image_id)
        .execute();
    }
  }

  /** Opens an image as the workflow does, without its pauses. */
  async function opened(one: ImageWorker, ref: { sessionId: string; image: string }): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1) {
      const failure = await perform(() => one.activities.openImage(ref)).then(
        () => null,
        (error: { type?: string }) => error,
      );
      if (failure === null) return;
      if (failure.type !== 'image_not_ready') throw failure;
    }
    throw new Error('the image does not open');
  }

  const close = async (): Promise<void> => {
    await service.close();
    await database.close();
  };
  return {
    db,
    service,
    client,
    reset,
    close,
    worker,
    imageSession,
    rows,
    jobsOf,
    planned,
    plannedPair,
    movedBack,
    opened,
  };
}
