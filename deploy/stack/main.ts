/** Composition root of the embedded stack: `npm start` runs it in the terminal, `muster up` in the background. */
import { runStack } from './run-stack.ts';

process.exit(await runStack({ env: process.env }));
