import { join } from 'node:path';

/** Where things are in the data directory. */
export function dataPaths(dataDir: string) {
  return {
    secretKey: join(dataDir, 'secret.key'),
    /** Key of the MACs of what goes through Temporal. */
    macKey: join(dataDir, 'mac.key'),
    configMaps: join(dataDir, 'configmaps'),
    mirrors: join(dataDir, 'mirrors'),
    workspaces: join(dataDir, 'workspaces'),
    runs: join(dataDir, 'runs'),
    ssh: join(dataDir, 'ssh'),
    /** Files of a moment, a folder for each process: it is emptied when that begins, of what one that was killed has left. */
    temporary: { api: join(dataDir, 'tmp', 'api'), worker: join(dataDir, 'tmp', 'worker') },
    images: join(dataDir, 'images'),
    /** Workflow code as Temporal runs it; made anew when it is not there. */
    bundles: join(dataDir, 'bundles'),
  };
}

/** What is for its owner alone, whatever a former release made of it. Workspaces, and what images are unpacked into, have the modes of their content. */
export function privatePaths(dataDir: string): { whole: string[]; single: string[] } {
  const paths = dataPaths(dataDir);
  const ofImages = ['', 'host-id', 'installation-id', 'images', 'incoming', 'lost'].map((name) =>
    join(paths.images, name),
  );
  return {
    whole: [paths.configMaps, paths.mirrors, paths.runs, paths.ssh, paths.bundles],
    single: [join(dataDir, 'host-id'), paths.secretKey, paths.macKey, paths.workspaces, ...ofImages],
  };
}
