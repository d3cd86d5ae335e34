/** How a layer is called where a person reads: counted from 1. The index of the API, and what is stored, begins with 0. */

/** Which one of the layers that a session runs. */
export interface LayerCount {
  number: number;
  of: number;
}

/** `layer 2`: where nothing is known but the index. */
export const layerNumber = (index: number): string => `layer ${index + 1}`;

/** The place of a layer among those that a session runs; undefined where it is none of them. */
export function placeOfLayer(layers: readonly { index: number }[], index: number): LayerCount | undefined {
  const at = layers.findIndex((layer) => layer.index === index);
  return at < 0 ? undefined : { number: at + 1, of: layers.length };
}

/** `layer 1/2 site.yml`; `layer 2 site.yml` where only the index is known. */
export function layerName(index: number, place: LayerCount | undefined, playbook: string): string {
  return `${place === undefined ? layerNumber(index) : `layer ${place.number}/${place.of}`} ${playbook}`;
}
