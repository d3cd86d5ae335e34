/** Muster's own image service keeps its contract for whoever asks it by HTTP: another Muster's client, for instance. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { createHttpImageService } from '../../drivers/image-service/http-image-service.ts';
import { imageServiceContract } from '../support/images/image-service-contract.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { ableWorker, importedImage } from './fixtures.ts';

let api: TestApi;
let origin: string;

beforeAll(async () => {
  api = await createTestApi();
  await ableWorker(api);
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(() => api?.close());

describe.each(['/apis/ims', '/apis/ims/v2'])('below %s', (prefix) => {
  imageServiceContract(() => ({
    service: createHttpImageService({ url: `${origin}${prefix}`, timeoutMs: 10_000 }),
    addImage: (name) => importedImage(api, name),
  }));
});
