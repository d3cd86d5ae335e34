/** Named plain texts by namespace: ConfigMaps of a cluster, or files. Missing ones are `config_missing` with the name. */
export interface ConfigMaps {
  get(namespace: string, name: string, key: string): Promise<string>;
  /** Value of the first key in sorted order. */
  first(namespace: string, name: string): Promise<string>;
  put(namespace: string, name: string, key: string, value: string): Promise<void>;
}
