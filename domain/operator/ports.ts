/** What the rules of loading ask the world outside. */

/** The disk on which the home of an operator lies. */
export interface HomeFiles {
  /** Whether anything, a file or a folder, is at this absolute path. */
  exists(path: string): boolean;
}

/** A text that was read as YAML, or why it is none. */
export type YamlReading =
  | {
      /** Value of the first document, as JSON has it; null for a text without content. */
      value: unknown;
      /** Sentences on what is in the text and not in the value: further documents, tags that are not known. */
      leftOut: string[];
    }
  | { mistake: string };

/** Reads YAML 1.1 as the reference operator does; a repeated key keeps its last value. */
export type ParseYaml = (text: string) => YamlReading;
