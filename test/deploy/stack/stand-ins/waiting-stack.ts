/** A stack whose API never has its database. */
import { join } from 'node:path';
import { runStack } from '../../../../deploy/stack/run-stack.ts';

const here = import.meta.dirname;
const command = (name: string) => ({ file: process.execPath, args: [join(here, `${name}.ts`)] });

process.exit(
  await runStack({ env: process.env, commands: { api: command('waiting-api'), worker: command('worker') } }),
);
