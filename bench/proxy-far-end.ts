/** The program behind the far nginx of the proxy bench: echoes WebSocket messages and keeps event streams open. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'

export const APPLICATION_PORT = 9_001
/** RFC 6455 §1.3. */
const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

if (import.meta.main) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    response.write('data: hello\n\n')
  })
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${ACCEPT_GUID}`).digest('base64')
    socket.on('error', () => socket.destroy())
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ` +
        `${accept}\r\n\r\n`,
    )
    // Frames go back unchanged: the bench counts bytes of whole messages.
    socket.pipe(socket)
  })
  server.listen(APPLICATION_PORT, '127.0.0.1', () => console.log('listening'))
}
