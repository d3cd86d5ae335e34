/** A session's working folder: what is where in it, and what can be asked of the machine that has it. */
export interface WorkspacePaths {
  dir: string;
  ansibleConfig: string;
  /** Inventory folder; additional inventory is cloned to the same place. */
  hosts: string;
  sshKey: string;
  /** Certificate for that key; ssh finds it by its name. */
  sshCertificate: string;
  /** The installation's own key, where `sshKey` is another one. */
  plainKey: string;
  /** Key for the images of the session. */
  imageKey: string;
  knownHosts: string;
  controlPath: string;
  vaultPassword: string;
  limit: string;
  /** Begin of the paths of the files of extra variables; a number follows. */
  extraVars: string;
}

export interface Workspaces {
  paths(sessionId: string): WorkspacePaths;
  layerDir(sessionId: string, layer: number): string;
  /** Makes the folders; harmless when they are there. */
  make(sessionId: string): Promise<WorkspacePaths>;
  /** Writes a file that only we may read, whole or not at all. */
  writePrivate(path: string, text: string): Promise<void>;
  /** Removes such a file; harmless when there is none. */
  removePrivate(path: string): Promise<void>;
  /** Real path of `relative` inside `dir`, or null when it is not there or lies outside. */
  inside(dir: string, relative: string): Promise<string | null>;
  remove(sessionId: string): Promise<void>;
  /** Sessions that have a workspace here. */
  list(): Promise<string[]>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}
