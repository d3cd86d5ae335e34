import type { CliLane } from '../../cli-lane.ts';
import { configurationCommands } from './configuration-commands.ts';
import { optionCommands } from './option-commands.ts';
import { sourceCommands } from './source-commands.ts';

export const configurations: CliLane = {
  configuration: configurationCommands,
  source: sourceCommands,
  option: optionCommands,
};
