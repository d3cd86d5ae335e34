/** A stack with stand-ins for API and worker, and a build of the web UI that ends with its signal alone. */
import { once } from 'node:events';
import { join } from 'node:path';
import { runStack } from '../../../../deploy/stack/run-stack.ts';

const command = (name: string) => ({ file: process.execPath, args: [join(import.meta.dirname, `${name}.ts`)] });
const build = async (_folder: string, signal?: AbortSignal): Promise<void> => {
  if (signal?.aborted === false) await once(signal, 'abort');
};

process.exit(await runStack({ env: process.env, commands: { api: command('api'), worker: command('worker') }, build }));
