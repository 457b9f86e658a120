import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A server that speaks just enough of Redis' protocol to refuse. */
export interface ReplyingServer {
  readonly url: string;
  /** The answer to every command except those of the handshake. */
  reply: string;
  stop(): Promise<void>;
}

/** Connecting works (`HELLO` is unknown, `INFO` is short); everything else gets one and the same reply line. */
export async function startReplying(reply: string): Promise<ReplyingServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    socket.on('data', (data) => {
      for (const command of commandsIn(data.toString())) socket.write(`${answerTo(command)}\r\n`);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  function answerTo(command: string): string {
    if (command === 'HELLO') return `-ERR unknown command 'HELLO'`;
    if (command === 'CLIENT') return '+OK';
    if (command === 'INFO') return '$9\r\nloading:0';
    return self.reply;
  }

  const self: ReplyingServer = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reply,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return self;
}

/** The first word of each command: `*2\r\n$4\r\nINFO\r\n…`. Sufficient as long as no argument looks like that. */
function commandsIn(data: string): readonly string[] {
  return [...data.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)].map(([, word]) => (word ?? '').toUpperCase());
}
