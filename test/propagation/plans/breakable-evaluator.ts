/** An evaluator whose interpreter can be taken away, starved and given back while plans run. */
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Evaluator } from '../../../domain/propagation/ports.ts';
import { createEvaluator } from '../../../drivers/actions/evaluator.ts';
import { PYTHON } from '../../support/ansible/local-runs.ts';
import { EVALUATOR } from './shell-bench.ts';

/** Less than any Python needs, kB. */
const TOO_LITTLE = 12_000;

export interface BreakableEvaluator {
  evaluator: Evaluator;
  /** Takes the interpreter away. */
  remove(): Promise<void>;
  /** Gives the interpreter too little memory to begin. */
  starve(): Promise<void>;
  /** Puts a shell script in the place of the interpreter. */
  replace(script: string): Promise<void>;
  mend(): Promise<void>;
}

/** @param dir a folder of the test */
export function breakableEvaluator(dir: string, options: { startMs?: number } = {}): BreakableEvaluator {
  const python = join(dir, 'interpreter');
  const replace = async (script: string) => {
    // Moved into place: a program that is written at this moment cannot be executed.
    const draft = `${python}.draft`;
    await writeFile(draft, `#!/bin/sh\n${script}\n`);
    await chmod(draft, 0o755);
    await rename(draft, python);
  };
  return {
    evaluator: createEvaluator({ python, script: EVALUATOR, tempDir: join(dir, 'evaluators'), ...options }),
    remove: () => rm(python, { force: true }),
    starve: () => replace(`ulimit -v ${TOO_LITTLE}\nexec '${PYTHON}' "$@"`),
    replace,
    mend: () => replace(`exec '${PYTHON}' "$@"`),
  };
}
