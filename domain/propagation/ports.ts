/** What lane propagation asks of others. */

/**
 * Reads a YAML text safely, with a limit on aliases.
 * Throws `validation_failed` with the place of a mistake.
 */
export type ReadYaml = (text: string, file: string) => unknown;
