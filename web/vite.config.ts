import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));

export default defineConfig({
  // Chunks find each other wherever the page is served.
  base: './',
  plugins: [react()],
  define: { MUSTER_VERSION: JSON.stringify(version) },
  build: {
    target: 'es2022',
    // The helper of older browsers would be a script of its own.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});
