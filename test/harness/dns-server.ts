import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decode, encode, type Answer } from 'dns-packet'

/** A small authoritative DNS server on loopback: it answers from its records, and no other names exist. */
export type DnsServer = {
  /** `address:port`, for GATEWAY_DNS_SERVERS. */
  address: string
  /** The queried names with their types, in order: `SRV _hedgerow._tcp.example.test`. */
  readonly questions: string[]
  /** Replaces every record. */
  serve(records: Answer[]): void
  stop(): Promise<void>
}

/** RFC 1035 §4.1.1: the answer is authoritative; response code 3 means that the name does not exist. */
const AUTHORITATIVE = 1 << 10
const NO_SUCH_NAME = 3

export async function startDnsServer(records: Answer[] = []): Promise<DnsServer> {
  let served = records
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, { address, port }) => {
    const { id = 0, questions: asked = [] } = decode(message)
    const [question] = asked
    if (!question) return
    questions.push(`${question.type} ${question.name}`)
    const ofName = served.filter(({ name }) => name.toLowerCase() === question.name.toLowerCase())
    const answer = encode({
      type: 'response',
      id,
      flags: AUTHORITATIVE | (ofName.length === 0 ? NO_SUCH_NAME : 0),
      questions: asked,
      answers: ofName.filter(({ type }) => type === question.type),
    })
    socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    serve: (records) => (served = records),
    async stop() {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
