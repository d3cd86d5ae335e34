/**
 * Entry of every npm script: installs what its task needs, then hands over to Node 24. Node 20 runs this file and what
 * it imports, before any npm module is there.
 *
 *     node bootstrap/run.mjs demo|start|test|bench|openapi|build:web [arguments]
 *     node bootstrap/run.mjs setup               install only
 *     node bootstrap/run.mjs operator-ansible    install what runs of operators need, print its folder
 *     node bootstrap/run.mjs cluster-programs [NAME ...]   build programs of the development cluster, print their folder
 *     node bootstrap/run.mjs images              build the container images, print their names and archives
 *     node bootstrap/run.mjs previous-images FOLDER   the same of the release before, whose sources land in the folder
 *     node bootstrap/run.mjs test cluster members COUNT    run so many member clusters until Ctrl-C
 *     node bootstrap/run.mjs exec COMMAND ...    run any command with the environment that the tests have
 */
import { join } from 'node:path';
import { buildInBackground, startBackgroundBuilds } from './background-builds.mjs';
import { API_SERVER_PROGRAMS, CLUSTER_PROGRAMS, ensureClusterPrograms, MEMBER_PROGRAMS } from './cluster-programs.mjs';
import { handOver } from './hand-over.mjs';
import { ensureImages } from './images.mjs';
import { ensureOperatorAnsible } from './operator-ansible.mjs';
import { checkPrerequisites } from './prerequisites.mjs';
import { ensurePreviousImages } from './previous-images.mjs';
import { ROOT } from './settings.mjs';
import { setUp } from './setup.mjs';
import { SetupError } from './setup-error.mjs';

const TASKS = {
  demo: { script: 'deploy/stack/demo.ts' },
  start: { script: 'deploy/stack/main.ts' },
  test: { script: 'test/run.ts', tests: true },
  bench: { script: 'bench/run.ts' },
  openapi: { script: 'test/support/write-openapi.ts' },
  'build:web': { script: 'deploy/stack/build-web.ts' },
};

async function main([name, ...args]) {
  if (name === 'setup') {
    await setUp();
    return;
  }
  if (name === 'operator-ansible') {
    const { python } = await checkPrerequisites({ temporal: false, tests: false, ansible: false, operator: true });
    process.stdout.write(`${await ensureOperatorAnsible(python)}\n`);
    return;
  }
  if (name === 'cluster-programs') {
    process.stdout.write(`${await ensureClusterPrograms(args.length > 0 ? args : CLUSTER_PROGRAMS)}\n`);
    return;
  }
  if (name === 'images') {
    process.stdout.write(`${JSON.stringify(await ensureImages())}\n`);
    return;
  }
  if (name === 'previous-images' && args.length === 1) {
    process.stdout.write(`${JSON.stringify(await ensurePreviousImages(args[0]))}\n`);
    return;
  }
  if (name === 'build') {
    await buildInBackground(args[0]);
    return;
  }
  if (name === 'exec' && args.length > 0) {
    const { env } = await setUp({ tests: true });
    if (env.MUSTER_TEST_KUBERNETES_DIR) await ensureClusterPrograms(API_SERVER_PROGRAMS);
    handOver(args[0], args.slice(1), env);
    return;
  }
  if (name === 'test' && args[0] === 'cluster' && args[1] === 'members' && args.length === 3) {
    const { node, env } = await setUp();
    const folder = await ensureClusterPrograms(MEMBER_PROGRAMS);
    const script = join(ROOT, 'test', 'support', 'kubernetes', 'run-members.ts');
    handOver(node, [script, args[2]], { ...env, MUSTER_TEST_KUBERNETES_DIR: folder });
    return;
  }
  const task = Object.hasOwn(TASKS, name ?? '') ? TASKS[name] : undefined;
  if (!task)
    throw new SetupError(`Usage: node bootstrap/run.mjs ${Object.keys(TASKS).join('|')}|setup|exec [arguments]`);
  if (task.tests) startBackgroundBuilds(args[0]);
  const { node, env } = await setUp({ tests: task.tests });
  handOver(node, [join(ROOT, task.script), ...args], env);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`);
  process.exitCode = error.exit ?? 1;
}
