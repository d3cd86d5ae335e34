/** MiB that V8 lets grow in each thread before it collects; its default keeps each process some 20 MB larger, and one with threads of workflows more. */
export const SMALL_YOUNG_GENERATION = '--max-semi-space-size=4';
