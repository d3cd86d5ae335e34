import type { z } from 'zod';

declare module 'zod' {
  /** What docs/configuration.md says of a setting, besides its purpose (`description`), and what processes do with it. */
  interface GlobalMeta {
    /** Unit of its number. */
    unit?: string;
    /** What counts without the setting, where that is no value of the schema. */
    fallback?: string;
    /** When a site changes it. */
    change?: string;
    /** It is secret as a whole. */
    secret?: true;
    /** It names a file or a folder, and is handed on to other processes as a whole path. */
    path?: true;
  }
}

/** The settings of a lane, or of a part that serves all lanes. */
interface SettingsGroup {
  settings: Readonly<Record<string, z.ZodType>>;
}

type NamesOf<Groups extends Readonly<Record<string, SettingsGroup>>> = {
  [Group in keyof Groups]: keyof Groups[Group]['settings'];
}[keyof Groups];

type SchemaOf<Groups extends Readonly<Record<string, SettingsGroup>>, Name> = {
  [Group in keyof Groups]: Name extends keyof Groups[Group]['settings'] ? Groups[Group]['settings'][Name] : never;
}[keyof Groups];

/** Returns the settings of all groups, in their order. Throws when two groups have the same setting. */
export function joinSettings<Groups extends Readonly<Record<string, SettingsGroup>>>(
  groups: Groups,
): { [Name in NamesOf<Groups>]: SchemaOf<Groups, Name> } {
  const joined: Record<string, z.ZodType> = {};
  for (const [group, { settings }] of Object.entries(groups)) {
    for (const [name, schema] of Object.entries(settings)) {
      if (Object.hasOwn(joined, name)) throw new Error(`${name} of ${group} is among the settings of another group`);
      joined[name] = schema;
    }
  }
  return joined as { [Name in NamesOf<Groups>]: SchemaOf<Groups, Name> };
}
