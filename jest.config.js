/** One project a level, so that each runs alone (`jest --selectProjects store`); only the first needs no Postgres. */
const level = (name, patterns, withPostgres) => ({
  displayName: name,
  testEnvironment: 'node',
  testRunner: '<rootDir>/test/node-runner.js',
  // Node reads TypeScript itself.
  transform: {},
  testMatch: patterns.map((pattern) => `<rootDir>/test/${pattern}`),
  modulePathIgnorePatterns: ['<rootDir>/.muster/'],
  ...(withPostgres
    ? {
        globalSetup: '<rootDir>/test/support/stack/global-setup.ts',
        globalTeardown: '<rootDir>/test/support/stack/global-teardown.ts',
      }
    : {}),
});

export default {
  // Only against what hangs: on a busy machine everything takes ten times as long.
  testTimeout: 180_000,
  // One more than cores on a small machine: a third of the time a file waits for what it has started.
  maxWorkers: 3,
  // What a file leaves open lasts for ever, and fails the suite (test/watched-run.ts). A busy machine may take long to end a process.
  workerGracefulExitTimeout: 120_000,
  testSequencer: '<rootDir>/test/longest-first.js',
  watchman: false,
  projects: [
    level('domain', ['**/*.domain.test.ts', 'architecture/!(*.e2e).test.ts'], false),
    level('activity', ['**/*.activity.test.ts'], true),
    level('store', ['**/*.store.test.ts'], true),
    level('workflow', ['**/*.workflow.test.ts'], true),
    level('api', ['**/*.api.test.ts'], true),
    level('e2e', ['**/*.e2e.test.ts'], true),
    level('browser', ['web/*.browser.test.ts'], true),
    {
      ...level('cluster', ['**/*.cluster.test.ts'], false),
      globalSetup: '<rootDir>/test/support/kubernetes/cluster-setup.ts',
      globalTeardown: '<rootDir>/test/support/kubernetes/cluster-teardown.ts',
    },
  ],
};
