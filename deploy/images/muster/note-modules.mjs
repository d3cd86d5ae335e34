/** Run while the image is built: notes that all modules are installed, so that `muster` asks for none. */
import { writeFileSync } from 'node:fs';
import { lockfileHash, STAMP } from '../../../bootstrap/installed-node.mjs';

writeFileSync(STAMP, JSON.stringify({ lockfile: lockfileHash(), node: process.execPath }));
