import type { Command } from 'commander';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { apiOf, type OutputOptions, withOutput } from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';

/** What is read of GET /api/v1/status. */
interface Versions {
  versions: { muster: string; cfs: string };
}

/** `muster version` */
export function versionCommand(program: Command, context: CliContext): void {
  withOutput(program.command('version'))
    .description('the versions of the command line and of the server')
    .option('--client', 'that of the command line alone; no server is asked')
    .action((options: OutputOptions & { client?: boolean }) => showVersions(context, options));
}

/** Writes the versions that are known; the exit status is that of a server that does not say its own. */
async function showVersions(context: CliContext, options: OutputOptions & { client?: boolean }): Promise<void> {
  const { versions, failure } = options.client
    ? { versions: null, failure: null }
    : await serverVersions(context, options);
  const { output } = options;
  const url = options.url ?? context.defaultUrl;
  if (isValueFormat(output)) {
    const server = versions === null ? null : { ...versions, url };
    writeData(context, await renderValue({ client: context.version, server }, output));
  } else {
    const server = versions === null ? '' : `${versions.muster} (CFS ${versions.cfs}) at ${url}`;
    const fields: [string, string][] = [
      ['client', context.version],
      ['server', server],
    ];
    writeData(context, fieldList(fields));
  }
  if (failure === null) return;
  say(context, `the server does not say its version: ${failure.message}`);
  context.exit = failure.exit;
}

async function serverVersions(
  context: CliContext,
  options: OutputOptions,
): Promise<{ versions: Versions['versions'] | null; failure: CliFailure | null }> {
  try {
    const { versions } = await apiOf(context, options).json<Versions>({ method: 'GET', path: '/api/v1/status' });
    return { versions, failure: null };
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit === EXIT.interrupted) throw error;
    return { versions: null, failure: error };
  }
}
