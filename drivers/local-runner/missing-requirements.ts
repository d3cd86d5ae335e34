import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { musterError } from '../../domain/errors.ts';
import type { CheckedLayer, MissingRequirements } from '../../domain/sessions/ports.ts';
import { messageOf } from '../../domain/text/message-of.ts';

const execute = promisify(execFile);
/** The files that a layer says by what its playbook needs; the script knows them too. */
const FILES = ['collections/requirements.yml', 'roles/requirements.yml'];
const ANSWER_MAX = 16 * 1024 * 1024;

/** Asks the Ansible of this machine; layers without such a file cost nothing. */
export function createMissingRequirements({ python, script }: { python: string; script: string }): MissingRequirements {
  return {
    find: async (layers, env, signal) => {
      const asking: CheckedLayer[] = [];
      for (const layer of layers) if (await hasRequirements(layer.dir)) asking.push(layer);
      if (asking.length === 0) return [];
      const words = asking.flatMap(({ index, dir, playbook }) => [String(index), dir, playbook]);
      try {
        const { stdout } = await execute(python, [script, '-', ...words], {
          env,
          cwd: '/',
          signal,
          maxBuffer: ANSWER_MAX,
        });
        return JSON.parse(stdout);
      } catch (error) {
        signal.throwIfAborted();
        const said = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
        const why = said.trim().split('\n').at(-1) || messageOf(error);
        throw musterError('run_not_started', `what its layers require could not be looked up: ${why.slice(0, 300)}`);
      }
    },
  };
}

async function hasRequirements(dir: string): Promise<boolean> {
  const found = await Promise.all(
    FILES.map((file) =>
      access(join(dir, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
