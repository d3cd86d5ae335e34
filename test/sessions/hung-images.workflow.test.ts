/** An image service that takes requests and never answers keeps those who wait for it, and nobody else. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cancelSession } from '../../workflows/sessions/messages.ts';
import { eventually } from '../support/eventually.ts';
import { admitted, endlessWork } from '../support/fake-session.ts';
import { describeNeeding } from '../support/requirement.ts';
import { openSessionBench, type SessionBench } from '../support/session-bench.ts';
import { temporalMissing } from '../support/temporal-binary.ts';
import { openDevServer, type TestServer } from '../support/workflow-environment.ts';

/** What one worker does at once of one queue; in earnest 50. */
const SLOTS = 3;
const IMAGES = Array.from({ length: 4 * SLOTS }, (_, index) => `i${index}`);

describeNeeding(temporalMissing(), 'while the image service hangs', () => {
  let server: TestServer;
  let bench: SessionBench;
  beforeAll(async () => {
    server = await openDevServer();
    bench = await openSessionBench(server.environment, { slots: SLOTS });
  }, 120_000);
  afterAll(async () => {
    await bench?.finish();
    await bench?.close();
    await server?.close();
  });

  test('a session on many images does not keep others from their work, and can be cancelled', async () => {
    const request = endlessWork();
    let asked = 0;
    const onImages = await bench.start({
      admitSession: async () => admitted({ images: true }),
      planImages: async () => ({ images: IMAGES, waitSeconds: 60 }),
      openImage: () => {
        asked += 1;
        return request.run();
      },
    });
    await eventually('it takes all that it gets', async () => asked >= SLOTS);
    const other = await bench.start();
    await other.result();
    expect(other.fake.end().succeeded).toBe('true');
    expect(asked).toBe(SLOTS);
    await onImages.handle.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });
    await onImages.result();
    expect(onImages.fake.end()).toMatchObject({ succeeded: 'false', reason: 'cancelled' });
    expect(onImages.fake.names()).toContain('releaseImages');
  }, 120_000);
});
