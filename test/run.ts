/**
 * Runs the test suites one after another, the cheap ones first, and goes on after a failure. The last line counts over
 * all of them. Called by `npm test`, which has installed what the suites need:
 *
 *     npm test                     every suite
 *     npm test -- domain           one suite
 *     npm test -- domain limit     of one suite, what has "limit" in its path
 *     npm test -- python --warm    every playbook of the Python tests by a warm process
 *     npm test -- runs             of activity, e2e and python, what runs playbooks
 *     npm test -- runs --cold      every playbook by an Ansible of its own, where tests otherwise keep warm processes
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresUser } from '../deploy/stack/postgres-user.ts';
import { runBeside, type SuiteBeside } from './suite-beside.ts';
import { type Counts, PARTS, SUITES, type Suite } from './suites.ts';

const strict = process.env.MUSTER_TEST_REQUIRE === 'all';
/** Free memory from which programs in Go may take more of it to take less time, bytes. */
const ROOM_FOR_GO = 6 * 1024 ** 3;
let interrupted = false;

function chosenSuites(name: string | undefined): Suite[] {
  if (name === undefined) return SUITES;
  const suites = [...SUITES, ...PARTS].filter((suite) => (suite.group ?? suite.name) === name);
  if (suites.length > 0) return suites;
  const names = new Set([...SUITES, ...PARTS].map((suite) => suite.group ?? suite.name));
  process.stderr.write(`There is no suite "${name}". Suites: ${[...names].join(', ')}\n`);
  process.exit(2);
}

function line({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`;
}

/**
 * Where there is room, programs in Go that many tests share (a Temporal, the parts of a cluster) and the tools collect garbage more seldom,
 * which is a tenth of their work. What a test starts of Muster's own gets nothing of this environment.
 */
function collectMoreSeldom(): void {
  if (process.availableMemory() >= ROOM_FOR_GO) process.env.GOGC ??= '400';
}

/** Made before the suites: two suites side by side would make it at the same time. A suite that needs it says why it is missing. */
function makePostgresUser(): void {
  try {
    postgresUser();
  } catch {}
}

/** Under MUSTER_TEST_REQUIRE=all nothing may be left out, so what was skipped counts as failed. */
function judged(counts: Counts): Counts {
  if (!strict || counts.skipped.length === 0) return counts;
  return { ...counts, failed: counts.failed + counts.skipped.length, skipped: [] };
}

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  if (words.includes('--cold')) process.env.MUSTER_TEST_WARM = '0';
  if (words.includes('--warm')) process.env.MUSTER_TEST_WARM = '1';
  const [name, ...patterns] = words.filter((word) => word !== '--cold' && word !== '--warm');
  collectMoreSeldom();
  makePostgresUser();
  const workDir = mkdtempSync(join(tmpdir(), 'muster-tests-'));
  const total: Counts = { passed: 0, failed: 0, skipped: [], failures: [] };
  const summary: string[] = [];
  const options = { workDir, patterns, isInterrupted: () => interrupted };
  const report = (suite: Suite, found: Counts, startedAt: number) => {
    const counts = judged(found);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    for (const test of found.skipped)
      process.stdout.write(`${strict ? 'skipped, which fails here' : 'skipped'}: ${test}\n`);
    summary.push(`${suite.name.padEnd(14)} ${line(counts)} (${seconds} s)`);
    process.stdout.write(`== ${summary.at(-1)}\n`);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped.push(...counts.skipped);
    total.failures.push(...counts.failures.map((failure) => `${suite.name} ${failure}`));
  };
  const others: SuiteBeside[] = [];
  const finish = async (other: SuiteBeside) => {
    others.splice(others.indexOf(other), 1);
    if (interrupted) return await other.end();
    process.stdout.write(`\n== ${other.suite.name}: ${other.suite.title}\n`);
    const found = await other.show();
    if (!interrupted) report(other.suite, found, other.startedAt);
  };
  const suites = chosenSuites(name);
  for (const suite of suites) {
    for (const other of others.filter((one) => suite.after?.includes(one.suite.name))) await finish(other);
    if (interrupted) break;
    if (suite.beside && suite !== suites.at(-1)) {
      process.stdout.write(`\n== ${suite.name}: ${suite.title}; beside what follows\n`);
      others.push(runBeside(suite, options));
      continue;
    }
    process.stdout.write(`\n== ${suite.name}: ${suite.title}\n`);
    const startedAt = Date.now();
    const found = await suite.run({ ...options, output: process.stderr.fd });
    if (interrupted) break;
    report(suite, found, startedAt);
    for (const other of others.filter((one) => one.hasEnded())) await finish(other);
  }
  for (const other of [...others]) await finish(other);
  rmSync(workDir, { recursive: true, force: true });
  process.stdout.write(`\n${summary.join('\n')}\n`);
  for (const failure of total.failures) process.stdout.write(`failed: ${failure}\n`);
  if (!interrupted && name !== undefined && total.passed + total.failed + total.skipped.length === 0) {
    process.stderr.write('No test has that in its path.\n');
    total.failed += 1;
  }
  process.stdout.write(`${line(total)}\n`);
  if (interrupted) return 130;
  return total.failed > 0 ? 1 : 0;
}

// The suite that runs gets the signal too and ends; no other one follows.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = true;
  });
}
process.exit(await main());
