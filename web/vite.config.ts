import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));

export default defineConfig({
  // Chunks find each other wherever the page is served.
  base: './',
  define: { MUSTER_VERSION: JSON.stringify(version) },
  // What Vite has of itself translates JSX: the plugin of React adds only what a development server reloads with.
  oxc: { jsx: { runtime: 'automatic', development: false } },
  build: {
    target: 'es2022',
    // The helper of older browsers would be a script of its own.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Says which files the first page needs: see deploy/stack/web-size.ts.
    manifest: true,
  },
});
