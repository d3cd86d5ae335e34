import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listenForProbes, type ProbeListener } from '../../worker/probe-listener.ts';
import { freePort } from '../support/free-port.ts';

let probes: ProbeListener;
let base: string;
beforeAll(async () => {
  const address = `127.0.0.1:${await freePort()}`;
  probes = await listenForProbes(address);
  base = `http://${address}`;
});
afterAll(() => probes.close());

const status = async (path: string) => (await fetch(`${base}${path}`)).status;

test('a worker lives from its start, and is ready while it takes work', async () => {
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
  let works = true;
  probes.ready(() => works);
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 200]);
  works = false;
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
});

test('there is nothing else', async () => {
  expect([await status('/'), await status('/metrics')]).toEqual([404, 404]);
});
