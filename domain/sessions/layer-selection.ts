/**
 * Indices of the layers that a configuration limit selects, ascending and each once (cfs-flows 1.4). An empty limit
 * selects all. A limit whose items are all digits names indices, of which those out of range are dropped; any other
 * limit names layers, exactly; a layer without name is never meant. An empty answer is a failed session, not an error.
 */
export function selectLayers(layers: readonly { name?: string | null | undefined }[], limit: string): number[] {
  const all = layers.map((_, index) => index);
  if (limit === '') return all;
  const items = limit
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.every((item) => /^[0-9]+$/.test(item))) {
    const wanted = new Set(items.map(Number));
    return all.filter((index) => wanted.has(index));
  }
  const wanted = new Set(items);
  return all.filter((index) => {
    const name = layers[index]?.name;
    return typeof name === 'string' && wanted.has(name);
  });
}
