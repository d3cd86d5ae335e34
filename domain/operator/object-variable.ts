/**
 * Returns the name of the variable that holds a whole resource: `_cache_example_com_memcached`, `__secret`. The variable of its spec has
 * `_spec` behind it.
 */
export function objectVariable(group: string, kind: string): string {
  return `_${group}_${kind.toLowerCase()}`.replaceAll(/[.-]/g, '_');
}
