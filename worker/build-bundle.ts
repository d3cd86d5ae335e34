/** Builds the workflow bundle into the file that is named; a program of its own, since building takes 200 MB for good. */
import { rename, writeFile } from 'node:fs/promises';
import { bundleWorkflowCode } from '@temporalio/worker';
import { workflowSources } from './workflow-sources.ts';

const [target, ...workflowInterceptorModules] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: build-bundle.ts FILE [INTERCEPTORS ...]');
const sources = workflowSources();
const { code } = await bundleWorkflowCode({
  ...sources,
  // Seals come last: what others add is signed too.
  workflowInterceptorModules: [...workflowInterceptorModules, ...sources.workflowInterceptorModules],
});
const part = `${target}.${process.pid}.part`;
await writeFile(part, code, { mode: 0o600 });
await rename(part, target);
