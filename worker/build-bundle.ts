/** Builds the workflow bundle into the file that is named; a program of its own, since building takes 200 MB for good. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const [target, ...workflowInterceptorModules] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: build-bundle.ts FILE [INTERCEPTORS ...]');
const { code } = await bundleWorkflowCode({
  workflowsPath: join(import.meta.dirname, '..', 'workflows', 'index.ts'),
  workflowInterceptorModules,
});
const part = `${target}.${process.pid}.part`;
await writeFile(part, code);
await rename(part, target);
