import { request } from 'node:http';
import { expect, test } from '@jest/globals';
import Fastify from 'fastify';
import type { ApiServer } from '../../api/server/api-server.ts';
import { listen } from '../../api/server/listen.ts';
import { freePort } from '../support/free-port.ts';

/** More than the first door, to which a few come by chance, would answer. */
const CLIENTS = 60;

/** Status of the answer, or why there is none. */
function get(port: number, path: string): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .end();
  });
}

async function serve() {
  const app = Fastify({ forceCloseConnections: 'idle' });
  const come = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let [count, done] = [0, 0];
  app.addHook('onResponse', async () => {
    done += 1;
  });
  app.get('/slow', async () => {
    count += 1;
    if (count === CLIENTS) come.resolve();
    await goOn.promise;
    return {};
  });
  const port = await freePort();
  const doors = await listen(app as unknown as ApiServer, { host: '127.0.0.1', port });
  const answers = Promise.all(Array.from({ length: CLIENTS }, () => get(port, '/slow')));
  await come.promise;
  return { app, doors, answers, goOn: goOn.resolve, answered: () => done };
}

test('requests that came in by any door are answered before it is over', async () => {
  const { app, doors, answers, goOn, answered } = await serve();
  const closed = app.close();
  const over = doors.answered(30_000).then(answered);
  goOn();
  expect(await over).toBe(CLIENTS);
  await closed;
  expect(await answers).toEqual(Array(CLIENTS).fill(200));
});

test('who takes too long is not waited for', async () => {
  const { app, doors, answers, goOn, answered } = await serve();
  await doors.answered(50);
  expect(answered()).toBe(0);
  goOn();
  await answers;
  await app.close();
});
