/** Temporal servers for workflow tests. Both are programs that are there already: nothing is ever downloaded. */
import { fileURLToPath } from 'node:url';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../domain/sessions/search-attributes.ts';
import { findProgram } from './find-program.ts';
import { temporalBinary } from './temporal-binary.ts';
import { startTestServer } from './test-server.ts';

/** Recorded in histories, so it names no machine. */
const CLIENT = { identity: 'client@test' };

/** Frequent polls, so that a step of a workflow takes 20 ms instead of 100. */
const POLL_RPS = ['transfer', 'timer', 'visibility'].flatMap((queue) => [
  '--dynamic-config-value',
  `history.${queue}ProcessorMaxPollRPS=2000`,
]);

let quiet = false;

/** Temporal's own log: failures of the tests' fakes are wanted, so only errors of Temporal itself show. */
function quietRuntime(): void {
  if (quiet) return;
  quiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
}

export interface TestServer {
  environment: TestWorkflowEnvironment;
  close(): Promise<void>;
}

/**
 * A server whose time jumps to the next timer while a result is awaited.
 *
 * The SDK gives a server 5 s to come up, too little for a JVM on a busy machine, and skips time only on servers that it
 * has started itself. So the server is started here, and the SDK starts a `sleep` (of as many seconds as the port's
 * number) in its place, finds the port answering and is content.
 */
export async function openTimeSkipping(): Promise<TestServer> {
  quietRuntime();
  const server = await startTestServer();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: findProgram('sleep') ?? '/bin/sleep' }, port: server.port },
    client: CLIENT,
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD])),
  });
  return {
    environment,
    close: async () => {
      await environment.teardown();
      server.stop();
    },
  };
}

/** Number of the type Keyword in Temporal's protocol. */
const KEYWORD = 2;

/** A real server in memory, in real time. `dynamicConfig`: settings as `name=value`. */
export async function openDevServer(dynamicConfig: string[] = []): Promise<TestServer> {
  const path = temporalBinary();
  if (path === null) throw new Error('no Temporal server');
  quietRuntime();
  const environment = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      ip: '127.0.0.1',
      log: { format: 'pretty', level: 'never' },
      searchAttributes: SEARCH_ATTRIBUTES.map((name) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)),
      extraArgs: [...POLL_RPS, ...dynamicConfig.flatMap((setting) => ['--dynamic-config-value', setting])],
    },
    client: CLIENT,
  });
  return { environment, close: () => environment.teardown() };
}

const bundles = new Map<boolean, Promise<WorkflowBundleWithSourceMap>>();

/**
 * The bundle of Muster's workflows, built at the first call (about 1 s). `impatient`: an activity whose machine does not
 * take it is given up after a second instead of minutes or hours, which no server skips.
 */
export function workflowBundle({ impatient = false } = {}): Promise<WorkflowBundleWithSourceMap> {
  quietRuntime();
  const known = bundles.get(impatient);
  if (known !== undefined) return known;
  const made = bundleWorkflowCode({
    workflowsPath: pathOf('../../workflows/index.ts'),
    workflowInterceptorModules: impatient ? [pathOf('./impatient-interceptor.ts')] : [],
    logger: new DefaultLogger('WARN'),
  });
  bundles.set(impatient, made);
  return made;
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
