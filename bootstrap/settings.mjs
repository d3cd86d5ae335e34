import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of this checkout. */
export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** What is downloaded or built lands here, keyed by version, and is shared by all checkouts of a user. */
export const CACHE_DIR = resolve(process.env.MUSTER_CACHE_DIR || join(homedir(), '.cache', 'muster'));

/** The server and web UI that the embedded stack runs. Later CLI versions cannot be built by `go install`. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/** The time-skipping server of the workflow tests. */
export const TEST_SERVER_VERSION = '1.32.0';

/** The development cluster, and what its tests use. */
export const KUBERNETES_VERSION = '1.36.3';
export const CONTAINERD_VERSION = '2.3.7';

/** What decrypts variables in the Ansible execution environment; Debian has no package of it. */
export const SOPS_VERSION = '3.13.3';

/** Lowest versions that are enough. */
export const NEEDED = { node: 20, runtimeNode: 24, python: [3, 11], go: [1, 25], java: 17 };

/** A download gives up after this long without a byte (ms). */
export const DOWNLOAD_STALL_MS = 10_000;
