import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { ACQUIRE, RELEASE, RENEW } from '../../src/lock/redis/scripts.js';

/** The gate's commands; `other` are all that do not concern the lock. */
export type Question = 'acquire' | 'renew' | 'release' | 'other';

/** `reply`: this line, without asking Redis. `aheadMs`: as if Redis' clock were ahead by so much. */
export type RedisTreatment =
  | 'pass'
  | { readonly reply: string }
  | { readonly aheadMs: number }
  /** Forwarded once this has settled. */
  | { readonly after: Promise<unknown> };

/** A proxy between a gate and its Redis, one command after the other, that can answer in its place. */
export interface RedisProxy {
  readonly url: string;
  treat(decide: (question: Question) => RedisTreatment): void;
  /** The target of new connections from now on; open ones break. */
  leadTo(port: number): void;
  readonly asked: readonly Question[];
  stop(): Promise<void>;
}

export async function startRedisProxy(port: number): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  const asked: Question[] = [];
  let decide: (question: Question) => RedisTreatment = () => 'pass';
  let target = port;

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    void serve(client, upstream, (question) => {
      asked.push(question);
      return decide(question);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    treat: (how) => void (decide = how),
    leadTo(other) {
      target = other;
      breakAll();
    },
    async stop() {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(client: Socket, upstream: Socket, treat: (question: Question) => RedisTreatment): Promise<void> {
  const [commands, replies] = [messages(client), messages(upstream)];
  for await (const command of commands) {
    const treatment = treat(questionOf(command));
    if (typeof treatment === 'object' && 'reply' in treatment) {
      client.write(`${treatment.reply}\r\n`);
      continue;
    }
    if (typeof treatment === 'object' && 'after' in treatment) await treatment.after;
    const aheadMs = typeof treatment === 'object' && 'aheadMs' in treatment ? treatment.aheadMs : 0;
    upstream.write(shifted(command, /(\r\n\$13\r\n)(\d{13})(\r\n\$4\r\n1000\r\n)$/, -aheadMs));
    const reply = await replies.next();
    if (reply.done === true) return;
    client.write(shifted(reply.value, /^(\*4\r\n:-?\d\r\n:)(\d{13})(\r\n)/, aheadMs));
  }
}

/** A time of Redis' clock inside a message, shifted. */
function shifted(message: string, at: RegExp, byMs: number): string {
  return byMs === 0
    ? message
    : message.replace(at, (_all, before: string, ms: string, after: string) => `${before}${Number(ms) + byMs}${after}`);
}

const SCRIPTS: readonly (readonly [Question, string])[] = [
  ['acquire', ACQUIRE],
  ['renew', RENEW],
  ['release', RELEASE],
];

/** A script is called by its SHA-1, or sent whole where Redis does not know it yet. */
function questionOf(command: string): Question {
  const found = SCRIPTS.find(
    ([, lua]) => command.includes(createHash('sha1').update(lua).digest('hex')) || command.includes(lua),
  );
  return found?.[0] ?? 'other';
}

/** Complete messages of Redis' protocol, versions 2 and 3; one byte is one character. */
async function* messages(socket: Socket): AsyncGenerator<string> {
  let text = '';
  try {
    for await (const chunk of socket) {
      text += (chunk as Buffer).toString('latin1');
      for (let end = endOf(text, 0); end !== null; end = endOf(text, 0)) {
        yield text.slice(0, end);
        text = text.slice(end);
      }
    }
  } catch {
    // The connection broke; nothing more follows.
  }
}

/** The end of the message that begins at `from`; null while it is incomplete. */
function endOf(text: string, from: number): number | null {
  const lineEnd = text.indexOf('\r\n', from);
  if (lineEnd === -1) return null;
  const [kind = '', size] = [text[from], Number(text.slice(from + 1, lineEnd))];
  let at: number | null = lineEnd + 2;
  if ('$=!'.includes(kind)) {
    if (size >= 0) at += size + 2;
    return at <= text.length ? at : null;
  }
  const parts = '*~>'.includes(kind) ? size : '%|'.includes(kind) ? 2 * size : 0;
  for (let part = 0; part < parts && at !== null; part++) at = endOf(text, at);
  return at;
}
