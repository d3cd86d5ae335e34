/** Warm processes of Ansible for tests: the real program. */
import { join } from 'node:path';
import { createWarmAnsible, type WarmAnsible } from '../../../drivers/local-runner/warm-ansible.ts';

export const WARM_PROGRAM = join(import.meta.dirname, '../../../ansible/launcher/warm.py');

/** Processes at most, of the tests of one file. */
const LIMIT = 2;

/** Returns what a worker has; undefined where the tests are asked to start every Ansible anew (`npm test -- runs --cold`). */
export function openWarm(): WarmAnsible | undefined {
  return process.env.MUSTER_TEST_WARM === '0' ? undefined : createWarmAnsible({ program: WARM_PROGRAM, limit: LIMIT });
}
