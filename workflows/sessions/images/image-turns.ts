/** Work on the images of a session, on many at once but not on all of thousands. */
import { patched } from '@temporalio/workflow';

/** Activities that a session has going at once; Temporal takes 2,000 of a workflow. */
const AT_ONCE = 200;

/**
 * Does `work` for each image, in order and for so many at once; answers in their order. No further one is begun after a failure, which is
 * thrown at once.
 */
export async function forEachImage<T>(images: readonly string[], work: (image: string) => Promise<T>): Promise<T[]> {
  // Sessions of before began with all of them.
  const width = images.length > AT_ONCE && patched('images-in-turns') ? AT_ONCE : images.length;
  const answers: T[] = [];
  let next = 0;
  let hasFailed = false;
  const lane = async () => {
    while (next < images.length && !hasFailed) {
      const index = next;
      next += 1;
      try {
        answers[index] = await work(images[index] as string);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return answers;
}
