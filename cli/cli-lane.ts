import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** What a lane brings to the command line: what adds each of its nouns. `HELP_ORDER` of program.ts knows the noun, or it comes last. */
export type CliLane = Readonly<Record<string, (program: Command, context: CliContext) => void>>;
