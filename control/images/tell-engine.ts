import type { ImageDependencies, ImageEngine } from './ports.ts';

/** Tells the engine about a job that is recorded; when it does not hear, the sweep tells it within two minutes. */
export async function tellEngine(
  { imageEngine, log }: Pick<ImageDependencies, 'imageEngine' | 'log'>,
  word: keyof ImageEngine,
  jobId: string,
): Promise<void> {
  try {
    await imageEngine[word](jobId);
  } catch (error) {
    log.warn({ imageJob: jobId, word, err: String(error) }, 'the engine was not told of an image job; the sweep will');
  }
}
