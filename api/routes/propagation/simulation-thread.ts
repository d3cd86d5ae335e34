/** The thread that simulates: it takes the bytes of a body and answers the bytes of an answer, or what is refused. */
import { parentPort } from 'node:worker_threads';
import { isMusterError, type MusterError } from '../../../domain/errors.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import type { SimulateInput } from '../../../domain/propagation/simulate-schema.ts';
import { parseJson } from '../../server/json-body.ts';

export type SimulationAnswer =
  | { json: Uint8Array }
  | { refused: Pick<MusterError, 'code' | 'detail' | 'field' | 'errors'> };

parentPort?.on('message', (body: Uint8Array) => {
  const answer = answerTo(body);
  parentPort?.postMessage(answer, 'json' in answer ? [answer.json.buffer as ArrayBuffer] : []);
});

function answerTo(body: Uint8Array): SimulationAnswer {
  try {
    return { json: new TextEncoder().encode(JSON.stringify(simulate(parseJson(body) as SimulateInput))) };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const { code, detail, field, errors } = error;
    return { refused: { code, detail, field, errors } };
  }
}
