/** How a layer is called: counted from 1, as in the sentences of the API. The API's index begins with 0. */

/** `layer 1/2 base`, by its place among the layers that a session runs; `layer 2` where only its index is known. */
export function layerWords(index: number, layers: readonly { index: number }[] = [], name = ''): string {
  return `layer ${layerPlace(index, layers)} ${name}`.trimEnd();
}

/** `1/2`, or `2` where only its index is known. */
export function layerPlace(index: number, layers: readonly { index: number }[] = []): string {
  const at = layers.findIndex((layer) => layer.index === index);
  return at < 0 ? String(index + 1) : `${at + 1}/${layers.length}`;
}
