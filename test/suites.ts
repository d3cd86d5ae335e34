import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { SURFACES } from '../api/openapi/surfaces.ts';
import { missingForCluster, takeDownWhatIsLeft } from './support/kubernetes/cluster-command.ts';
import { watchedRun } from './watched-run.ts';

const ROOT = dirname(import.meta.dirname);
/** So much of what a failed test said is told once more at the end. */
const SAID_CHARACTERS = 300;

export interface Counts {
  passed: number;
  failed: number;
  /** Names of the tests that were left out. */
  skipped: string[];
  /** The tests that failed, each with the beginning of what it said. */
  failures: string[];
}

export interface Suite {
  name: string;
  title: string;
  /** Of suites that are chosen by one name, this is the name. */
  group?: string;
  /**
   * It runs at the same time as the next ones, since it waits much or takes longer than any of them; its output follows once it or they
   * have ended.
   */
  beside?: true;
  /** Suites that have ended before it begins. */
  after?: string[];
  run(options: SuiteOptions): Promise<Counts>;
}

export interface SuiteOptions {
  /** Folder for reports, removed at the end. */
  workDir: string;
  /** Only tests whose path has one of these in it. */
  patterns: string[];
  /** File descriptor that its tools write to. */
  output: number;
  /** Whether the user has ended it all. */
  isInterrupted(): boolean;
}

/** Tests that break clusters or what works on them, or need all room, one at a time. */
const FAULTS = '/(break-cluster|broken-work|dev-cluster|job-trouble|taken-down|vectors)[.]cluster[.]';

/** Tests of runs, with warm processes or without, and of what makes runs: a part of the path. */
const RUNS =
  '/test/(runs/|sessions/(?!cluster/)|schedules/drift[.]|batches/fleet[.]|propagation/plans/ansible-handler[.])';
/** The same of `ansible/tests`, as an expression of pytest over names of files and tests. */
const PYTHON_RUNS =
  'test_launcher or test_warm or test_pod_warm or test_pod_ansible or test_events or test_results or test_masking or ' +
  'test_early_ends or test_uncertain or test_check or test_ara or test_defaults or test_remote_shell or test_s3_creds';

/** In the order in which they run. */
export const SUITES: Suite[] = [
  {
    name: 'lint',
    title: 'format and lint',
    run: (options) => check(module('@biomejs/biome/bin/biome'), ['ci', '--error-on-warnings'], options),
  },
  {
    name: 'unused',
    title: 'files, exports and modules that nothing reads',
    run: (options) => check(module('knip/bin/knip.js'), ['--no-progress'], options),
  },
  {
    name: 'python',
    title: 'launcher, callback plugin, strategies, steps of a pod, node agent',
    beside: true,
    run: (options) => runPytest(options),
  },
  {
    name: 'types',
    title: 'TypeScript',
    run: (options) => check(module('typescript/bin/tsc'), ['--noEmit'], options),
  },
  {
    name: 'types-web',
    title: 'TypeScript of the web UI',
    group: 'types',
    run: (options) => check(module('typescript/bin/tsc'), ['--noEmit', '-p', 'web'], options),
  },
  {
    name: 'types-worker',
    title: 'TypeScript of the web UI’s worker',
    group: 'types',
    run: (options) => check(module('typescript/bin/tsc'), ['--noEmit', '-p', 'web/tsconfig.worker.json'], options),
  },
  level('domain', 'rules and architecture'),
  { ...level('activity', 'drivers and activities'), beside: true },
  level('workflow', 'workflows on a real test server'),
  level('store', 'queries on a real Postgres'),
  level('api', 'HTTP routes'),
  { name: 'fuzz', title: 'requests made from the API documents', beside: true, run: runSchemathesis },
  {
    name: 'cluster-faults',
    title: 'a Kubernetes cluster whose parts are killed',
    group: 'cluster',
    beside: true,
    run: (options) => runCluster(options, ['--testPathIgnorePatterns', `^(?!.*${FAULTS})`, '--maxWorkers', '1']),
  },
  { ...level('e2e', 'the whole through its outer doors'), after: ['python', 'activity'] },
  { ...level('browser', 'the web UI in a browser'), after: ['python', 'activity'] },
  {
    name: 'cluster',
    title: 'sessions on a Kubernetes cluster with real containers',
    after: ['cluster-faults'],
    // Its files wait for the cluster half of the time.
    run: (options) => runCluster(options, ['--testPathIgnorePatterns', FAULTS, '--maxWorkers', '5']),
  },
];

