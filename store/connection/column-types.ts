/** Kinds of columns that many tables have. */
import type { ColumnType, JSONColumnType } from 'kysely';

export type Json<T extends object> = JSONColumnType<T, string, string>;
export type Time = ColumnType<Date, Date, Date>;
export type OptionalTime = ColumnType<Date | null, Date | null | undefined, Date | null>;
