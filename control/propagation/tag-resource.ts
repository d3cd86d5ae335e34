import { updateResource } from '../../store/propagation/resources.ts';
import { updateItemTags } from '../../store/propagation/staged-items.ts';
import { storedTags } from './create-resource.ts';
import type { ModelDependencies } from './dependencies.ts';
import { editable } from './stage-edit.ts';
import { writeOne } from './write-model.ts';

/**
 * Adds tags to a resource, or takes them away. Tags are no input: nothing is staged. What is staged already is selected by them.
 * Throws `resource_not_found`, `validation_failed`.
 *
 * Returns all tags of the resource.
 */
export async function tagResource(
  deps: ModelDependencies,
  name: string,
  change: { add?: readonly string[]; remove?: readonly string[] },
): Promise<string[]> {
  const [added, removed] = [storedTags(change.add ?? []), new Set(storedTags(change.remove ?? []))];
  return writeOne(deps, async (write) => {
    const row = await editable(write, name);
    const tags = [...new Set([...row.tags, ...added])].filter((tag) => !removed.has(tag)).sort();
    if (tags.join(' ') === row.tags.join(' ')) return tags;
    await updateResource(write.trx, name, { tags }, write.now, write.actor);
    await updateItemTags(write.trx, name, tags);
    return tags;
  });
}
