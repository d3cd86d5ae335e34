/** A stack whose API cannot start. */
import { join } from 'node:path';
import { runStack } from '../../../../deploy/stack/run-stack.ts';

const worker = { file: process.execPath, args: [join(import.meta.dirname, 'worker.ts')] };
const api = { file: process.execPath, args: ['-e', 'console.error("no schema"); process.exit(3)'] };

process.exit(await runStack({ env: process.env, commands: { api, worker } }));
