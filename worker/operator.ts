/** The process of an operator: watches custom resources, and runs their playbooks and roles on this machine. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { EnvironmentError, loadEnvironment } from '../config/environment.ts';
import { isMusterError } from '../domain/errors.ts';
import { readStart, StartRefused } from './operator/read-start.ts';
import { runOperator } from './operator/run-operator.ts';
import { sourceCommit } from './operator/source-commit.ts';
import { ROOT } from './shared/open-shared.ts';
import { engineLogger, openWorkerLog } from './worker-log.ts';

async function main(): Promise<void> {
  const start = await readStart(process.argv.slice(2), process.env, process.cwd());
  const env = loadEnvironment(process.env);
  const log = openWorkerLog(env.MUSTER_LOG_LEVEL);
  Runtime.install({ logger: engineLogger(log), shutdownSignals: [] });
  // Until there is something to stop.
  let stop: () => void = () => process.exit(0);
  process.on('SIGTERM', () => stop());
  process.on('SIGINT', () => stop());
  const { version, gitHead } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await runOperator({
    start,
    env,
    namedNamespace: process.env.MUSTER_TEMPORAL_NAMESPACE || undefined,
    isPod: process.env.KUBERNETES_SERVICE_HOST !== undefined,
    version,
    commit: await sourceCommit(ROOT, gitHead),
    log,
    onStart: (stopWorkers) => {
      stop = stopWorkers;
    },
  });
}

main().then(
  () => process.exit(0),
  (error) => {
    const isExpected = error instanceof EnvironmentError || isMusterError(error) || error instanceof StartRefused;
    process.stderr.write(`${isExpected ? error.message : (error?.stack ?? error)}\n`);
    process.exit(error instanceof StartRefused ? error.exit : isExpected ? 2 : 1);
  },
);
