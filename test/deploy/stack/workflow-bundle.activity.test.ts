import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { WORKFLOW_INTERCEPTORS } from '../../../drivers/tracing/temporal-tracing.ts';
import { workflowBundle } from '../../../worker/workflow-bundle.ts';

/** webpack on a machine that is busy with other tests. */
const BUILD_LIMIT_MS = 120_000;

test(
  'a folder keeps the bundles of these sources, traced or not, and none of older ones',
  async () => {
    const dir = await mkdtemp(join(tmpdir(), 'muster-bundles-'));
    try {
      await writeFile(join(dir, 'workflows-0123456789abcdef.js'), 'old');
      const plain = await workflowBundle(dir, undefined);
      const traced = await workflowBundle(dir, WORKFLOW_INTERCEPTORS);
      expect((await readdir(dir)).map((name) => join(dir, name)).sort()).toEqual([plain, traced].sort());
      const mark = 'OpenTelemetryInboundInterceptor';
      expect(await readFile(traced, 'utf8')).toContain(mark);
      expect(await readFile(plain, 'utf8')).not.toContain(mark);
    } finally {
      await rm(dir, { recursive: true });
    }
  },
  2 * BUILD_LIMIT_MS,
);
