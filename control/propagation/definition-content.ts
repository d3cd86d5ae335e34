/** What is stored of the files of a definition, wherever they come from. */
import { createHash } from 'node:crypto';
import type { Definition } from '../../domain/propagation/definition-schema.ts';
import { canonicalText } from '../../domain/propagation/freeze.ts';
import type { ReadYaml } from '../../domain/propagation/ports.ts';
import { checkFiles, META_FILE, readDefinition } from '../../domain/propagation/read-definition.ts';

export interface DefinitionContent {
  definition: Definition;
  /** Of the whole content: of each path and the hash of its file. */
  hash: string;
  /** Hash of each file by its path. */
  hashes: Map<string, string>;
}

/**
 * Checks the files of a definition and reads it.
 * Throws `validation_failed`, `not_supported`, `value_too_large`, `secret_by_reference`, `secret_not_allowed`.
 */
export function contentOf(readYaml: ReadYaml, files: ReadonlyMap<string, Uint8Array>, name: string): DefinitionContent {
  checkFiles(new Map([...files].map(([path, bytes]) => [path, bytes.length])));
  const meta = readYaml(new TextDecoder().decode(files.get(META_FILE)), META_FILE);
  const definition = readDefinition(meta, files.keys(), name);
  const hashes = new Map([...files].map(([path, bytes]) => [path, sha256(bytes)]));
  return { definition, hash: sha256(canonicalText(Object.fromEntries(hashes))), hashes };
}

/** Returns the hash by which content is stored. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
