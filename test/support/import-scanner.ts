/** Finds what a TypeScript or JavaScript file imports and which of Node's globals it reads, without executing it. */
import { parseSync } from '@swc/core';

export interface ImportOf {
  /** What stands between the quotes. */
  specifier: string;
  /** `import type` and `export type`: gone when the file runs. `import { type A }` still loads the module. */
  typeOnly: boolean;
  /** Imported or re-exported names that are there when the file runs; `*` for all, `default` for the default export. */
  names: string[];
  line: number;
}

export interface ScannedFile {
  /** In the order of the lines; also re-exports, dynamic imports of constant names and types like `import('x').A`. */
  imports: ImportOf[];
  /** Lines that read `process.env`. */
  environmentLines: number[];
  /** Lines that begin a query: `.selectFrom(`, `.insertInto(` and the like, or a tagged template `sql`. */
  queryLines: number[];
}

const QUERIES = new Set(['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'replaceInto', 'mergeInto']);

/** A node of the syntax tree; only what is looked at here. */
interface Node {
  type: string;
  span?: { start: number };
  typeOnly?: boolean;
  source?: Node | null;
  argument?: Node;
  arguments?: { expression: Node }[];
  callee?: Node;
  object?: Node;
  property?: Node;
  tag?: Node;
  value?: unknown;
  specifiers?: Specifier[];
}

interface Specifier {
  type: string;
  isTypeOnly?: boolean;
  imported?: { value: string } | null;
  local?: { value: string };
  orig?: { value: string };
}

/** Reads one file; `tsx`: it may hold JSX. Throws when it is no valid TypeScript. */
export function scanFile(source: string, tsx = false): ScannedFile {
  const bytes = Buffer.from(source);
  const result: ScannedFile = { imports: [], environmentLines: [], queryLines: [] };
  // Positions go on counting from file to file; an empty one says where this one begins.
  const { span } = parseSync('', { syntax: 'typescript' });
  const lineOf = (node: Node) =>
    bytes
      .subarray(0, Math.max(0, (node.span?.start ?? 0) - span.end))
      .toString()
      .split('\n').length;
  const add = (node: Node, source: Node | null | undefined, typeOnly: boolean) => {
    if (source?.type !== 'StringLiteral' || typeof source.value !== 'string') return;
    result.imports.push({ specifier: source.value, typeOnly, names: namesOf(node), line: lineOf(node) });
  };
  walk(parseSync(source, { syntax: 'typescript', target: 'es2024', tsx }), (node) => {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        add(node, node.source, node.typeOnly === true);
        break;
      case 'TsImportType':
        add(node, node.argument, true);
        break;
      case 'CallExpression':
        if (node.callee?.type === 'Import') add(node, node.arguments?.[0]?.expression, false);
        if (node.callee?.type === 'MemberExpression' && QUERIES.has(String(node.callee.property?.value))) {
          result.queryLines.push(lineOf(node));
        }
        break;
      case 'TaggedTemplateExpression':
        if (node.tag?.value === 'sql') result.queryLines.push(lineOf(node));
        break;
      case 'MemberExpression':
        if (node.object?.value === 'process' && node.property?.value === 'env') {
          result.environmentLines.push(lineOf(node));
        }
        break;
    }
  });
  result.imports.sort((a, b) => a.line - b.line);
  return result;
}

function namesOf({ type, specifiers }: Node): string[] {
  if (type === 'ExportAllDeclaration' || type === 'CallExpression') return ['*'];
  return (specifiers ?? []).flatMap(({ type: kind, isTypeOnly, imported, local, orig }) => {
    if (isTypeOnly === true) return [];
    if (kind === 'ImportDefaultSpecifier') return ['default'];
    return [imported?.value ?? orig?.value ?? (kind === 'ImportSpecifier' ? local?.value : undefined) ?? '*'];
  });
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit);
  } else if (typeof value === 'object' && value !== null) {
    if ('type' in value && typeof value.type === 'string') visit(value as Node);
    for (const child of Object.values(value)) walk(child, visit);
  }
}
