import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { ImportOf } from '../support/import-scanner.ts';
import { importedPath, packageOf, ROOT, readSourceTree, type SourceFile } from '../support/source-tree.ts';
import {
  COMPOSITION_ROOTS,
  CONTRACTS,
  ENVIRONMENT_FILES,
  GATHERING,
  LANED,
  LANELESS,
  LANES,
  LAYERS,
  LISTS,
  LOCAL_RULES,
  MAIN_FILES,
  MESSAGES,
  QUERY_FILES,
  READING,
  SHARED_BY_ROOTS,
  TEST_FOLDERS,
  WITH_MANIFESTS,
  ZOD_FILES,
} from './layers.ts';

const FILES = readSourceTree();
const layerOf = (path: string) => path.split('/')[0] ?? '';

/** Complaints about every import that `wrong` has a sentence for, as `file:line sentence`. */
function complaints(wrong: (file: SourceFile, imported: ImportOf) => string | null): string[] {
  return FILES.flatMap((file) =>
    file.imports.flatMap((imported) => {
      const sentence = wrong(file, imported);
      return sentence === null ? [] : [`${file.path}:${imported.line} ${sentence}`];
    }),
  );
}

/** Lane of a file, null where its folder has none. */
function laneOf(path: string): string | null {
  const folder = LANED.find((candidate) => path.startsWith(`${candidate}/`));
  const lane = folder && path.slice(folder.length + 1).split('/')[0];
  return lane !== undefined && lane in LANES ? lane : null;
}

