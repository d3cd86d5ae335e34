/** The database as those above the store see it: a handle to pass on, and the records that control functions answer. */
export type { Kysely } from 'kysely';
export type { SessionRow } from '../store/sessions/sessions.ts';
export type { Database } from '../store/tables.ts';
