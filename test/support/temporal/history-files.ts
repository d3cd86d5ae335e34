/**
 * Recorded histories as JSON files. Written and read through the SDK's own message classes: its ready-made JSON
 * functions need one shared copy of protobufjs, which npm does not install.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { HistoryAndWorkflowId } from '@temporalio/common';

export const HISTORIES = join(import.meta.dirname, '..', '..', 'histories');

type History = HistoryAndWorkflowId['history'];

interface HistoryClass {
  fromObject(plain: object): History;
  toObject(history: object, options: { longs: typeof String; enums: typeof String; bytes: typeof String }): object;
}

function historyClass(): HistoryClass {
  // A dependency of the worker's, not of ours.
  const ofWorker = createRequire(createRequire(import.meta.url).resolve('@temporalio/worker'));
  return ofWorker('@temporalio/proto').temporal.api.history.v1.History;
}

/** An event as its file has it. */
export interface PlainEvent {
  eventId: string;
  eventType: string;
  [member: string]: unknown;
}

/** A history as its file has it. */
export function toPlain(history: object): { events: PlainEvent[] } {
  const plain = historyClass().toObject(history, { longs: String, enums: String, bytes: String });
  return plain as { events: PlainEvent[] };
}

/** Writes a history, without stack traces: these name folders of this machine. */
export function writeHistory(name: string, workflowId: string, history: object): void {
  const plain = toPlain(history);
  const text = JSON.stringify({ workflowId, history: plain }, (key, value) => (key === 'stackTrace' ? '' : value));
  writeFileSync(join(HISTORIES, `${name}.json`), `${text}\n`);
}

/** Text of a recorded history. */
export function historyText(name: string): string {
  return readFileSync(join(HISTORIES, `${name}.json`), 'utf8');
}

/** A recorded history for replay; throws when the text is none. */
export function parseHistory(text: string): HistoryAndWorkflowId {
  const { workflowId, history } = JSON.parse(text);
  return { workflowId, history: historyClass().fromObject(history) };
}
