/** A heap of numbers: of very many numbers the first by any order is at hand. */

type IsBefore = (a: number, b: number) => boolean;

/** Adds a number. */
export function pushHeap(heap: number[], node: number, isBefore: IsBefore): void {
  let place = heap.length;
  heap.push(node);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent] as number;
    if (!isBefore(node, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = node;
}

/** Takes the number that stands before all others; undefined: there is none. */
export function popHeap(heap: number[], isBefore: IsBefore): number | undefined {
  const top = heap[0];
  const node = heap.pop();
  if (top === undefined || node === undefined || heap.length === 0) return top;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as number, heap[child] as number)) child += 1;
    if (!isBefore(heap[child] as number, node)) break;
    heap[place] = heap[child] as number;
    place = child;
  }
  heap[place] = node;
  return top;
}
