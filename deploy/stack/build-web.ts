/** `npm run build:web [-- FOLDER]`: builds the web UI for a stack of this checkout, or into a folder. */
import { resolve } from 'node:path';
import { buildWeb, webFolder } from './web-files.ts';

const [given] = process.argv.slice(2);
try {
  const folder = given === undefined ? await ownFolder() : resolve(given);
  await buildWeb(folder);
  process.stdout.write(`${folder}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** Where the stack of this checkout looks. The settings are read for that alone: an image is built without what reads them. */
async function ownFolder(): Promise<string> {
  const { loadEnvironment } = await import('../../config/environment.ts');
  return webFolder(loadEnvironment(process.env).MUSTER_DATA_DIR);
}
