/**
 * The far end of the tunnel benches, on the TCP of Linux inside a namespace. One port sends endlessly, one receives and
 * reports the amount ten times a second, one answers short requests with a page of a few hundred bytes.
 */
import { createServer, type Socket } from 'node:net'

export const DOWNLOAD_PORT = 5001
export const UPLOAD_PORT = 5002
export const REQUEST_PORT = 5003
export const RESPONSE = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 200\r\n\r\n${'x'.repeat(200)}`

const BLOCK = Buffer.alloc(256 << 10, 'x')
const REPORT_EVERY_MS = 100

function download(socket: Socket): void {
  const fill = (): void => {
    while (!socket.destroyed && socket.write(BLOCK));
  }
  socket.on('drain', fill)
  fill()
}

function upload(socket: Socket): void {
  let bytes = 0
  const report = setInterval(() => {
    const count = Buffer.alloc(8)
    count.writeBigUInt64BE(BigInt(bytes))
    socket.write(count)
  }, REPORT_EVERY_MS)
  socket.on('data', (chunk) => (bytes += chunk.length))
  socket.on('close', () => clearInterval(report))
}

function answer(socket: Socket): void {
  socket.setNoDelay()
  socket.on('data', (chunk) => {
    if (chunk.includes('\r\n\r\n')) socket.write(RESPONSE)
  })
}

if (import.meta.main) {
  for (const [port, serve] of [
    [DOWNLOAD_PORT, download],
    [UPLOAD_PORT, upload],
    [REQUEST_PORT, answer],
  ] as const)
    createServer((socket) => serve(socket.on('error', () => socket.destroy()))).listen(port)
  console.log('listening')
}
