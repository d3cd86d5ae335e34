/** Temporal servers for workflow tests, each of its own, and the bundle of the workflows. Nothing is ever downloaded. */
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../../../domain/engine/search-attributes.ts';
import { workflowSources } from '../../../worker/workflow-sources.ts';
import { findProgram } from '../find-program.ts';
import { testBundles } from './test-bundles.ts';
import { startDevServer, startTestServer } from './test-server.ts';

/** Recorded in histories, so it names no machine. */
const CLIENT = { identity: 'client@test' };

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
  const { port, stop } = await startTestServer();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: findProgram('sleep') ?? '/bin/sleep' }, port },
    client: CLIENT,
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD])),
  });
  return testServer(environment, stop);
}

/** Number of the type Keyword in Temporal's protocol. */
const KEYWORD = 2;

/** A real server in memory, in real time. `dynamicConfig`: settings as `name=value`. */
export async function openDevServer(dynamicConfig: string[] = []): Promise<TestServer> {
  quietRuntime();
  const { port, stop } = await startDevServer(dynamicConfig);
  const environment = await TestWorkflowEnvironment.createFromExistingServer({
    address: `127.0.0.1:${port}`,
    client: CLIENT,
  });
  return testServer(environment, stop);
}

const testServer = (environment: TestWorkflowEnvironment, stop: () => Promise<void>): TestServer => ({
  environment,
  close: async () => {
    await environment.teardown();
    await stop();
  },
});

let bundle: Promise<{ codePath: string } | { code: string }> | undefined;

/** The bundle of Muster's workflows: built at the first call of a test run (about 1 s), or of this process when no run is there. */
export function workflowBundle() {
  quietRuntime();
  bundle ??= keptBundle();
  return bundle;
}

async function keptBundle() {
  const folder = testBundles();
  if (folder === undefined) return { code: await bundleCode() };
  const codePath = join(folder, 'away.js');
  if (!existsSync(codePath)) {
    const part = `${codePath}.${process.pid}.part`;
    await writeFile(part, await bundleCode());
    await rename(part, codePath);
  }
  return { codePath };
}

async function bundleCode(): Promise<string> {
  const sources = workflowSources();
  const { code } = await bundleWorkflowCode({
    ...sources,
    workflowInterceptorModules: [pathOf('./away-interceptor.ts'), ...sources.workflowInterceptorModules],
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
