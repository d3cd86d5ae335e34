import type { CliContext } from '../../context.ts';
import { EXIT, usage } from '../../failure.ts';
import { apiOf, type OutputOptions } from '../../options.ts';
import type { Kind } from './kinds.ts';
import { sayMissingSecrets } from './missing-secrets.ts';
import { type PlanOptions, planChanges } from './plan-changes.ts';
import { readDirectory } from './read-directory.ts';
import { showDifferences } from './show-differences.ts';

export interface DiffDirectoryOptions extends OutputOptions, PlanOptions {
  file: string;
}

/** Shows what `apply` of the same would change, by the word of the server. The exit status is 1 when anything differs. */
export async function diffDirectory(context: CliContext, options: DiffDirectoryOptions, only?: Kind): Promise<void> {
  if (options.pruneComponents && !options.prune) throw usage('--prune-components needs --prune');
  const api = apiOf(context, options);
  const directory = await readDirectory(context, options.file, only);
  const plan = await planChanges(api, directory, options);
  await sayMissingSecrets(context, api, directory.secrets);
  if (await showDifferences(context, api, plan, options)) context.exit = EXIT.failed;
}