/** Parts of the suites, which run only when they are chosen: `runs` with `--cold` and with `--warm` shows that nothing differs. */
export const PARTS: Suite[] = [
  {
    name: 'runs-python',
    title: 'launcher, callback plugin and pods that run playbooks',
    group: 'runs',
    beside: true,
    run: (options) => runPytest(options, PYTHON_RUNS),
  },
  partOfLevel('activity', 'activities that run playbooks'),
  { ...partOfLevel('e2e', 'sessions through the outer doors'), after: ['runs-python'] },
];

function module(path: string): string {
  return join(ROOT, 'node_modules', path);
}

/** One level of jest tests, which is a project of jest.config.js. */
function level(name: string, title: string): Suite {
  return { name, title, run: (options) => runJest(name, options) };
}

/** The tests of runs of a level. */
function partOfLevel(name: string, title: string): Suite {
  const others = ['--testPathIgnorePatterns', `^(?!.*(${RUNS}))`];
  return { name: `runs-${name}`, title, group: 'runs', run: (options) => runJest(name, options, others) };
}

/** A tool that has no tests of its own counts as one. */
async function check(script: string, args: string[], { output }: SuiteOptions): Promise<Counts> {
  const ok = (await run(process.execPath, [script, ...args], output)) === 0;
  return { ...nothing(), passed: ok ? 1 : 0, failed: ok ? 0 : 1 };
}

interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] | null }[];
  }[];
}

async function runJest(
  project: string,
  { workDir, patterns, output }: SuiteOptions,
  more: string[] = [],
): Promise<Counts> {
  const report = join(mkdtempSync(join(workDir, `${project}-`)), 'report.json');
  const args = [module('jest/bin/jest.js')];
  args.push('--selectProjects', project, '--json', `--outputFile=${report}`, '--passWithNoTests', ...more);
  if (patterns.length > 0) args.push('--testPathPatterns', ...patterns);
  const { status, leftOpen } = await watchedRun(process.execPath, args, ROOT, output);
  if (!existsSync(report)) return status === 0 ? nothing() : { ...nothing(), failed: 1 };
  const found = JSON.parse(readFileSync(report, 'utf8')) as JestReport;
  // A file that leaves something open counts as one that failed, though all of its tests have passed.
  const failed = found.numFailedTests + found.numRuntimeErrorTestSuites + (leftOpen ? 1 : 0);
  const all = found.testResults.flatMap((file) => file.assertionResults);
  return {
    passed: found.numPassedTests,
    // Jest also fails for reasons outside any test, such as a broken global set-up.
    failed: status !== 0 && failed === 0 ? 1 : failed,
    skipped: all.filter((test) => test.status === 'pending' || test.status === 'todo').map((test) => test.fullName),
    failures: found.testResults.flatMap(jestFailures),
  };
}

/** A file that could not be run has no tests, and says why itself. */
function jestFailures({ name, status, message, assertionResults }: JestReport['testResults'][number]): string[] {
  const file = relative(ROOT, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0) return status === 'failed' ? [failure(file, message)] : [];
  return failed.map((test) => failure(`${file} › ${test.fullName}`, test.failureMessages?.[0] ?? ''));
}

/** One line for the end of a long output. */
function failure(name: string, said: string): string {
  const words = stripVTControlCharacters(said).replaceAll(/\s+/g, ' ').trim();
  return `${name}: ${words.slice(0, SAID_CHARACTERS)}`;
}

/** Has a cluster for its tests, which share it and the machine with it. */
async function runCluster(options: SuiteOptions, more: string[]): Promise<Counts> {
  const missing = await missingForCluster();
  if (missing.length > 0) return { ...nothing(), skipped: [`cluster: missing on this machine: ${missing.join(', ')}`] };
  try {
    return await runJest('cluster', options, more);
  } finally {
    await takeDownWhatIsLeft();
  }
}

