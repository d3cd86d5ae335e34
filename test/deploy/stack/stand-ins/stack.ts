/** The real stack with real servers, but with stand-ins for API and worker. */
import { join } from 'node:path';
import { runStack } from '../../../../deploy/stack/run-stack.ts';

const here = import.meta.dirname;
const command = (name: string) => ({ file: process.execPath, args: [join(here, `${name}.ts`)] });

process.exit(await runStack({ env: process.env, commands: { api: command('api'), worker: command('worker') } }));
