import type { CliLane } from '../../cli-lane.ts';
import { contextCommands } from './context-commands.ts';
import { signInCommand, signOutCommand, whoamiCommand } from './sign-in-commands.ts';
import { tokenCommands } from './token-commands.ts';

export const access: CliLane = {
  token: tokenCommands,
  'sign-in': signInCommand,
  'sign-out': signOutCommand,
  whoami: whoamiCommand,
  context: contextCommands,
};
