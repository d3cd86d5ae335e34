/** `npm run docs`: writes the generated documents anew. */
import { writePages } from './pages.ts';

const names = await writePages();
process.stdout.write(`written: ${names.join(', ')} in docs/\n`);
