import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { GATEWAY_DOOR_PORT, type DoorCommand } from '@hedgerow/contract'
import { onTestFinished } from 'vitest'
import { createGatewayDoor, type GatewayDoor } from '../src/gateway-door/gateway-door.ts'
import type { TestPeer } from './peer.ts'

/** Port 8081 of a peer, which gives tickets and records commands. Tests can change its answers. */
export type TestDoor = {
  commands: DoorCommand[]
  tickets: number
  /** Answers a command; `done` at first. */
  onCommand: (command: DoorCommand, response: ServerResponse) => void
  /** Answers everything else; 404 at first. */
  onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** Called before each ticket is given. */
  beforeTicket: () => Promise<void> | void
}

export const answerJson = (response: ServerResponse, body: object, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export function serveDoor(peer: TestPeer): TestDoor {
  const door: TestDoor = {
    commands: [],
    tickets: 0,
    onCommand: (_command, response) => answerJson(response, { outcome: 'done' }),
    onRequest: (_request, response) => answerJson(response, { error: 'not_found', message: 'No' }, 404),
    beforeTicket() {},
  }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/tickets') {
      await door.beforeTicket()
      answerJson(response, { ticket: `ticket-${++door.tickets}` })
    } else if (request.url === '/v1/commands') {
      const command = (await json(request)) as DoorCommand
      door.commands.push(command)
      door.onCommand(command, response)
    } else door.onRequest(request, response)
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  peer.stack.listen({ port: GATEWAY_DOOR_PORT }, (stream) => {
    stream.on('error', () => {})
    server.emit('connection', stream)
  })
  return door
}

/** For `localDoor`. */
export const ENROLLED = { id: 'abcdefghijkl', kind: 'enrolled', address: '10.100.0.2' } as const

/** The hub's way to a gateway, without a tunnel: `answer` is the gateway. It ends with the test. */
export async function localDoor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<GatewayDoor> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return createGatewayDoor({ dial: () => connect(port, '127.0.0.1') })
}
