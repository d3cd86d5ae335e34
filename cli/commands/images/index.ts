import type { CliLane } from '../../cli-lane.ts';
import { imageCommands } from './image-commands.ts';

export const images: CliLane = { image: imageCommands };
