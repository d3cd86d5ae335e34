/** The examples: what their scripts make with the command line alone is the plan that their files show on paper. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';

const ROOT = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

let api: TestApi;
let url: string;
beforeAll(async () => {
  api = await createTestApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(() => api.close());

/** Each command is a process of its own; a loaded machine takes its time, ms. */
const PATIENCE = 300_000;

interface Edge {
  from: string;
  to: string;
}

test.each(['chain', 'queue-cluster'])(
  '%s',
  async (name) => {
    const folder = join(ROOT, 'examples/propagation', name);
    const { MUSTER_TOKEN, MUSTER_TOKEN_FILE, ...others } = process.env;
    const env = { ...others, MUSTER_URL: url };
    await run(join(folder, 'create.sh'), [], { env });
    const paper = simulate(parse(await readFile(join(folder, 'simulate.yaml'), 'utf8')));

    const path = '/api/v1/propagation/changes';
    const { body } = await api.call('POST', `${path}/process?preview=true`, {});
    // The chain has every resource staged, and its file the first one alone.
    const known = new Set(paper.order);
    expect(body.order.filter((node: string) => known.has(node))).toEqual(paper.order);
    expect(body.edges.filter(({ from, to }: Edge) => known.has(from) && known.has(to))).toEqual(paper.edges);
    expect(body.cycles).toEqual(paper.cycles);
    await api.call('POST', `${path}/discard`, { all: true });
  },
  PATIENCE,
);
