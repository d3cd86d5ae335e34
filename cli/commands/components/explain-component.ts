import type { Command } from 'commander';
import type { Explanation } from '../../../domain/explain-schema.ts';
import { segment } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { apiOf, type OutputOptions, type WatchOptions, withOutput, withWatch } from '../../options.ts';
import { explanationText } from '../../output/explanation.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { watching } from '../../watch.ts';

/** `muster component explain ID` */
export function explainCommand(noun: Command, context: CliContext): void {
  withWatch(withOutput(noun.command('explain')))
    .description('say why a component stands as it does, what it waits for, and what to do')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      const path = `/api/v1/components/${segment(id)}/explain`;
      await watching(context, options, async () => {
        const explanation = await api.json<Explanation>({ method: 'GET', path }).catch(unknownToServer);
        const { output } = options;
        writeData(
          context,
          isValueFormat(output) ? await renderValue(explanation, output) : explanationText(explanation),
        );
      });
    });
}

/** An older server has no such route: it says so of the path, and of no component. */
function unknownToServer(error: unknown): never {
  if (!(error instanceof CliFailure) || error.code !== 'not_found') throw error;
  throw new CliFailure(
    'not_supported',
    'this server does not explain components',
    EXIT.usage,
    'use a newer release of the server',
  );
}
