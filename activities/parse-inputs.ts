/** Activities believe nothing of what comes to them by way of the engine: each parses its input before it does anything. */
import { musterError } from '../domain/errors.ts';

/** What a schema of the domain can do. */
interface InputSchema<T> {
  safeParse(
    input: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

// biome-ignore lint/suspicious/noExplicitAny: only so is any function of one argument or none of this type
type Activity = (input: any) => Promise<unknown>;

/** For each activity the schema of its input, null for one that takes none. */
export type InputSchemas<A> = {
  [Name in keyof A]: A[Name] extends Activity
    ? Parameters<A[Name]> extends []
      ? null
      : InputSchema<Parameters<A[Name]>[0]>
    : never;
};

/**
 * The activities, each behind its schema: what is not of the form fails with `bad_data`, which is not tried again, and what the
 * schema does not name is left out.
 */
export function parseInputs<A extends object>(schemas: InputSchemas<A>, activities: A): A {
  const parsed = Object.entries(activities).map(([name, activity]: [string, Activity]) => {
    const schema = (schemas as Record<string, InputSchema<unknown> | null | undefined>)[name];
    if (schema === undefined) throw new Error(`activity ${name} has no schema`);
    return [name, schema === null ? () => activity(undefined) : parsing(name, schema, activity)];
  });
  return Object.fromEntries(parsed) as A;
}

function parsing(name: string, schema: InputSchema<unknown>, activity: Activity): Activity {
  return async (input: unknown) => {
    const result = schema.safeParse(input);
    if (result.success) return activity(result.data);
    const mistakes = result.error.issues.map(
      ({ path, message }) => `${path.map(String).join('.') || 'input'}: ${message}`,
    );
    throw musterError('bad_data', `${name} refuses its input: ${mistakes.slice(0, 5).join('; ')}`);
  };
}
