/**
 * Entry of every npm script: installs what its task needs, then hands over to Node 24. Node 20 runs this file and what
 * it imports, before any npm module is there.
 *
 *     node bootstrap/run.mjs demo|start|test|bench|openapi [arguments]
 *     node bootstrap/run.mjs setup               install only
 *     node bootstrap/run.mjs exec COMMAND ...    run any command with the environment that the tests have
 */
import { join } from 'node:path';
import { handOver } from './hand-over.mjs';
import { ROOT } from './settings.mjs';
import { setUp } from './setup.mjs';
import { SetupError } from './setup-error.mjs';

const TASKS = {
  demo: { script: 'deploy/stack/demo.ts' },
  start: { script: 'deploy/stack/main.ts' },
  test: { script: 'test/run.ts', tests: true },
  bench: { script: 'bench/run.ts' },
  openapi: { script: 'test/support/write-openapi.ts' },
};

async function main([name, ...args]) {
  if (name === 'setup') {
    await setUp();
    return;
  }
  if (name === 'exec' && args.length > 0) {
    const { env } = await setUp({ tests: true });
    handOver(args[0], args.slice(1), env);
    return;
  }
  const task = Object.hasOwn(TASKS, name ?? '') ? TASKS[name] : undefined;
  if (!task)
    throw new SetupError(`Usage: node bootstrap/run.mjs ${Object.keys(TASKS).join('|')}|setup|exec [arguments]`);
  const { node, env } = await setUp({ tests: task.tests });
  handOver(node, [join(ROOT, task.script), ...args], env);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`);
  process.exitCode = error.exit ?? 1;
}
