/** The loads that `wrk` cannot make: WebSocket messages, the first byte on new connections, open event streams. */
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'

export type LoadTask = {
  what: 'messages' | 'first byte' | 'streams'
  /** The number of connections; to measure first bytes they are opened one after the other. */
  count: number
  seconds: number
  port: number
  host: string
  cookies: readonly string[]
}

const WARM_UP_MS = 500
const MESSAGE_BYTES = 64
/** A masked text frame with a mask of zeros (RFC 6455 §5.2). */
const FRAME = Buffer.concat([Buffer.from([0x81, 0x80 | MESSAGE_BYTES, 0, 0, 0, 0]), Buffer.alloc(MESSAGE_BYTES, 'm')])

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A connection with its request sent; resolves with the first bytes of the answer. */
async function openStream(
  { port, host, cookies }: LoadTask,
  path: string,
  index: number,
  more = '',
): Promise<[Socket, Buffer]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const cookie = cookies[index % cookies.length]!
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nAccept: */*\r\n${more}\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  return [socket, first]
}

function statusOf(head: Buffer): string {
  return head.toString('latin1', 9, 12)
}

/** Messages a second, there and back, one in flight on each connection. */
async function messages(task: LoadTask): Promise<{ rate: number }> {
  let count = 0
  const upgrade =
    `Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://${task.host}\r\nSec-WebSocket-Version: ` +
    `13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`
  for (let i = 0; i < task.count; i++) {
    const [socket, head] = await openStream(task, '/program/live', i, upgrade)
    if (statusOf(head) !== '101') throw new Error(head.toString())
    let missing = FRAME.length
    socket.on('data', (chunk: Buffer) => {
      missing -= chunk.length
      if (missing > 0) return
      missing = FRAME.length
      count++
      socket.write(FRAME)
    })
    socket.write(FRAME)
  }
  await sleep(WARM_UP_MS)
  const [before, startedAt] = [count, performance.now()]
  await sleep(task.seconds * 1_000)
  return { rate: ((count - before) / (performance.now() - startedAt)) * 1_000 }
}

/** The median time from a new connection's start to the first byte of its answer. */
async function firstByte(task: LoadTask): Promise<{ medianMs: number }> {
  const took: number[] = []
  for (let i = 0; i < task.count; i++) {
    const startedAt = performance.now()
    const [socket, head] = await openStream(task, '/page', i)
    took.push(performance.now() - startedAt)
    if (statusOf(head) !== '200') throw new Error(head.toString())
    socket.destroy()
  }
  return { medianMs: took.toSorted((a, b) => a - b)[took.length >> 1]! }
}

/** Keeps those open that were answered, until this process is ended. */
async function streams(task: LoadTask): Promise<{ open: number }> {
  let open = 0
  for (let i = 0; i < task.count; i++) {
    const answered = openStream(task, '/program/events', i).then(([, head]) => statusOf(head) === '200')
    if (await Promise.race([answered, sleep(2_000)])) open++
    else break
  }
  return { open }
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2]!) as LoadTask
  const result = await { messages, 'first byte': firstByte, streams }[task.what](task)
  console.log(`result ${JSON.stringify(result)}`)
  if (task.what !== 'streams') process.exit()
}
