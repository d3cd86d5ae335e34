import { connect } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { NoAnswer } from './component.ts';

const METHOD = '/temporal.api.operatorservice.v1.OperatorService/ListSearchAttributes';
const TIMEOUT_MS = 3_000;
const NO_ANSWER = 'no answer';

/**
 * Whether a Temporal server on loopback is ready for Muster: it answers for the namespace, and the search attributes are
 * registered in it, which the development server does a moment after it listens. Asked by one plain gRPC call, so that
 * the supervisor needs no SDK in memory.
 * @returns null when ready, else why not
 */
export async function probeTemporal(
  port: number,
  namespace: string,
  attributes: readonly string[],
): Promise<string | null> {
  const late = delay(TIMEOUT_MS, { status: '', message: NO_ANSWER, body: '' }, { ref: false });
  const answer = await Promise.race([call(port, namespace), late]);
  if (answer.message === NO_ANSWER) throw new NoAnswer(NO_ANSWER);
  if (answer.status !== '0') return answer.message || `gRPC status ${answer.status}`;
  const missing = attributes.filter((name) => !answer.body.includes(name));
  return missing.length === 0 ? null : `search attributes are not registered yet: ${missing.join(', ')}`;
}

interface GrpcAnswer {
  status: string;
  message: string;
  body: string;
}

function call(port: number, namespace: string): Promise<GrpcAnswer> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const finish = (answer: GrpcAnswer): void => {
      session.destroy();
      resolve(answer);
    };
    session.once('error', (error) => finish({ status: '', message: error.message, body: '' }));
    const stream = session.request({
      ':method': 'POST',
      ':path': METHOD,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let status = '';
    let message = '';
    let body = '';
    const takeStatus = (headers: Record<string, unknown>): void => {
      status = String(headers['grpc-status'] ?? status);
      message = decodeURIComponent(String(headers['grpc-message'] ?? message));
    };
    stream.setEncoding('latin1');
    stream.on('response', takeStatus);
    stream.on('trailers', takeStatus);
    stream.on('data', (chunk: string) => {
      body += chunk;
    });
    stream.once('error', (error) => finish({ status: '', message: error.message, body }));
    stream.once('end', () => finish({ status, message, body }));
    stream.end(frame(namespace));
  });
}

/** The gRPC frame of the message {1: namespace}. Namespaces are shorter than 128 bytes or refused by the server anyway. */
function frame(namespace: string): Buffer {
  const name = Buffer.from(namespace).subarray(0, 127);
  const message = Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}
