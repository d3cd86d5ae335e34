import { musterError } from '../../errors.ts';
import type { JobSpec } from './cluster-job.ts';

/** Linux starts no program with an argument, or a variable with its name, of more bytes than this, the one at its end included. */
const EXEC_TEXT_MAX = 128 * 1024;

/**
 * Checks that Linux will start the containers of a Job: no text that stands in an argument or in a variable is too long. Throws
 * `container_config_invalid`, which names the one that is.
 */
export function checkExecTexts(spec: Pick<JobSpec, 'ansibleArgs' | 'configurationLimit' | 'layersArgument'>): void {
  const texts = [
    ['the limit and pass-through of Ansible', `ANSIBLE_ARGS=${spec.ansibleArgs}`],
    ['the limit of the configuration', `SESSION_CONFIGURATION_LIMIT=${spec.configurationLimit}`],
    ['the list of layers', spec.layersArgument],
  ] as const;
  for (const [what, text] of texts) {
    const bytes = new TextEncoder().encode(text).length + 1;
    if (bytes <= EXEC_TEXT_MAX) continue;
    const detail = `${what} would take ${bytes} bytes in a container; Linux starts none with more than ${EXEC_TEXT_MAX}`;
    throw musterError('container_config_invalid', detail);
  }
}