/** The tests of each Python program, which have settings of their own; `only`: those of Ansible's programs that an expression of pytest names. */
async function runPytest(options: SuiteOptions, only?: string): Promise<Counts> {
  const counts = nothing();
  for (const program of only === undefined ? ['ansible', 'agent'] : ['ansible']) {
    const { passed, failed, skipped, failures } = await runPytestOf(program, options, only);
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped.push(...skipped);
    counts.failures.push(...failures);
  }
  return counts;
}

async function runPytestOf(
  program: string,
  { workDir, patterns, output }: SuiteOptions,
  only?: string,
): Promise<Counts> {
  const binDir = process.env.MUSTER_ANSIBLE_BIN_DIR;
  if (binDir === undefined) throw new Error('MUSTER_ANSIBLE_BIN_DIR is not set: run through "npm test"');
  const report = join(workDir, `python-${program}.xml`);
  const args = ['-m', 'pytest', join(program, 'tests'), '-q', `--junitxml=${report}`];
  const named = [...(only === undefined ? [] : [only]), ...(patterns.length > 0 ? [patterns.join(' or ')] : [])];
  if (named.length > 0) args.push('-k', named.map((each) => `(${each})`).join(' and '));
  const status = await run(join(binDir, 'python'), args, output);
  if (!existsSync(report)) return { ...nothing(), failed: 1 };
  const xml = readFileSync(report, 'utf8');
  const count = (attribute: string) =>
    Number(new RegExp(`<testsuite [^>]*\\b${attribute}="(\\d+)"`).exec(xml)?.[1] ?? 0);
  const skipped = [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*><skipped/g)];
  const failed = count('failures') + count('errors');
  // Status 5: no test has the pattern in its name.
  return {
    passed: count('tests') - failed - skipped.length,
    failed: status !== 0 && status !== 5 && failed === 0 ? 1 : failed,
    skipped: skipped.map(([, file, name]) => `${file} ${name}`),
    failures: xmlFailures(xml),
  };
}

/** Each operation of each document counts as one. A pattern is the name of a document. */
async function runSchemathesis({ workDir, patterns, output }: SuiteOptions): Promise<Counts> {
  if (process.env.MUSTER_TEST_SCHEMATHESIS === undefined) {
    return { ...nothing(), skipped: ['fuzz: schemathesis is not installed, run through "npm test"'] };
  }
  const args = [join(ROOT, 'test', 'fuzz', 'schemathesis.ts'), workDir, ...patterns];
  const status = await run(process.execPath, args, output);
  const counts = nothing();
  for (const document of SURFACES) {
    const report = join(workDir, `schemathesis-${document}.xml`);
    if (!existsSync(report)) continue;
    const xml = readFileSync(report, 'utf8');
    const [suites = ''] = /<testsuites [^>]*>/.exec(xml) ?? [];
    const count = (attribute: string) => Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(suites)?.[1] ?? 0);
    const failed = count('failures') + count('errors');
    counts.failed += failed;
    counts.passed += count('tests') - failed - count('skipped');
    counts.failures.push(...xmlFailures(xml));
  }
  // It also fails for reasons outside any operation: time over, a document that cannot be read.
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** The failed tests of a report in JUnit's form. */
function xmlFailures(xml: string): string[] {
  const cases = xml.matchAll(/<testcase ([^>]*)>\s*<(?:failure|error)\b([^>]*)>/g);
  return [...cases].map(([, test = '', said = '']) => {
    const attribute = (text: string, name: string) => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(text)?.[1] ?? '';
    return failure(`${attribute(test, 'classname')} ${attribute(test, 'name')}`.trim(), attribute(said, 'message'));
  });
}

function nothing(): Counts {
  return { passed: 0, failed: 0, skipped: [], failures: [] };
}

/** Runs a tool; what it writes goes to `output`, stderr for one, so that stdout stays a short report. */
function run(file: string, args: string[], output: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, stdio: ['ignore', output, output] });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
