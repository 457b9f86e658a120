/**
 * A crowd before a gate's doors: node crowd.mjs HOST:PORT IDLE PIPELINES SLOW. So many connections that say nothing, that send
 * scrapes without end and read no answer, that send a body one byte at a time. Whoever is cut off comes again. Says "here" when all
 * have come once, and goes on until it is killed.
 */
import { connect } from 'node:net';

const [address = '', idle, pipelines, slow] = process.argv.slice(2);
const [host = '', port] = address.split(':');
const SCRAPES = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000);
const HEAD =
  'POST /admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n';

let toCome = 0;
let cutOff = 0;

/** @param {(socket: import('node:net').Socket) => void} behave */
function come(behave) {
  toCome += 1;
  let first = true;
  const again = () => {
    // Not from where those come who behave.
    const socket = connect({ port: Number(port), host, localAddress: '127.0.0.9' });
    socket.on('error', () => undefined);
    socket.once('connect', () => {
      if (first) toCome -= 1;
      first = false;
      behave(socket);
    });
    socket.once('close', () => {
      cutOff += 1;
      setTimeout(again, 1000);
    });
  };
  again();
}

for (let at = 0; at < Number(idle); at += 1) come((socket) => socket.resume());
for (let at = 0; at < Number(pipelines); at += 1) {
  come((socket) => {
    socket.pause();
    const more = () => {
      if (socket.destroyed) return;
      while (socket.write(SCRAPES));
      socket.once('drain', more);
    };
    // A single scrape first, whose answer stays unread.
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
    setTimeout(more, 100);
  });
}
for (let at = 0; at < Number(slow); at += 1) {
  come((socket) => {
    socket.resume();
    socket.write(HEAD);
    const dripping = setInterval(() => socket.write(' '), 500);
    socket.once('close', () => clearInterval(dripping));
  });
}

const looking = setInterval(() => {
  if (toCome > 0) return;
  clearInterval(looking);
  console.log('here');
}, 50);
process.once('SIGTERM', () => {
  console.log(`${cutOff} times cut off`);
  process.exit(0);
});
