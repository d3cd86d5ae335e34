/** Writes the plain manifests anew from the chart: `npm run manifests`. */
import { writeManifests } from './plain-manifests.ts';

await writeManifests();