describe('imports', () => {
  test('there is something to look at', () => {
    expect(FILES.length).toBeGreaterThan(200);
    expect(FILES.flatMap(({ imports }) => imports).length).toBeGreaterThan(1_000);
  });

  test('every folder with code is in the table', () => {
    expect([...new Set(FILES.map(({ path }) => layerOf(path)))].filter((layer) => !(layer in LAYERS))).toEqual([]);
  });

  test('every relative import names a file that is there', () => {
    expect(
      complaints(({ path }, { specifier }) => {
        const target = importedPath(path, specifier);
        return target === null || existsSync(join(ROOT, target)) ? null : `imports ${specifier}: there is none`;
      }),
    ).toEqual([]);
  });

  test('folders import what the table allows', () => {
    expect(
      complaints(({ path }, { specifier, typeOnly, names }) => {
        const target = importedPath(path, specifier);
        if (target === null) return null;
        const [from, to] = [layerOf(path), layerOf(target)];
        const layer = LAYERS[from];
        if (from === to || layer === undefined) return null;
        const root =
          COMPOSITION_ROOTS.includes(path) &&
          (!['cli', 'web', 'api', 'worker', 'test'].includes(to) || target === SHARED_BY_ROOTS);
        const local = path === LOCAL_RULES.by && LOCAL_RULES.of.test(target);
        const harmless = typeOnly || names.every((name) => /^[A-Z][A-Z0-9_]*$/.test(name));
        const allowed = [
          ...layer.imports,
          ...(typeOnly ? (layer.types ?? []) : []),
          ...(harmless ? (layer.constants ?? []) : []),
        ];
        if (root || local || allowed.includes('*') || allowed.includes(to)) return null;
        return `${from} may not import ${typeOnly ? 'types of ' : ''}${to} (${specifier})`;
      }),
    ).toEqual([]);
  });

  test('folders import the packages that the table allows', () => {
    expect(
      complaints(({ path }, { specifier, typeOnly }) => {
        if (specifier.startsWith('.')) return null;
        const layer = LAYERS[layerOf(path)];
        if (layer === undefined) return null;
        if (isBuiltin(specifier)) {
          if (!specifier.startsWith('node:')) return `imports ${specifier} without node:`;
          return layer.node === false ? `may not import ${specifier}` : null;
        }
        const name = packageOf(specifier);
        const allowed = [...layer.vendors, ...(typeOnly ? (layer.vendorTypes ?? []) : [])];
        const root = COMPOSITION_ROOTS.includes(path) || layerOf(path) === 'worker';
        if (allowed.includes('*') || allowed.includes(name) || (root && name.startsWith('@temporalio/'))) return null;
        return `may not import ${typeOnly ? 'types of ' : ''}${name}`;
      }),
    ).toEqual([]);
  });

  test('zod stands in schema files of the domain', () => {
    expect(
      complaints(({ path }, { specifier }) =>
        layerOf(path) === 'domain' && specifier === 'zod' && !ZOD_FILES.test(path) ? 'is no schema file' : null,
      ),
    ).toEqual([]);
  });

  test('control and api know the messages of workflows, nothing else of them', () => {
    expect(
      complaints(({ path }, { specifier }) => {
        const target = importedPath(path, specifier);
        if (target === null || !['control', 'api'].includes(layerOf(path))) return null;
        return layerOf(target) === 'workflows' && !MESSAGES.test(target) ? `imports ${target}` : null;
      }),
    ).toEqual([]);
  });

  test('workflows know the contract of activities, nothing else of them', () => {
    expect(
      complaints(({ path }, { specifier }) => {
        const target = importedPath(path, specifier);
        if (target === null || layerOf(path) !== 'workflows' || layerOf(target) !== 'activities') return null;
        return CONTRACTS.test(target) ? null : `imports ${target}`;
      }),
    ).toEqual([]);
  });

  test('the api writes nothing into the store', () => {
    expect(
      complaints(({ path }, { specifier, typeOnly, names }) => {
        const target = importedPath(path, specifier);
        if (target === null || typeOnly || layerOf(path) !== 'api' || layerOf(target) !== 'store') return null;
        const others = COMPOSITION_ROOTS.includes(path) ? [] : names.filter((name) => !READING.test(name));
        return others.length === 0 ? null : `imports ${others.join(', ')} of ${target}`;
      }),
    ).toEqual([]);
  });

  test('lanes use lanes below them', () => {
    expect(
      complaints(({ path }, { specifier }) => {
        const target = importedPath(path, specifier);
        const [from, to] = [laneOf(path), target === null ? null : laneOf(target)];
        if (from === null || to === null || from === to || LANES[from]?.includes(to)) return null;
        return `lane ${from} may not use lane ${to} (${specifier})`;
      }),
    ).toEqual([]);
  });

  test('what all lanes share uses none of them', () => {
    expect(
      complaints(({ path }, { specifier }) => {
        const target = importedPath(path, specifier);
        const shared = LANED.some((folder) => path.startsWith(`${folder}/`)) && laneOf(path) === null;
        if (target === null || !shared || GATHERING.includes(path)) return null;
        return laneOf(target) === null ? null : `is in no lane and uses lane ${laneOf(target)} (${specifier})`;
      }),
    ).toEqual([]);
  });

  test('the graph of lanes has no cycle', () => {
    const reachable = (lane: string): string[] => (LANES[lane] ?? []).flatMap((below) => [below, ...reachable(below)]);
    for (const lane of Object.keys(LANES)) expect(reachable(lane)).not.toContain(lane);
  });

  test('no file names itself by way of others, not even by types', () => {
    const graph = new Map(
      FILES.map(({ path, imports }) => [path, imports.flatMap(({ specifier }) => importedPath(path, specifier) ?? [])]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      else if (!done.has(path)) {
        for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
        done.add(path);
      }
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });
});

describe('contents', () => {
  test('the environment is read by composition roots alone', () => {
    const readers = FILES.filter(({ path }) => !ENVIRONMENT_FILES.test(path));
    expect(readers.flatMap(({ path, environmentLines }) => environmentLines.map((line) => `${path}:${line}`))).toEqual(
      [],
    );
  });

  test('queries stand in the store alone', () => {
    const others = FILES.filter(({ path }) => !QUERY_FILES.test(path));
    expect(others.flatMap(({ path, queryLines }) => queryLines.map((line) => `${path}:${line}`))).toEqual([]);
  });
});

describe('lists of lanes', () => {
  const importsOf = (path: string) =>
    FILES.find((file) => file.path === path)?.imports.map(({ specifier }) => importedPath(path, specifier)) ?? [];

  test.each(Object.entries(LISTS))('%s has every lane with a file there', (list, listed) => {
    const files = FILES.map(({ path }) => path).filter((path) => listed.test(path));
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((path) => !importsOf(list).includes(path))).toEqual([]);
  });

  test('config/environment.ts has every lane with settings', () => {
    const isOfLane = (name: string) => Object.keys(LANES).some((lane) => name === lane || name.startsWith(`${lane}-`));
    const files = FILES.flatMap(({ path }) => /^config\/([a-z-]+)\.ts$/.exec(path)?.[1] ?? []).filter(isOfLane);
    expect(files.length).toBeGreaterThan(5);
    const joined = importsOf('config/environment.ts');
    expect(files.filter((name) => !joined.includes(`config/${name}.ts`))).toEqual([]);
  });

  test('every folder of routes or commands brings itself', () => {
    const paths = new Set(FILES.map(({ path }) => path));
    const folders = WITH_MANIFESTS.flatMap((folder) =>
      [...paths].flatMap((path) => new RegExp(`^${folder}/[a-z-]+(?=/)`).exec(path)?.[0] ?? []),
    );
    expect(folders.length).toBeGreaterThan(20);
    expect([...new Set(folders)].filter((folder) => !paths.has(`${folder}/index.ts`))).toEqual([]);
  });
});

describe('files', () => {
  test.each(MAIN_FILES)('%s has less than 120 lines, and no function of more than 60', (path) => {
    expect(FILES.find((file) => file.path === path)?.lines).toBeLessThan(120);
    const text = readFileSync(join(ROOT, path), 'utf8');
    const functions = [...text.matchAll(/^(?:export )?(?:async )?function (\w+)[\s\S]*?^\}$/gm)];
    expect(functions.length).toBeGreaterThan(0);
    expect(functions.filter(([body]) => body.split('\n').length > 60).map(([, name]) => name)).toEqual([]);
  });

  test('bear names in kebab case that say what is inside', () => {
    const parts = FILES.flatMap(({ path }) => path.split('/').map((part) => ({ path, part })));
    const wrong = parts.filter(
      ({ part }) =>
        !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part) ||
        /^(.*-)?(utils?|helpers?|common|managers?|misc)$/.test(part.split('.')[0] ?? ''),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('have at most 300 lines, those of tests and benches 500', () => {
    const isTest = (path: string) => /^(test|bench)\//.test(path);
    const product = FILES.filter(({ path }) => !isTest(path));
    const sizes = product.map(({ lines }) => lines).sort((a, b) => a - b);
    process.stdout.write(`${sizes.length} files, median ${sizes[sizes.length >> 1]} lines, longest ${sizes.at(-1)}\n`);
    const long = FILES.filter(({ path, lines }) => lines > (isTest(path) ? 500 : 300));
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  test('of bootstrap are plain JavaScript', () => {
    expect(FILES.filter(({ path }) => path.startsWith('bootstrap/') && !path.endsWith('.mjs'))).toEqual([]);
  });

  test('of tests stand in the folder of a lane or of a layer, pages of lanes bear the name of a lane', () => {
    const folders = new Set(
      FILES.flatMap(({ path }) => (path.startsWith('test/') ? (path.split('/').at(1) ?? []) : [])),
    );
    const allowed = new Set([...Object.keys(LANES), ...Object.keys(LAYERS), ...TEST_FOLDERS]);
    expect([...folders].filter((folder) => !folder.includes('.') && !allowed.has(folder))).toEqual([]);
    const pages = readdirSync(join(ROOT, 'docs', 'lanes')).map((name) => name.replace(/\.md$/, ''));
    expect(
      pages.filter((page) => !Object.keys(LANES).some((lane) => page === lane || page.startsWith(`${lane}-`))),
    ).toEqual([]);
  });

  test('of lanes are in folders of the lane alone', () => {
    const strange = FILES.flatMap(({ path }) => {
      const folder = LANED.find((candidate) => path.startsWith(`${candidate}/`));
      const [lane, ...rest] = folder === undefined ? [] : path.slice(folder.length + 1).split('/');
      return lane === undefined || rest.length === 0 || lane in LANES || LANELESS.includes(lane)
        ? []
        : [`${folder}/${lane}`];
    });
    expect([...new Set(strange)]).toEqual([]);
  });

  test('of tests say their level', () => {
    const levels = /\.(domain|activity|workflow|store|api|e2e|browser|cluster)\.test\.ts$/;
    const tests = FILES.filter(({ path }) => path.endsWith('.test.ts') && !path.startsWith('test/architecture/'));
    expect(tests.filter(({ path }) => !levels.test(path)).map(({ path }) => path)).toEqual([]);
    expect(tests.filter(({ path }) => !path.startsWith('test/')).map(({ path }) => path)).toEqual([]);
  });
});
